/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What lttng-ust is told and given: events (own-event.c, event-names.c), read-side sections, records, filters
 * and triggers (fire.c), records in another thread's name (in-name.c), sessions of one run (runs.c). Events are made by
 * the agent's thread. All else is for any thread that is marked busy, in a signal handler, too, and allocates nothing
 * but what lttng-ust does for a thread's first record.
 *
 * From a record to the rings: what lttng-ust's tracepoint macros do, for
 * descriptors that no macro knew. Inlined into the callers (record/call.c), because a
 * call of its own for each step is what makes the difference to a macro.
 *
 * The read-side section is lttng-ust's own, with one change: the address of its
 * thread-local reader pointer is kept in spi_thread, which saves two
 * __tls_get_addr() calls an event. The pointer itself is loaded each time, so a
 * reader that lttng-ust freed at the thread's end is never touched.
 */
#ifndef SPI_TP_UST_H
#define SPI_TP_UST_H

#ifndef _LGPL_SOURCE
#define _LGPL_SOURCE
#endif
#include <errno.h>
#include <string.h>
#include <lttng/ust-ringbuffer-context.h>
#include <lttng/urcu/urcu-ust.h>
#include "liblttng-spi/arch/arch.h"
#include "tp/clock/clock.h"
#include "tp/base/base.h"

typedef struct lttng_ust_urcu_reader tp_reader;

/* Public in lttng-ust's library, but its header declares it for macros' use only, with all their constructors. */
int lttng_ust_tracepoint_module_register(struct lttng_ust_tracepoint *const *tracepoints, int count);

/* Never called: it marks the probes on a tracepoint that are ours, and fires them itself by their data. */
SPI_HIDDEN void tp_probe_mark(void);
/* The same, for the events with backtraces, which have the names of those without: record/backtrace.c. */
SPI_HIDDEN void tp_backtrace_mark(void);

/* A record on its way. `late` is for one-event records, whose last value is known only when the ring gives the time. */
struct tp_shot {
	const struct tp_event *event;
	uint8_t *record;
	uint32_t length;
	uint32_t late_done;
	uint8_t *late;		/* NULL, or 8 bytes in the record for the duration */
	uint64_t start;		/* time at the entry */
};

/*
 * The calling thread gets the memory that lttng-ust needs for it; has_memory: of what the dynamic linker makes it has
 * all. 1: it is ready; -1: there is no memory.
 */
SPI_HIDDEN int tp_thread_ready(int has_memory);
/* What filters are told: NULL, or what the context $app.spi:rules says; is it a call's end that is looked at? */
extern SPI_HIDDEN __thread const char *tp_context_text __attribute__((tls_model("initial-exec")));
extern SPI_HIDDEN __thread int tp_context_is_end __attribute__((tls_model("initial-exec")));

/* Slow paths, fire.c. */
SPI_HIDDEN tp_reader **tp_reader_find(struct spi_thread *t);
extern SPI_HIDDEN tp_reader *tp_reader_ended;	/* NULL, always: what a thread has as its reader's place after its end */
SPI_HIDDEN tp_reader *tp_reader_register(tp_reader **place);
SPI_HIDDEN int *tp_errno_find(struct spi_thread *t);
SPI_HIDDEN int tp_filter_accepts(struct tp_shot *shot, const struct lttng_ust_event_common *event);
/* Would it take the end of a call that began under all rules that there were, and not that of one that begins now? */
SPI_HIDDEN int tp_filter_is_left(struct tp_shot *shot, const struct lttng_ust_event_common *event);
SPI_HIDDEN void tp_notify(struct tp_shot *shot, struct lttng_ust_event_common *event);

/* errno's address, kept: recording must not change it. */
SPI_INLINE int *tp_errno(struct spi_thread *t)
{
	int *place = t->payload[TP_WORD_ERRNO];

	return spi_likely(place != NULL) ? place : tp_errno_find(t);
}

