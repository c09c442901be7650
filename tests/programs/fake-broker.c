/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A broker for the tests of the plugin: no rules, no agents, only the protocol.
 * FAKE_BROKER, words separated by blanks, says what it does:
 *
 *   all | none | exec=NAME | uid=N    the table it sends, at first and after each command (none)
 *   no-table                          it sends none
 *   delay=MS                          from HELD to RELEASE (0)
 *   silent | garbage | die            instead of a RELEASE: nothing; nonsense; its own death
 *   slow-table=MS                     from a command's end to the new table (0)
 *   child=UID                         a child of it with that user's rights uses the client socket once
 *
 * FAKE_BROKER_LOG is a file that gets one line per message received.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "spi-sessiond-plugin/broker/proto.h"

#define DUE_MAX	8192

static struct {
	struct spi_broker_entry entry;
	unsigned int entries, delay, slow_table, child;
	int no_table, silent, garbage, die;
} mode = { .entry.uid = (uint32_t) -1 };
static struct {
	long long when;
	uint64_t value;
	int table;
} due[DUE_MAX];
static unsigned int nr_due;
static FILE *report;

static long long clock_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

static void mode_parse(char *text)
{
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
		mode.entries |= !strcmp(word, "all") || !strncmp(word, "exec=", 5) || !strncmp(word, "uid=", 4);
		if (!strncmp(word, "exec=", 5))
			snprintf(mode.entry.exec, sizeof(mode.entry.exec), "%s", word + 5);
		if (!strncmp(word, "uid=", 4))
			mode.entry.uid = atoi(word + 4);
		if (!strncmp(word, "delay=", 6))
			mode.delay = atoi(word + 6);
		if (!strncmp(word, "slow-table=", 11))
			mode.slow_table = atoi(word + 11);
		if (!strncmp(word, "child=", 6))
			mode.child = atoi(word + 6);
		mode.no_table |= !strcmp(word, "no-table");
		mode.silent |= !strcmp(word, "silent");
		mode.garbage |= !strcmp(word, "garbage");
		mode.die |= !strcmp(word, "die");
	}
}

static void message_send(unsigned int type, const void *body, size_t size)
{
	char buffer[sizeof(struct spi_broker_msg) + 256];
	struct spi_broker_msg head = { .magic = SPI_BROKER_MAGIC, .version = SPI_BROKER_VERSION, .type = type,
				       .size = size };

	memcpy(buffer, &head, sizeof(head));
	memcpy(buffer + sizeof(head), body, size);
	if (send(SPI_BROKER_FD, buffer, sizeof(head) + size, MSG_NOSIGNAL) < 0)
		exit(1);
}

static void table_send(uint64_t generation)
{
	struct {
		struct spi_broker_table table;
		struct spi_broker_entry entry;
	} message = { { .generation = generation, .count = mode.entries }, mode.entry };

	if (!mode.no_table)
		message_send(SPI_BROKER_TABLE, &message,
			     sizeof(message.table) + mode.entries * sizeof(message.entry));
}

static void due_add(unsigned int delay, uint64_t value, int table)
{
	if (nr_due == DUE_MAX)
		exit(1);
	due[nr_due].when = clock_us() + delay * 1000ll;
	due[nr_due].value = value;
	due[nr_due++].table = table;
}

static void due_run(void)
{
	long long now = clock_us();
	unsigned int kept = 0;

	for (unsigned int i = 0; i < nr_due; i++) {
		if (due[i].when > now)
			due[kept++] = due[i];
		else if (due[i].table)
			table_send(due[i].value);
		else
			message_send(SPI_BROKER_RELEASE, &due[i].value, sizeof(due[i].value));
	}
	nr_due = kept;
}

static int due_timeout(void)
{
	long long next = -1, now = clock_us();

	for (unsigned int i = 0; i < nr_due; i++) {
		if (next < 0 || due[i].when < next)
			next = due[i].when;
	}
	return next < 0 ? -1 : next <= now ? 0 : (int) ((next - now) / 1000 + 1);
}

