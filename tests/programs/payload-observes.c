/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A payload that says what else happens in its process.
 *	leave=NAME	the function NAME is left alone
 *	bad=1		it calls abort() when it is told of a signal
 *	only=1		it has no payloads
 */
#include <errno.h>
#include <lttng/spi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct spi_agent *agent;
static const char *leave_alone;
static int is_bad;

static void say(const char *format, ...)
{
	char line[400];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	spi_agent_write(agent, line, (size_t) n);
}

static void created(struct spi_agent *a, int32_t child, void *data)
{
	if (child)
		say("created %d\n", child);
	else
		say("is a child%s\n", a == agent && data == &agent ? "" : ", of another agent");
}

static void executes(struct spi_agent *a, const char *path, void *data)
{
	(void) a;
	(void) data;
	say("executes %s\n", path);
}

static void ended(struct spi_agent *a, int32_t code, int32_t number, void *data)
{
	(void) a;
	(void) data;
	say("ended %d %d\n", code, number);
}

static void signalled(struct spi_agent *a, int32_t number, int32_t is_fatal, void *data)
{
	(void) a;
	(void) data;
	say("signal %d %s\n", number, is_fatal ? "fatal" : "handled");
	errno = E2BIG;	/* the program does not see this */
	if (is_bad)
		abort();
}

static void loaded(struct spi_agent *a, struct spi_object *object, void *data)
{
	(void) a;
	(void) data;
	say("object %s\n", spi_object_name(object));
}

static void unloaded(struct spi_agent *a, struct spi_object *object, void *data)
{
	(void) a;
	(void) data;
	say("object goes %s\n", spi_object_name(object));
}

static int function(struct spi_agent *a, struct spi_function *f, void *data)
{
	(void) a;
	(void) data;
	return !leave_alone || strcmp(spi_function_name(f), leave_alone) != 0;
}

static void detached(struct spi_agent *a, void *data)
{
	(void) a;
	(void) data;
	say("detached\n");
}

static void *enter(struct spi_call *call, void *data)
{
	(void) data;
	say("enter %s\n", spi_function_name(spi_call_callee(call)));
	spi_call_propel(call);
	return NULL;
}

static void fini(struct spi_agent *a, void *data)
{
	(void) a;
	(void) data;
	say("fini\n");
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = { .size = sizeof(options), .version = LTTNG_SPI_VERSION };
	const struct spi_observer observer = {
		.size = sizeof(observer), .data = &agent, .created = created, .executes = executes, .ended = ended,
		.signal = signalled, .loaded = loaded, .unloaded = unloaded, .function = function, .detached = detached,
	};
	const char *const none[] = { "libc.so.6", "ld-linux*", "libm.so.6" };

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	leave_alone = spi_agent_argument(agent, "leave");
	is_bad = spi_agent_argument(agent, "bad") != NULL;
	spi_agent_set_libraries_not_to_instrument(agent, none, 3);
	if (!spi_agent_argument(agent, "only"))
		spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_fini(agent, fini, NULL);
	if (spi_agent_set_observer(agent, &observer) < 0 || spi_agent_go(agent) < 0)
		say("not begun: %s\n", spi_agent_error(agent));
}