/* Enter and leave lttng-ust's read-side section; they nest. `place` is the address of lttng-ust's reader pointer. */
SPI_INLINE tp_reader *tp_read_lock_at(tp_reader **place)
{
	tp_reader *reader = *place;
	unsigned long count;

	if (spi_unlikely(!reader))
		reader = tp_reader_register(place);
	spi_barrier();
	count = reader->ctr;
	if (spi_likely(!(count & LTTNG_UST_URCU_GP_CTR_NEST_MASK))) {
		_CMM_STORE_SHARED(reader->ctr, _CMM_LOAD_SHARED(lttng_ust_urcu_gp.ctr));
		lttng_ust_urcu_smp_mb_slave();
	} else {
		_CMM_STORE_SHARED(reader->ctr, count + LTTNG_UST_URCU_GP_COUNT);
	}
	return reader;
}

SPI_INLINE tp_reader *tp_read_lock(struct spi_thread *t)
{
	tp_reader **place = t->payload[TP_WORD_READER];

	return tp_read_lock_at(spi_likely(place != NULL && place != &tp_reader_ended) ? place : tp_reader_find(t));
}

/*
 * The thread is at its end and had a reader, which lttng-ust has taken away, or is just taking, under a lock that making
 * one needs: a call that lttng-ust makes there (most are not seen at all) must not be recorded.
 */
SPI_INLINE int tp_reader_is_over(const struct spi_thread *t, uint64_t p)
{
	tp_reader *const *place = t->payload[TP_WORD_READER];

	return spi_unlikely(place && !*place) && tp_core->within_lttng(p);
}

SPI_INLINE void tp_read_unlock(tp_reader *reader)
{
	lttng_ust_urcu_smp_mb_slave();
	_CMM_STORE_SHARED(reader->ctr, reader->ctr - LTTNG_UST_URCU_GP_COUNT);
	spi_barrier();
}

/* The rules on an event, an array that ends with one without `func`; NULL: there is none. */
SPI_INLINE struct lttng_ust_tracepoint_probe *tp_probes(const struct tp_event *event)
{
	return lttng_ust_rcu_dereference(event->tracepoint->probes);
}

/* The recorder, or channel, that a rule of ours on an event writes to; NULL: the rule is a trigger, or not ours. */
SPI_INLINE struct lttng_ust_event_recorder *tp_recorder_of(const struct lttng_ust_tracepoint_probe *probe)
{
	const struct lttng_ust_event_common *event = probe->data;

	return probe->func == tp_probe_mark && event->type == LTTNG_UST_EVENT_TYPE_RECORDER ? event->child : NULL;
}

SPI_INLINE const struct lttng_ust_channel_buffer *tp_channel_of(const struct lttng_ust_tracepoint_probe *probe)
{
	const struct lttng_ust_event_recorder *recorder = tp_recorder_of(probe);

	return recorder ? recorder->chan : NULL;
}

/* The rule on the event that records in this channel; NULL: none. */
SPI_INLINE const struct lttng_ust_tracepoint_probe *tp_probe_in(const struct tp_event *event, const void *channel)
{
	const struct lttng_ust_tracepoint_probe *probe = tp_probes(event);

	while (probe && probe->func && tp_channel_of(probe) != channel)
		probe++;
	return probe && probe->func ? probe : NULL;
}

/* Where it is a trigger. */
SPI_INLINE void tp_notify_by(struct tp_shot *shot, const struct lttng_ust_tracepoint_probe *probe)
{
	struct lttng_ust_event_common *event = probe->data;

	if (probe->func == tp_probe_mark && event->type == LTTNG_UST_EVENT_TYPE_NOTIFIER)
		tp_notify(shot, event);
}

/* runs.c. `any` has a probe for each session that wants one run's processes only. */
struct tp_run {
	struct lttng_ust_tracepoint *any;
	const struct lttng_ust_session *session;	/* is this process's own; NULL: not known yet */
};
extern SPI_HIDDEN struct tp_run tp_run;
SPI_HIDDEN int tp_runs_register(void);
SPI_HIDDEN int tp_runs_set(uint32_t run);	/* 1: another run than before. Agent thread only */
SPI_HIDDEN const char *tp_runs_name(void);	/* "rNUMBER", of the run that this process belongs to; "": of none */
SPI_HIDDEN void tp_runs_fork_child(void);
SPI_HIDDEN int tp_run_is_foreign(const struct lttng_ust_session *session);
SPI_HIDDEN int tp_run_is_own(const struct lttng_ust_session *session);	/* inside a read-side section */