static void child_connect(const char *path, uid_t uid)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;
	char byte;

	signal(SIGCHLD, SIG_IGN);
	if (fork())
		return;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	_exit(stat(path, &st) || setgid(st.st_gid) || setuid(uid) || connect(fd, (struct sockaddr *) &address, sizeof(address)) ||
	      shutdown(fd, SHUT_WR) || read(fd, &byte, 1));
}

static void held_answer(uint64_t id)
{
	if (mode.die)
		raise(SIGKILL);
	if (mode.garbage && send(SPI_BROKER_FD, "what is this?", 13, MSG_NOSIGNAL) < 0)
		exit(1);
	if (!mode.garbage && !mode.silent)
		due_add(mode.delay, id, 0);
}

static void message_handle(unsigned int type, const char *body, int fd)
{
	const struct spi_broker_daemon *daemon = (const void *) body;
	const struct spi_broker_app *app = (const void *) body;
	const struct spi_broker_rule *rule = (const void *) body;
	const struct spi_broker_generation *generation = (const void *) body;
	const struct spi_broker_client *client = (const void *) body;
	const struct spi_broker_late *late = (const void *) body;

	switch (type) {
	case SPI_BROKER_DAEMON:
		fprintf(report, "DAEMON %d uid=%u generation=%llu client=%s app=%s%s\n", daemon->pid, daemon->uid,
			(unsigned long long) daemon->generation, daemon->client_socket, daemon->app_socket,
			daemon->flags & SPI_BROKER_DAEMON_ATTACHED ? " attached" : "");
		table_send(daemon->generation);
		if (mode.child)
			child_connect(daemon->client_socket, mode.child);
		break;
	case SPI_BROKER_APP:
	case SPI_BROKER_HELD:
		fprintf(report, "%s id=%llu pid=%d uid=%u bits=%u deadline=%u name=%s pidfd=%s\n",
			type == SPI_BROKER_APP ? "APP" : "HELD", (unsigned long long) app->id, app->pid, app->uid,
			app->bits, app->deadline_ms, app->name, fd >= 0 ? "yes" : "no");
		if (type == SPI_BROKER_HELD)
			held_answer(app->id);
		break;
	case SPI_BROKER_DIRTY:
		fprintf(report, "DIRTY %llu\n", (unsigned long long) generation->generation);
		due_add(mode.slow_table, generation->generation, 1);
		break;
	case SPI_BROKER_RULE_SEEN:
		fprintf(report, "RULE_SEEN pid=%d enabled=%u %s\n", rule->pid, rule->enabled,
			body + sizeof(*rule));
		break;
	case SPI_BROKER_EXPIRED:
		fprintf(report, "EXPIRED\n");
		break;
	case SPI_BROKER_CLIENT:
		fprintf(report, "CLIENT uid=%u\n", client->uid);
		break;
	case SPI_BROKER_LATE:
		fprintf(report, "LATE pid=%d uid=%u ms=%u name=%s\n", late->pid, late->uid, late->ms, late->name);
		break;
	default:
		fprintf(report, "UNKNOWN %u\n", type);
	}
}

static void message_receive(void)
{
	static _Alignas(8) char buffer[sizeof(struct spi_broker_msg) + SPI_BROKER_MESSAGE_MAX];
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec data = { buffer, sizeof(buffer) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(SPI_BROKER_FD, &message, MSG_CMSG_CLOEXEC);
	struct spi_broker_msg head;
	int fd = -1;

	if (n < (ssize_t) sizeof(head))
		exit(0);
	if (CMSG_FIRSTHDR(&message))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	memcpy(&head, buffer, sizeof(head));
	message_handle(head.type, buffer + sizeof(head), fd);
	if (fd >= 0)
		close(fd);
}

int main(void)
{
	const char *text = getenv("FAKE_BROKER"), *path = getenv("FAKE_BROKER_LOG");

	report = fopen(path ? path : "/dev/null", "ae");
	if (!report)
		return 1;
	setvbuf(report, NULL, _IOLBF, 0);
	fprintf(report, "START %d\n", (int) getpid());
	mode_parse(strdup(text ? text : ""));
	for (;;) {
		struct pollfd polled = { .fd = SPI_BROKER_FD, .events = POLLIN };

		if (poll(&polled, 1, due_timeout()) > 0)
			message_receive();
		due_run();
	}
}
