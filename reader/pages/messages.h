/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Messages that a page draws: as many as it can have, those that took longest. */
#ifndef SPI_READER_MESSAGES_H
#define SPI_READER_MESSAGES_H

#include "reader/flow/flow.h"

#define MESSAGES_MOST	100000u

struct message_kept {
	int64_t begin, sent, asked, end;	/* ns: send, and receive */
	uint64_t bytes;
	uint32_t from, to;		/* threads */
	uint32_t kind;
};

struct messages {
	struct message_kept *list;	/* a heap: the one that took the shortest time comes first */
	uint32_t count, room;
	uint64_t all;			/* whose receive is known */
	char *kinds[16];
	uint32_t kind_count;
	int64_t first, last;		/* ns */
};

int messages_take(struct messages *messages, const struct flow_message *message);
/* A member "messages": [from, to, begin, sent, asked, end, bytes, kind] in order of time, from origin; and "kinds". */
int messages_write(struct messages *messages, int64_t origin, FILE *out);
void messages_free(struct messages *messages);

#endif /* SPI_READER_MESSAGES_H */
