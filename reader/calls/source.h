/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Where messages come from: directories with CTF traces, or a relay daemon's live session. libbabeltrace2 reads them.
 */
#ifndef SPI_READER_SOURCE_H
#define SPI_READER_SOURCE_H

#include <stddef.h>
#include "reader/calls/calls.h"

struct source;

/* A message for the taker, whose reference is its own: 0, or a negative number, which ends the reading. */
typedef int source_taker(void *data, const bt_message *message);

/*
 * The traces below the directories, together in one order of time. NULL: `why` says in one line what is wrong, and with
 * which directory. The caller closes what comes back.
 */
struct source *source_open(const char *const *directories, source_taker *take, void *data, char *why, size_t size);
/*
 * The same traces into components of libbabeltrace2's: the callee connects what is behind the port that they come from:
 * 0 or -1.
 */
typedef int source_connector(void *data, bt_graph *graph, const bt_port_output *from);
struct source *source_open_into(const char *const *directories, source_connector *connect, void *data, char *why,
	size_t size);
/* A live session, as babeltrace2 names one: net://HOST[:PORT]/host/HOSTNAME/SESSION. */
struct source *source_open_live(const char *url, source_taker *take, void *data, char *why, size_t size);
/*
 * Some messages: 1; 0: nothing more comes; 2: nothing has come yet, ask again; a negative number: the taker's, or
 * -EIO: `why` says what the traces are damaged by. What came before stays good.
 */
int source_read(struct source *source, char *why, size_t size);
/* Which stream files are cut off, so that their last packets are left out; "": none. */
const char *source_cut(const struct source *source);
/* The first and the last time of the streams, in ns from origin: 0, or -1: not known. */
int source_range(struct source *source, int64_t *first, int64_t *last);
void source_close(struct source *source);

#endif /* SPI_READER_SOURCE_H */
