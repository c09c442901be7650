/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The user-space event rules of a session, as the session daemon itself writes them down. */
#ifndef SPI_CLI_RULES_SAVED_H
#define SPI_CLI_RULES_SAVED_H

struct saved_rule {
	char *channel;
	char *name;
	char *filter;		/* NULL: none */
	int enabled;
	int simple;		/* no exclusions, all log levels: name and filter say it all */
};

/* Contexts that readers of call trees need (saved.contexts) */
#define SAVED_VPID	1u
#define SAVED_VTID	2u
#define SAVED_IP	4u

struct saved {
	struct saved_rule *rules;
	unsigned int count;
	const char *channel;		/* the caller's: whose contexts are asked for; NULL: nobody's */
	unsigned int contexts;		/* SAVED_* of that channel */
};

/*
 * saved_read() - the rules of `session`, and the contexts of `channel`, which may be NULL.
 * Returns 0, or a negative errno after one line was said.
 */
int saved_read(struct saved *saved, const char *session, const char *channel);
void saved_free(struct saved *saved);

#endif /* SPI_CLI_RULES_SAVED_H */
