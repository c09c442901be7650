/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * spi_tree:function - what the address of a call means: the function's name, demangled and with its scope, its size, and the
 * object that it is in. It comes before the function's first call, by the thread that calls it.
 *
 * It comes again, of all functions that were met, when another channel listens, by the agent's control thread; and with compact
 * records, whose numbers are described again likewise, for snapshots and new chunks. What a forked child has from its parent,
 * its parent has said: readers know a function by its object (build-id) and its place in it.
 *
 * said, of each function: the generation in which that was done last; 0: it was not met. A signal handler or another thread may come
 * in between: then it is said twice.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/tree/tree.h"
#include "tp/base/format.h"
#include "tp/describe/describe.h"

#define NAME_MOST	1024u
#define PATH_MOST	512u

static struct tp_own function;
static uint8_t generation = 1;

void tp_function_ready(void)
{
	static const struct tp_own_field fields[] = {
		{ "addr", TP_OWN_HEX }, { "size", TP_OWN_U64 }, { "baddr", TP_OWN_HEX }, { "build_id", TP_OWN_HEX },
		{ "object", TP_OWN_TEXT }, { "name", TP_OWN_TEXT },
	};

	if (tp_own_register(&function, TP_PROVIDER_TREE, "function", fields, 6) < 0)
		tp_core->note("LTTng-UST refused the event spi_tree:function: the trace has no names of functions");
}

void tp_function_again(void)
{
	uint8_t next = (uint8_t) (__atomic_load_n(&generation, __ATOMIC_RELAXED) + 1);

	__atomic_store_n(&generation, (uint8_t) (next + !next), __ATOMIC_RELAXED);
}

/* ---- who listens ---- */

static uint64_t listeners;	/* made of the channels that did, at the latest look */
static uint32_t adopts;		/* those of the next look are the parent's */

/* Threads may overwrite each other's: then it is looked once more, or said once more. Inside a read-side section. */
__attribute__((noinline)) void tp_function_look(void)
{
	uint64_t now = function.is_registered ? tp_channels_on(&function.event) : 0;

	if (__atomic_exchange_n(&listeners, now, __ATOMIC_RELAXED) == now || !now ||
			__atomic_exchange_n(&adopts, 0, __ATOMIC_RELAXED))
		return;
	tp_function_again();
	tp_core->functions_ask();
}

/* The next channel may well be where the last one was in memory, and knows no function yet. */
void tp_function_unheard(void)
{
	__atomic_store_n(&listeners, 0, __ATOMIC_RELAXED);
}

void tp_function_fork_child(void)
{
	adopts = 1;
	tp_function_unheard();
}

/* ---- the event ---- */

/* One that is too long ends in "...". */
static uint8_t *put_text(uint8_t *to, const char *from, size_t size, size_t most)
{
	size_t n = size < most ? size : most - 4;

	to = tp_put(to, from, n);
	if (n < size)
		to = tp_put(to, "...", 3);
	*to++ = 0;
	return to;
}

/* Inside a read-side section. 1: somebody had no room for it. */
static int function_write(const struct spi_function_told *f)
{
	struct tp_event event = tp_own_event(&function, f->address);
	uint8_t record[32 + NAME_MOST + PATH_MOST + TP_SLOP], *to = record;
	struct tp_shot shot = { .event = &event, .record = record };

	to = tp_put(to, &f->address, 8);
	to = tp_put(to, &f->size, 8);
	to = tp_put(to, &f->base, 8);
	to = tp_put(to, &f->build_id, 8);
	to = put_text(to, f->path, strlen(f->path), PATH_MOST);
	to = put_text(to, f->name, f->name_size, NAME_MOST);
	shot.length = (uint32_t) (to - record);
	return (tp_fire(&shot, 0) & TP_TOOK_WAIT) != 0;
}

/* Whoever records some tree's calls has it, as another tree may be the next to call the function. */
static int function_say(struct spi_thread *t, const struct spi_function_told *f)
{
	const uint8_t now = __atomic_load_n(&generation, __ATOMIC_RELAXED);
	const char *text = tp_context_text;
	uint32_t trees = t->tree_now;
	int lost;

	if (!CMM_ACCESS_ONCE(function.tracepoint.state)) {
		__atomic_store_n(f->said, now, __ATOMIC_RELAXED);
		return 0;
	}
	t->tree_now = f->is_tree ? *tp_core->tree_tagged : 0;
	tp_context_text = NULL;
	lost = function_write(f);
	tp_context_text = text;
	t->tree_now = trees;
	if (!lost)
		__atomic_store_n(f->said, now, __ATOMIC_RELAXED);
	return lost;
}

__attribute__((noinline)) void tp_function_met(struct spi_thread *t, struct spi_point *point)
{
	struct spi_function_told f;
	int lost = 0;

	if (CMM_ACCESS_ONCE(function.tracepoint.state))
		tp_function_look();
	if (tp_core->function_of(point, &f) == 0 && *f.said != __atomic_load_n(&generation, __ATOMIC_RELAXED))
		lost = function_say(t, &f);
	if (!lost)
		__atomic_fetch_and(&point->flags, ~(uint32_t) SPI_POINT_UNNAMED, __ATOMIC_RELAXED);
}

void tp_function_tell(const struct spi_function_told *f)
{
	struct spi_thread *t = &spi_thread;
	int *error, error_was;
	tp_reader *reader;

	if (*f->said == __atomic_load_n(&generation, __ATOMIC_RELAXED))
		return;
	error = tp_errno(t);
	error_was = *error;
	reader = tp_read_lock(t);
	function_say(t, f);
	tp_read_unlock(reader);
	*error = error_was;
}
