/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Reading the status socket. The answer ends with "end"; an answer that ends earlier (the plugin's
 * broker was ended meanwhile) is not shown as if it were whole. The traced programs chose the names in
 * the answer. So nothing that a terminal would obey is let through, whatever the other end already
 * took out.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/status-proto.h"
#include "cli/base/say.h"
#include "cli/rules/status.h"
#include "rules/harmless.h"

#define STATUS_WAIT_MS	10000		/* between two parts of the answer */
#define STATUS_SIZE_MAX	(256u << 20)

static int status_receive(int fd, char **text, size_t *size)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	size_t room = 0;
	ssize_t n;

	for (;;) {
		if (room - *size < 4096) {
			char *more;

			room = room ? room * 2 : 65536;
			more = room > STATUS_SIZE_MAX ? NULL : realloc(*text, room);
			if (!more)
				return -ENOMEM;
			*text = more;
		}
		if (poll(&poll_fd, 1, STATUS_WAIT_MS) <= 0)
			return -ETIMEDOUT;
		n = read(fd, *text + *size, room - *size - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		(*text)[*size + (size_t) n] = '\0';
		if (n == 0)
			return 0;
		*size += (size_t) n;
	}
}

static void record_parse(struct status_record *record, char *line, unsigned int order)
{
	static const char *const about_process[] = { "process", "applied", "declined", "counts", "message", "hot", "budget",
		"left-out", "brought" };
	char *tab = strchr(line, '\t');
	unsigned int i;

	memset(record, 0, sizeof(*record));
	record->kind = line;
	record->order = order;
	for (i = 0; i < STATUS_FIELDS; i++) {
		record->field[i] = "";
		if (!tab)
			continue;
		*tab = '\0';
		record->field[i] = tab + 1;
		/* The last field keeps what may be behind it. */
		tab = i + 1 < STATUS_FIELDS ? strchr(tab + 1, '\t') : NULL;
	}
	for (i = 0; i < sizeof(about_process) / sizeof(about_process[0]); i++)
		if (status_is(record, about_process[i]))
			record->pid = (pid_t) strtol(record->field[0], NULL, 10);
}

static int record_compare(const void *va, const void *vb)
{
	const struct status_record *a = va, *b = vb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Returns 0; -EPROTO: not whole; -EPROTONOSUPPORT: another version; -ENOMEM. */
static int status_parse(struct status *status, size_t size)
{
	unsigned int lines = 0, order = 0;
	char *line, *end;
	size_t i;

	for (i = 0; i < size; i++)
		lines += status->text[i] == '\n';
	status->records = calloc(lines + 1, sizeof(*status->records));
	if (!status->records)
		return -ENOMEM;
	for (line = status->text; (end = strchr(line, '\n')); line = end + 1) {
		struct status_record *record = &status->records[status->count];

		*end = '\0';
		record_parse(record, line, order++);
		if (status_is(record, "end")) {
			qsort(status->records, status->count, sizeof(*status->records), record_compare);
			return 0;
		}
		if (status_is(record, "version") && atoi(record->field[0]) != SPI_STATUS_VERSION)
			return -EPROTONOSUPPORT;
		status->count++;
	}
	return -EPROTO;
}

int status_is(const struct status_record *record, const char *kind)
{
	return !strcmp(record->kind, kind);
}

int status_read(struct status *status, int fd)
{
	size_t size = 0;
	int ret;

	memset(status, 0, sizeof(*status));
	ret = status_receive(fd, &status->text, &size);
	close(fd);
	if (ret == 0) {
		spi_make_harmless(status->text, size, "\n\t");
		ret = status_parse(status, size);
	}
	if (ret == -EPROTO)
		say_error("the session daemon's plugin broke off its answer: ask again");
	else if (ret == -EPROTONOSUPPORT)
		say_error("the session daemon's plugin is of another version of lttng-spi than this lttng: restart the "
			"daemon");
	else if (ret < 0)
		say_error("the session daemon's plugin does not answer: %s", strerror(-ret));
	if (ret < 0)
		status_free(status);
	return ret;
}

void status_free(struct status *status)
{
	free(status->records);
	free(status->text);
	memset(status, 0, sizeof(*status));
}