/* Inside a read-side section. Whether its event is on is not asked. */
SPI_INLINE int tp_channel_on(const struct lttng_ust_channel_buffer *channel)
{
	const struct lttng_ust_channel_common *common = channel->parent;

	return CMM_ACCESS_ONCE(common->session->active) && CMM_ACCESS_ONCE(common->enabled) &&
	       (spi_likely(!CMM_ACCESS_ONCE(tp_run.any->probes)) ||
		spi_likely(common->session == CMM_ACCESS_ONCE(tp_run.session)) || !tp_run_is_foreign(common->session));
}

SPI_INLINE int tp_recorder_on(
	const struct lttng_ust_event_common *event, const struct lttng_ust_channel_buffer *channel)
{
	return CMM_ACCESS_ONCE(event->enabled) && tp_channel_on(channel);
}

/* May this recorder have the record, by its session's state and its filter? */
SPI_INLINE int tp_recorder_takes(struct tp_shot *shot, const struct lttng_ust_event_common *event,
	const struct lttng_ust_channel_buffer *channel)
{
	if (spi_unlikely(!tp_recorder_on(event, channel)))
		return 0;
	return spi_likely(!CMM_ACCESS_ONCE(event->eval_filter)) || tp_filter_accepts(shot, event);
}

SPI_INLINE void tp_shot_late(struct tp_shot *shot, uint64_t now)
{
	uint64_t duration = now > shot->start ? now - shot->start : 0;

	__builtin_memcpy(shot->late, &duration, 8);
	shot->late_done = 1;
}

/*
 * Write a record into the recorder's ring: 0, or why not. -ENOBUFS: the ring is full; -EIO: a preempted writer still
 * holds the next sub-buffer; -ENOSPC: no sub-buffer is ever large enough. LTTng counts these as discarded. -EAGAIN: the
 * ring is switched off.
 *
 * shot: NULL, or the record's, with `late`. The duration ends where the ring's own time stamp for this event lies, so a
 * call costs two readings of the clock in all. A reading made before the room is reserved could be older than another
 * thread's event in front of it.
 */
SPI_INLINE int tp_record_late(const struct tp_event *event, const uint8_t *record, uint32_t length,
	struct lttng_ust_event_recorder *recorder, struct tp_shot *shot)
{
	const struct lttng_ust_channel_buffer_ops *ops = recorder->chan->ops;
	struct lttng_ust_ring_buffer_ctx ctx;
	int error;

	lttng_ust_ring_buffer_ctx_init(&ctx, recorder, length, 1, (struct lttng_ust_probe_ctx *) &event->probe);
	error = ops->event_reserve(&ctx);
	if (spi_unlikely(error < 0))
		return error;
	if (shot && !shot->late_done)
		tp_shot_late(shot, spi_likely(tp_clock_ours) ? tp_clock.last : tp_clock_now());
	if (spi_likely(length))
		ops->event_write(&ctx, record, length, 1);
	ops->event_commit(&ctx);
	return 0;
}

SPI_INLINE int tp_record(const struct tp_event *event, const uint8_t *record, uint32_t length,
	struct lttng_ust_event_recorder *recorder)
{
	return tp_record_late(event, record, length, recorder, NULL);
}

/* Did the ring discard the record (and LTTng count it)? A ring that is switched off listens no more: no loss. */
SPI_INLINE int tp_discarded(int error)
{
	return error < 0 && error != -EAGAIN;
}

/* May a refused record find room later? */
SPI_INLINE int tp_may_wait(int error)
{
	return tp_discarded(error) && error != -ENOSPC;
}

/*
 * The usual case: one rule on the event, of a session that records, without a
 * filter. NULL in all others, for which the caller has a slower way.
 */
