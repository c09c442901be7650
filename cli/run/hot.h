/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Which functions of call trees were called most, over all traced processes. */
#ifndef SPI_CLI_RUN_HOT_H
#define SPI_CLI_RUN_HOT_H

#include <stddef.h>
#include <stdint.h>

struct hot {
	char *object, *function;
	uint64_t count;
};

struct hot_list {
	struct hot *list;
	size_t count, room, merged;	/* the first `merged` are by name, each once */
};

/* hot_add() - so many more calls of this function; forgotten when there is no memory. */
void hot_add(struct hot_list *hot, uint64_t count, const char *object, const char *function);

/*
 * hot_say() - the busiest, with their share of `calls` (when that is 0: of all that were told of), and what leaving
 * them out would save. Nothing when no function stands out.
 */
void hot_say(struct hot_list *hot, uint64_t calls);
void hot_free(struct hot_list *hot);

#endif /* SPI_CLI_RUN_HOT_H */
