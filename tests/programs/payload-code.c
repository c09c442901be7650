/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A payload that writes what the interface tells of code and of itself. Its lines are compared with nm, objdump and
 * /proc.
 */
#include <lttng/spi.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct spi_agent *agent;
static int datum;

/* An address as the object's file has it; 0 stays 0. */
static unsigned long in_file(uint64_t address, const struct spi_object *object)
{
	return address ? (unsigned long) (address - spi_object_base(object)) : 0;
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
	char line[600];
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(line, sizeof(line) - 1, format, arguments);
	va_end(arguments);
	n = n < (int) sizeof(line) - 1 ? n : (int) sizeof(line) - 2;
	line[n++] = '\n';
	spi_agent_write(agent, line, (size_t) n);
}

static int each(struct spi_function *f, void *data)
{
	++*(int *) data;
	say("function %lx %s", in_file(spi_function_address(f), spi_function_object(f)), spi_function_mangled_name(f));
	return 0;
}

static int stop(struct spi_function *f, void *data)
{
	(void) f;
	return ++*(int *) data == 3 ? 77 : 0;
}

static void say_objects(void)
{
	for (struct spi_object *o = spi_object_next(NULL); o; o = spi_object_next(o))
		say("object %lx %s", (unsigned long) spi_object_base(o), spi_object_path(o));
	say("at %s", spi_object_name(spi_object_at((uint64_t) say_objects)));
	say("at 16: %s", spi_object_at(16) ? "one" : "none");
}

static void say_functions(void)
{
	struct spi_object *exe = spi_object_executable();
	struct spi_function *found[2] = { NULL, NULL };
	int n = 0, steps = 0, before = spi_object_functions(exe, each, &n), r;

	r = spi_object_parse(exe);
	say("parse %d, before %d", r, before);
	r = spi_object_functions(exe, each, &n);
	say("functions %d, %d", r, n);
	say("stopped %d", spi_object_functions(exe, stop, &steps));
	say("find %lx", in_file(spi_function_address(spi_function_find(NULL, "_ZN6shapes4areaEii")), exe));
	say("find none: %s", spi_function_find(exe, "labs") || spi_function_find(NULL, "_ZN6shapes") ? "one" : "none");
	say("overloads %ld", spi_functions_find(NULL, "shapes::area", found, 2));
	say("overload %s, %s", spi_function_mangled_name(found[0]), spi_function_mangled_name(found[1]));
	say("overloads none %ld", spi_functions_find(NULL, "shapes", found, 2));
}

/* ---- detail ---- */

static char edges[300];

static int each_edge(const struct spi_edge *edge, void *data)
{
	const struct spi_block *block = data;
	const size_t n = strlen(edges);

	snprintf(edges + n, sizeof(edges) - n, "%s%u:%lx", n ? "," : "", edge->kind, in_file(edge->to, block->object));
	return edge->from == block->start ? 0 : -1;
}

static int each_block(const struct spi_block *block, void *data)
{
	int r;

	edges[0] = 0;
	r = spi_block_edges(block, each_edge, (void *) block);
	say("block %lx %lx %lx %s%s%s", in_file(block->start, block->object), in_file(block->end, block->object),
		in_file(spi_block_call(block), block->object), edges, r ? " failed" : "",
		block->function == data ? "" : " of another");
	return 0;
}

static void each_block_at(uint64_t address, struct spi_function *function)
{
	struct spi_block block;

	if (spi_block_at(address, &block) == 0)
		each_block(&block, function);
}

static int blocks_of(struct spi_function *f, void *data)
{
	const int r = spi_function_blocks(f, each_block, f);

	(void) data;
	say("detail %d %s %s", r, spi_function_name(f), spi_function_source(f));
	return 0;
}

static void say_text(void)
{
	struct spi_function *f = spi_function_find(NULL, "branches");
	char text[8192], none[16];
	const long n = spi_code_text(spi_function_address(f), spi_function_size(f), text, sizeof(text));

	say("text %s", n > 0 && (size_t) n == strlen(text) ? "whole" : "not whole");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		say("insn %lx", strtoul(line, NULL, 16) - (unsigned long) spi_object_base(spi_object_executable()));
	say("text none %ld, %ld", spi_code_text(16, 4, none, sizeof(none)), spi_code_text(16, 0, none, sizeof(none)));
}

static void say_agent(void)
{
	struct spi_agent_configuration c = { .size = sizeof(c) }, old = { .size = 3 * sizeof(uint64_t) };
	uint64_t pc = 0, sp = 0, fp = 0;
	int r = spi_agent_configuration(agent, &c);

	say("configuration %d: %s, %x, %u%u%u%u", r, c.name, c.flags, c.is_parse_only, c.is_threads, c.is_dlopen,
		c.is_fork);
	say("path %s", strcmp(c.path, spi_agent_path(agent)) ? "of another" : c.path);
	say("data %s, gone %u", c.entry_data == &datum && !c.exit_data && !c.exit ? "its own" : "another", c.has_gone);
	say("older %d, untouched %s", spi_agent_configuration(agent, &old), old.flags || old.entry ? "no" : "yes");
	say("injected %d", spi_agent_is_injected(agent));
	r = spi_agent_injection_frame(agent, &pc, &sp, &fp);
	say("frame %d %lx %lx", r, (unsigned long) pc, (unsigned long) sp);
}

