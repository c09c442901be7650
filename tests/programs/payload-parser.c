/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A payload with a parser for made-jit.c's code, as one region. how=
 *	whole		the parser knows all of it
 *	enoent		the parser knows nothing
 *	none		there is no parser
 *	advance		there is no parser: the region is told as soon as the program has made the code
 *	forget		as whole; the region is forgotten when the program says that the code goes
 *	outside		a function lies outside of its region
 *	alone		of `mov $address, %reg; call *%reg` the second instruction is given alone
 *	wrong		each call instruction has a wrong size
 *	fault		the parser faults
 *	wild		the parser gives functions where no memory is
 * Written are calls into the code and out of it, "CALLER -> CALLEE", and how often the parser was asked.
 */
#include <lttng/spi.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST	32u

static struct spi_agent *agent;
static const char *how, *map;
static const struct made {
	uint64_t low, high;
} *made_now;
static uint8_t before[8192];
static unsigned int asked;

static void say(const char *line)
{
	spi_agent_write(agent, line, strlen(line));
}

static int fill(struct spi_parser_region *region)
{
	static struct spi_parser_function functions[MOST];
	static struct spi_parser_call calls[MOST];
	static char names[MOST][64];
	uint64_t start, size;
	char line[200], name[64];
	FILE *file = fopen(map, "r");

	if (!file)
		return -ENOENT;
	region->function_count = region->call_count = 0;
	while (fgets(line, sizeof(line), file) && region->function_count < MOST && region->call_count < MOST) {
		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %63s", &start, &size, name) != 3)
			continue;
		if (!strcmp(name, "call")) {
			size -= !strcmp(how, "wrong");
			if (!strcmp(how, "alone") && size == 12) {
				start += 10;
				size = 2;
			}
			calls[region->call_count++] = (struct spi_parser_call) { start, size };
			continue;
		}
		strcpy(names[region->function_count], name);
		functions[region->function_count].address = start;
		functions[region->function_count].size = size;
		functions[region->function_count].name = names[region->function_count];
		region->function_count++;
	}
	fclose(file);
	if (!strcmp(how, "outside"))
		functions[0].address = 4096;
	memcpy(before, (const void *) made_now->low, sizeof(before));
	region->low = made_now->low;
	region->high = made_now->high;
	region->name = "jit";
	region->functions = strcmp(how, "wild") ? functions : (const void *) 4096;
	region->calls = calls;
	return 0;
}

static int find(struct spi_parser_region *region, uint64_t address, void *data)
{
	asked++;
	if (data != &agent || region->size != sizeof(*region) || address < made_now->low || address >= made_now->high)
		say("not as it should be asked\n");
	if (!strcmp(how, "fault"))
		__builtin_trap();
	return strcmp(how, "enoent") ? fill(region) : -ENOENT;
}

static void region_ready(void)
{
	struct spi_parser_region region = { .size = sizeof(region) };
	struct spi_object *object = NULL;
	char line[100];

	if (fill(&region) < 0 || spi_agent_add_region(agent, &region, &object) < 0)
		say("not added\n");
	snprintf(line, sizeof(line), "added %s, again: %d\n", spi_object_name(object),
		spi_agent_add_region(agent, &region, NULL));
	say(line);
}

static int is_changed(void)
{
	return memcmp(before, (const void *) made_now->low, sizeof(before)) != 0;
}

static void region_goes(void)
{
	struct spi_object *object = spi_object_at(made_now->low);
	const int was_changed = is_changed(), r = spi_region_forget(object);
	char line[100];

	snprintf(line, sizeof(line), "forgotten: %d, again: %d, changed: %d, now: %d, there: %d\n", r,
		spi_region_forget(object), was_changed, is_changed(), spi_object_at(made_now->low) != NULL);
	say(line);
}

static int is_made(const struct spi_function *function)
{
	return !strcmp(spi_object_name(spi_function_object(function)), "jit");
}

static void *enter(struct spi_call *call, void *data)
{
	struct spi_function *callee = spi_call_callee(call), *caller = spi_call_caller(call);
	char line[200];

	(void) data;
	if (!strcmp(spi_function_name(callee), "made_ready") && !strcmp(how, "advance"))
		region_ready();
	if (!strcmp(spi_function_name(callee), "made_goes") && !strcmp(how, "forget"))
		region_goes();
	if (is_made(callee) || is_made(caller)) {
		snprintf(line, sizeof(line), "%s -> %s\n", spi_function_name(caller), spi_function_name(callee));
		say(line);
	}
	spi_call_propel(call);
	return NULL;
}

static void leave(struct spi_call *call, void *data)
{
	char line[200];

	(void) data;
	if (!is_made(spi_call_callee(call)))
		return;
	snprintf(line, sizeof(line), "%s = %d\n", spi_function_name(spi_call_callee(call)),
		(int) spi_call_return_value(call));
	say(line);
}

static void fini(struct spi_agent *a, void *data)
{
	char line[80];

	(void) a;
	(void) data;
	snprintf(line, sizeof(line), "asked %u\n", asked);
	say(line);
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = { .size = sizeof(options), .version = LTTNG_SPI_VERSION };
	const struct spi_parser parser = { .size = sizeof(parser), .find = find, .data = &agent };

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	how = spi_agent_argument(agent, "how");
	map = spi_agent_argument(agent, "map");
	made_now = dlsym(RTLD_DEFAULT, "made_now");
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_exit(agent, leave, NULL);
	spi_agent_set_fini(agent, fini, NULL);
	if (strcmp(how, "none") && strcmp(how, "advance"))
		spi_agent_set_parser(agent, &parser);
	spi_agent_go(agent);
}
