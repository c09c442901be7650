/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A log of calls that matter to security: files opened, changed and removed, programs executed, addresses connected to,
 * rights given up. One line a call, with its arguments and its result.
 *
 *	cc -shared -fPIC security-log.c $(pkg-config --cflags --libs lttng-spi) -o security-log.so
 *	LD_PRELOAD=./security-log.so ./prog
 */
#include <lttng/spi.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* How arguments are shown: s a text, d a decimal number, o an octal one, a an address that is connected to. */
static const struct logged {
	const char *name, *arguments;
} logged[] = {
	{ "open", "sd" }, { "openat", "dsd" }, { "fopen", "ss" }, { "unlink", "s" }, { "rename", "ss" }, { "chmod", "so" },
	{ "chown", "sdd" }, { "execve", "s" }, { "system", "s" }, { "popen", "ss" }, { "connect", "da" }, { "bind", "da" },
	{ "setuid", "d" }, { "setgid", "d" }, { "kill", "dd" }, { "ptrace", "dd" },
};
#define LOGGED	(sizeof(logged) / sizeof(logged[0]))

static struct spi_agent *agent;

struct line {
	char text[1024];
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void line_add(struct line *line, const char *format, ...)
{
	size_t room = sizeof(line->text) - line->size;
	va_list values;
	int n;

	va_start(values, format);
	n = vsnprintf(line->text + line->size, room, format, values);
	va_end(values);
	line->size += n < 0 ? 0 : (size_t) n < room ? (size_t) n : room - 1;
}

/* libc has several names for one function (open, __open64): what they have in common. */
static const struct logged *logged_as(const char *name)
{
	size_t n;

	name += strspn(name, "_");
	n = strlen(name);
	if (n > 2 && !strcmp(name + n - 2, "64"))
		n -= 2;
	for (size_t i = 0; i < LOGGED; i++)
		if (strlen(logged[i].name) == n && !strncmp(logged[i].name, name, n))
			return &logged[i];
	return NULL;
}

static void address_add(struct line *line, const struct sockaddr *address)
{
	const struct sockaddr_in *internet = (const struct sockaddr_in *) address;
	const struct sockaddr_in6 *internet6 = (const struct sockaddr_in6 *) address;
	char text[INET6_ADDRSTRLEN];

	if (!address)
		line_add(line, "NULL");
	else if (address->sa_family == AF_INET)
		line_add(line, "%s:%u", inet_ntop(AF_INET, &internet->sin_addr, text, sizeof(text)), ntohs(internet->sin_port));
	else if (address->sa_family == AF_INET6)
		line_add(line, "[%s]:%u", inet_ntop(AF_INET6, &internet6->sin6_addr, text, sizeof(text)), ntohs(internet6->sin6_port));
	else if (address->sa_family == AF_UNIX)
		line_add(line, "unix:%s", ((const struct sockaddr_un *) address)->sun_path);
	else
		line_add(line, "family %u", address->sa_family);
}

static void argument_add(struct line *line, char kind, const void *value)
{
	const char *text;

	switch (kind) {
	case 's':
		memcpy(&text, value, sizeof(text));
		if (text)
			line_add(line, "\"%.200s\"", text);
		else
			line_add(line, "NULL");
		break;
	case 'a':
		address_add(line, *(const struct sockaddr *const *) value);
		break;
	default:
		line_add(line, kind == 'o' ? "%#o" : "%d", *(const int *) value);
	}
}

static void *enter(struct spi_call *call, void *data)
{
	const struct logged *as = logged_as(spi_function_name(spi_call_callee(call)));
	struct spi_arguments arguments = { 0 };
	struct line line = { .size = 0 };

	(void) data;
	if (!as)
		return NULL;
	line_add(&line, "[%d] %s(", (int) getpid(), as->name);
	for (const char *kind = as->arguments; *kind; kind++) {
		const void *value = spi_call_pop_argument(call, &arguments, *kind == 's' || *kind == 'a' ? sizeof(void *) : sizeof(int));

		if (kind != as->arguments)
			line_add(&line, ", ");
		if (value)
			argument_add(&line, *kind, value);
	}
	line_add(&line, ")\n");
	spi_agent_write(agent, line.text, line.size);
	return (void *) as;
}

static void leave(struct spi_call *call, void *data)
{
	const struct logged *as = spi_call_user_data(call);
	long result = (long) spi_call_return_value(call);
	struct line line = { .size = 0 };

	(void) data;
	if (!as || spi_call_ending(call) != SPI_CALL_RETURNED)
		return;
	if (!strcmp(as->name, "fopen") || !strcmp(as->name, "popen"))
		line_add(&line, "[%d] %s = %s\n", (int) getpid(), as->name, result ? "a stream" : "NULL");
	else
		line_add(&line, "[%d] %s = %d\n", (int) getpid(), as->name, (int) result);
	spi_agent_write(agent, line.text, line.size);
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = { .size = sizeof(options), .version = LTTNG_SPI_VERSION };
	const char *names[LOGGED];

	agent = spi_agent_create(&options);
	if (!agent)
		return;
	for (size_t i = 0; i < LOGGED; i++)
		names[i] = logged[i].name;
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_exit(agent, leave, NULL);
	spi_agent_set_init_event(agent, spi_event_calls(names, LOGGED));
	spi_agent_go(agent);
}
