/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The answer of the plugin's status socket (broker/status-proto.h), taken apart into records. */
#ifndef SPI_CLI_RULES_STATUS_H
#define SPI_CLI_RULES_STATUS_H

#include <stdio.h>
#include <sys/types.h>

#define STATUS_FIELDS	10u

struct status_record {
	const char *kind;			/* the first field */
	const char *field[STATUS_FIELDS];	/* those behind it; "" where the line had none */
	pid_t pid;				/* of a record about a process; 0: about none */
	unsigned int order;			/* line number */
};

struct status {
	char *text;			/* what the records point into */
	struct status_record *records;	/* those about no process, then process by process, in the order sent */
	unsigned int count;
};

/* status_read() - ask and take apart; closes fd. Returns 0, or a negative errno after one line was said. */
int status_read(struct status *status, int fd);
void status_free(struct status *status);

/* status_is() - is the record of this kind? */
int status_is(const struct status_record *record, const char *kind);

/* status_is_lacked() - does the record tell what ended processes lacked, the one with that pid (0: any) among them? */
int status_is_lacked(const struct status_record *record, pid_t pid);

/* "server (uid 0), 3 processes, the last of them 77: rule f and 2 more: no loaded function matches" */
void status_describe_lacked(const struct status_record *record, char *text, size_t size);

/* Only what concerns one process, when `pid` is not 0. As text (every declined function with `all`), and as XML. */
void status_print_text(const struct status *status, pid_t pid, int all, FILE *out);
int status_print_xml(const struct status *status, pid_t pid, FILE *out);

#endif /* SPI_CLI_RULES_STATUS_H */
