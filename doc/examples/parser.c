/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Code that a program makes at run time, by its names: a parser for the files in which runtimes tell perf of their
 * functions. A line is "START SIZE NAME", in hexadecimal. Where a runtime also tells of its call instructions, by lines
 * with the name "call", what its functions call is seen as well.
 *
 *	cc -shared -fPIC parser.c $(pkg-config --cflags --libs lttng-spi) -o parser.so
 *	LD_PRELOAD=./parser.so LTTNG_SPI_PAYLOAD_ARGS=map=FILE ./prog		# without map=: /tmp/perf-PID.map
 */
#include <lttng/spi.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CALLS	256u

static struct spi_agent *agent;
static char path[256];

struct line {
	uint64_t start, size;
	char name[256];
	int is_call;
};

static int next_line(FILE *file, struct line *line)
{
	char text[400];

	while (fgets(text, sizeof(text), file))
		if (sscanf(text, "%" SCNx64 " %" SCNx64 " %255[^\n]", &line->start, &line->size, line->name) == 3) {
			line->is_call = !strcmp(line->name, "call");
			return 1;
		}
	return 0;
}

/* One function is one region. The arrays are read before the parser is called again. */
static int find(struct spi_parser_region *region, uint64_t address, void *data)
{
	static struct spi_parser_function function;
	static struct spi_parser_call calls[CALLS];
	static char name[256];
	struct line line;
	size_t count = 0;
	FILE *file = fopen(path, "r");

	(void) data;
	if (!file)
		return -ENOENT;
	function.size = 0;
	while (next_line(file, &line))		/* the latest line counts: memory is used again */
		if (!line.is_call && address >= line.start && address - line.start < line.size) {
			function = (struct spi_parser_function) { line.start, line.size, name };
			strcpy(name, line.name);
		}
	rewind(file);
	while (function.size && next_line(file, &line))
		if (line.is_call && line.start - function.address < function.size && count < CALLS)
			calls[count++] = (struct spi_parser_call) { line.start, line.size };
	fclose(file);
	if (!function.size)
		return -ENOENT;
	region->low = function.address;
	region->high = function.address + function.size;
	region->name = "made at run time";
	region->functions = &function;
	region->function_count = 1;
	region->calls = calls;
	region->call_count = count;
	return 0;
}

static int is_made(const struct spi_function *function)
{
	return !strcmp(spi_object_name(spi_function_object(function)), "made at run time");
}

static void *enter(struct spi_call *call, void *data)
{
	struct spi_function *callee = spi_call_callee(call), *caller = spi_call_caller(call);
	char line[600];
	int n;

	(void) data;
	if (is_made(callee) || is_made(caller)) {
		n = snprintf(line, sizeof(line), "%s -> %s\n", spi_function_name(caller), spi_function_name(callee));
		spi_agent_write(agent, line, (size_t) n);
	}
	spi_call_propel(call);
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = { .size = sizeof(options), .version = LTTNG_SPI_VERSION };
	const struct spi_parser parser = { .size = sizeof(parser), .find = find };
	const char *given;

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	given = spi_agent_argument(agent, "map");
	if (given)
		snprintf(path, sizeof(path), "%s", given);
	else
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int) getpid());
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_parser(agent, &parser);
	if (spi_agent_go(agent) < 0)
		fprintf(stderr, "parser: %s\n", spi_agent_error(agent));
}