SPI_INLINE struct lttng_ust_event_recorder *tp_probe_single(const struct lttng_ust_tracepoint_probe *probe)
{
	const struct lttng_ust_event_common *event;
	struct lttng_ust_event_recorder *recorder;

	if (spi_unlikely(!probe) || spi_unlikely(probe[0].func != tp_probe_mark) || spi_unlikely(probe[1].func != NULL))
		return NULL;
	event = probe->data;
	if (spi_unlikely(event->type != LTTNG_UST_EVENT_TYPE_RECORDER) ||
		spi_unlikely(CMM_ACCESS_ONCE(event->eval_filter)))
		return NULL;
	recorder = event->child;
	return spi_likely(tp_recorder_on(event, recorder->chan)) ? recorder : NULL;
}

/* ---- own-event.c: the tracer's own events; agent thread only ---- */

#define TP_OWN_FIELDS	12u
#define TP_WORDS_LENGTH	"_data_length"	/* of TP_OWN_WORDS: the field before */

enum tp_own_kind {
	TP_OWN_LABELS,	/* one byte; tp_own.labels is its type */
	TP_OWN_U32,
	TP_OWN_U64,
	TP_OWN_HEX,	/* 8 bytes */
	TP_OWN_TEXT,
	TP_OWN_I32,
	TP_OWN_I64,
	TP_OWN_WORDS,	/* a sequence of 8-byte words: the last field, and then filters see none */
	TP_OWN_SEQUENCE,	/* likewise; tp_own.labels is its type */
};
struct tp_own_field {
	const char *name;
	enum tp_own_kind kind;
};
/* Static; all but `labels` is zero before it is registered. lttng-ust keeps pointers into it for ever. */
struct tp_own {
	struct tp_event event;
	const struct lttng_ust_type_common *labels;	/* or of a sequence */
	struct lttng_ust_tracepoint tracepoint, *list[1];
	struct lttng_ust_event_field fields[TP_OWN_FIELDS];
	const struct lttng_ust_event_field *field_list[TP_OWN_FIELDS];
	struct tp_column columns[TP_OWN_FIELDS];
	struct lttng_ust_tracepoint_class class;
	struct lttng_ust_event_desc desc;
	const struct lttng_ust_event_desc *descs[1];
	struct lttng_ust_probe_desc probe;
	uint32_t field_count;
	int is_registered;
};
/* Register the event, once. 0, or -1: LTTng-UST refused, or the name is in use. */
SPI_HIDDEN int tp_own_register(struct tp_own *own, const char *provider, const char *name,
	const struct tp_own_field *fields, unsigned int n);
/* [hexadecimal][signed][log2 bytes] */
extern SPI_HIDDEN const struct lttng_ust_type_integer tp_integers[2][2][4];
extern SPI_HIDDEN const struct lttng_ust_type_string tp_string_type;
/* An enumeration; name and labels stay the caller's, for ever. NULL: no memory. */
SPI_HIDDEN const struct lttng_ust_type_common *tp_enum_type(const char *name,
	const struct lttng_ust_enum_entry **labels, unsigned int n, const struct lttng_ust_type_integer *container);
/* A byte with labels for 0 to n - 1. NULL: no memory. */
SPI_HIDDEN const struct lttng_ust_type_common *tp_labels_type(const char *name, const char *const *labels,
	unsigned int n);
/* The event as it is fired for a function's address; the contexts ip and $app.spi:rules go by that. Any thread. */
SPI_HIDDEN struct tp_event tp_own_event(const struct tp_own *own, uint64_t address);

/* What lttng-ust wants of an event, with what is the same for all of ours. */
SPI_INLINE struct lttng_ust_tracepoint_class tp_class(const struct lttng_ust_event_field *const *fields, size_t n,
	const struct lttng_ust_probe_desc *provider)
{
	return (struct lttng_ust_tracepoint_class) { .struct_size = sizeof(struct lttng_ust_tracepoint_class),
		.fields = fields, .nr_fields = n, .probe_callback = tp_probe_mark, .signature = "spi", .probe_desc = provider };
}
SPI_INLINE struct lttng_ust_event_desc tp_desc(const char *name, const struct lttng_ust_tracepoint_class *class)
{
	return (struct lttng_ust_event_desc) { .struct_size = sizeof(struct lttng_ust_event_desc), .event_name = name,
		.probe_desc = class->probe_desc, .tp_class = class };
}
/* Version 3.0 is what lttng-ust 2.13 asks for, and everything after it takes. */
SPI_INLINE struct lttng_ust_probe_desc tp_provider(const char *name, const struct lttng_ust_event_desc *const *events,
	unsigned int n)
{
	return (struct lttng_ust_probe_desc) { .struct_size = sizeof(struct lttng_ust_probe_desc), .provider_name = name,
		.event_desc = (const struct lttng_ust_event_desc **) events, .nr_events = n, .major = 3 };
}
SPI_INLINE struct lttng_ust_tracepoint tp_tracepoint(const char *provider, const char *name)
{
	return (struct lttng_ust_tracepoint) { .struct_size = sizeof(struct lttng_ust_tracepoint),
		.provider_name = provider, .event_name = name, .signature = "spi" };
}
/*
 * Stubs test a state near their own code: so each object has tracepoints of its own for an event or two, which
 * lttng-ust serves under one name. Only whoever makes them is the agent's thread; any thread may look.
 */