static void say_stack(void)
{
	struct spi_function *stack[64];
	long n = spi_agent_call_stack(agent, stack, 64);

	for (long i = 0; i < n && i < 64; i++)
		say("stack %s", spi_function_name(stack[i]));
}

static void say_registers(struct spi_call *call)
{
	struct spi_arguments arguments = { 0 };
	const uint64_t *first = spi_call_pop_argument(call, &arguments, 8);
	uint64_t rdi = 0, rip = 0, rsp = 0, rbx;
	const int r = spi_call_register(call, 5, &rdi), of_rip = spi_call_register(call, 16, &rip);
	const int of_rsp = spi_call_register(call, 7, &rsp), of_rbx = spi_call_register(call, 3, &rbx);

	say("registers %d %s, %d %s, %d %s, %d", r, first && *first == rdi ? "argument" : "another",
		of_rip, rip == spi_call_return_address(call) ? "return" : "another",
		of_rsp, rsp - (uint64_t) &arguments < 8192 ? "stack" : "another", of_rbx);
}

static void say_block(const struct spi_point *point, uint64_t address)
{
	struct spi_block block = { 0 }, same = { 0 };
	int r = spi_point_block(point, &block);

	if (r == 0 && (spi_block_at(block.start, &same) < 0 || same.end != block.end))
		r = -1;
	if (spi_block_at(16, &same) != -ENODATA)
		r = -1;
	say("place %lx %d %lx %s", in_file(address, block.object), r, in_file(block.end, block.object),
		spi_point_instruction_text(point));
}

static void say_place(struct spi_call *call, uint64_t address, size_t size)
{
	struct spi_function *callee = spi_call_callee(call), *known = spi_point_callee(spi_call_point(call));
	uint64_t snippet = 0;
	size_t snippet_size = 0;
	int32_t distance;
	int r;

	memcpy(&distance, (const char *) address + size - 4, 4);
	say("call %lx %zu %s %s%s", in_file(address, spi_object_executable()), size, spi_function_name(callee),
		known ? spi_function_name(known) : "indirect", spi_call_agent(call) == agent ? "" : " of another");
	if (spi_agent_argument(agent, "detail"))
		say_block(spi_call_point(call), address);
	if (size == 5) {
		r = spi_point_snippet(spi_call_point(call), &snippet, &snippet_size);
		address += 5 + (uint64_t) (int64_t) distance;
		say("snippet %d %s %s", r, snippet == address ? "led to" : "elsewhere",
			snippet_size > 20 && snippet_size < 500 ? "sized" : "empty");
	}
	if (!strcmp(spi_function_name(callee), "by_tail"))
		say_registers(call);
}

static void say_main(const struct spi_point *point, int r)
{
	uint64_t snippet = 0;
	size_t size = 0;
	const int s = spi_point_snippet(point, &snippet, &size);

	say("main %d, %d %s", r, s, size ? "sized" : "empty");
}

static void *enter(struct spi_call *call, void *data)
{
	struct spi_function *callee = spi_call_callee(call);
	struct spi_point *point = spi_call_point(call);
	uint64_t address = 0;
	size_t size = 0;
	int r = spi_point_instruction(point, &address, &size);

	(void) data;
	if (r == 0 && spi_object_at(address) == spi_object_executable())
		say_place(call, address, size);
	else if (!strcmp(spi_function_name(callee), "main"))
		say_main(point, r);
	if (spi_agent_argument(agent, "first"))
		each_block_at(spi_function_address(callee), callee);
	if (spi_agent_argument(agent, "source"))
		say("source %s %s", spi_function_name(callee), spi_function_source(callee));
	if (spi_function_object(callee) == spi_object_executable())
		spi_call_propel(call);
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = {
		.size = sizeof(options), .version = LTTNG_SPI_VERSION, .name = "tells",
	};

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	if (spi_agent_argument(agent, "detail")) {
		struct spi_agent_options detailed = options;

		detailed.flags = SPI_AGENT_DETAIL;
		agent = spi_agent_create(&detailed);
	}
	spi_agent_set_entry(agent, enter, &datum);
	spi_agent_enable_dlopen(agent, 0);
	if (spi_agent_argument(agent, "all")) {
		say_objects();
		say_functions();
		say_text();
	}
	say_agent();
	spi_agent_go(agent);
	say_stack();
	if (spi_agent_argument(agent, "blocks"))
		spi_object_functions(spi_object_executable(), blocks_of, NULL);
}
