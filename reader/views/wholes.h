/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Whole calls (CALL_WHOLE), from the order in which they end to the order in which they nest. */
#ifndef SPI_READER_WHOLES_H
#define SPI_READER_WHOLES_H

#include "reader/calls/calls.h"

struct whole_call {
	struct call_function *function;
	struct call_thread *thread;
	int64_t begin, end, self;	/* ns */
	uint64_t own;			/* a view's */
	int left;
};

struct wholes {
	struct whole_call *calls;
	uint64_t count, room;
};

/* 0 or -ENOMEM */
int wholes_add(struct wholes *wholes, const struct call *call, uint64_t own);
/* All of them, once. depth: of the calls around it. 0, or the first other result of take(); -ENOMEM. */
int wholes_give(struct wholes *wholes, int (*take)(void *data, const struct whole_call *call, uint32_t depth),
	void *data);
void wholes_free(struct wholes *wholes);

#endif /* SPI_READER_WHOLES_H */