struct tp_near {
	struct spi_object *object;
	struct lttng_ust_tracepoint *list[2];	/* lttng-ust keeps this array */
	struct tp_near *next;
};
/* The object's of a list, NULL: it has none; or made at need, NULL: *why not. */
SPI_HIDDEN struct tp_near *tp_near_find(struct tp_near *const *all, const struct spi_object *object);
SPI_HIDDEN struct tp_near *tp_near_get(struct tp_near **all, struct spi_object *object, const char *provider,
	const char *const *names, int n, const char **why);

SPI_INLINE uint8_t *tp_put(uint8_t *to, const void *from, size_t size)
{
	return (uint8_t *) memcpy(to, from, size) + size;
}

/* What became of a record that was offered to all rules on its event. */
#define TP_TOOK_ONE	1u	/* a channel has it */
#define TP_TOOK_LOST	2u	/* a channel has no room */
#define TP_TOOK_WAIT	4u	/* and may have some later */
#define TP_TOOK_LARGE	8u	/* a channel's sub-buffers are smaller */
/*
 * Offer it, to triggers, too: TP_TOOK_* of all channels; 0: nobody listens. other: as tp_record_as(). Inside a
 * read-side section.
 */
SPI_HIDDEN unsigned int tp_fire(struct tp_shot *shot, int32_t other);

/* A number made of the channels that record the event now; 0: none does. Inside a read-side section. */
SPI_HIDDEN uint64_t tp_channels_on(const struct tp_event *event);

/* ---- event-names.c; agent thread only ---- */

/* Both texts stay the caller's, for ever. 0, or -1: an event of this process has the name, or there is no memory. */
SPI_HIDDEN int tp_event_name_use(const char *provider, const char *event);
SPI_HIDDEN int tp_event_name_is_used(const char *provider, const char *event);
/*
 * Are these two field names one to a reader? The session daemon puts a '_' before each name. Readers take one off again;
 * but babeltrace2 2.0 compares a new name that has it with earlier ones that do not: `_n` and `n` are two fields of one
 * name to it, and it reads nothing of such a trace. Trace Compass looks fields up with and without.
 */
SPI_HIDDEN int tp_names_clash(const char *a, const char *b);

/* ---- in-name.c: a record that one thread writes in the name of another ---- */

SPI_HIDDEN void tp_in_name_init(void);
/* The calling thread, of this id, has just written a record. */
SPI_HIDDEN void tp_in_name_learn(int32_t tid);
/*
 * As tp_record(), with the context vtid of the thread `other`; 0: of the calling thread. -EAGAIN: this cannot be done
 * now, as no thread has recorded with that context. Inside a read-side section.
 */
SPI_HIDDEN int tp_record_as(int32_t other, const struct tp_event *event, const uint8_t *record,
	uint32_t length, struct lttng_ust_event_recorder *recorder);
/* In a forked child: lttng-ust is to ask for the calling thread's id, which was `tid` in the parent, again. */
SPI_HIDDEN void tp_in_name_forget(int32_t tid);

/* Is the record, for which the thread is about to enter a read-side section, the thread's first? */
SPI_INLINE int tp_is_first(const struct spi_thread *t)
{
	return !t->payload[TP_WORD_READER] || t->payload[TP_WORD_READER] == &tp_reader_ended;
}

#endif /* SPI_TP_UST_H */
