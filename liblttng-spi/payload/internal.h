/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of payload/ share. */
#ifndef SPI_PAYLOAD_ROOM_INTERNAL_H
#define SPI_PAYLOAD_ROOM_INTERNAL_H

#include "liblttng-spi/payload/guard-offsets.h"
#include "liblttng-spi/payload/payload.h"

struct _Unwind_Exception;

#define SPI_PAYLOAD_STACK	16384u	/* bytes; printf() alone takes half of it */

/* On the stack of the thread that is in a payload. */
struct spi_guard {
	uint64_t sp;
	struct _Unwind_Exception *exception;	/* SPI_GUARD_THROWN */
	struct spi_client *client;
	struct spi_guard *outer;
};

struct spi_guarded {
	uint64_t result;
	uint64_t ended;			/* SPI_GUARD_* */
};

/* ---- call.c ---- */
extern uint64_t spi_errno_distance SPI_HIDDEN;	/* from the thread's own pointer; libc's errno is initial-exec */
void spi_errno_find(void) SPI_HIDDEN;	/* before the first call of a client */

/* The calling thread's errno, after that; libc is not called. */
SPI_INLINE int *spi_errno_place(void)
{
	return (int *) (spi_thread_pointer() + spi_errno_distance);
}

/* A call of a point for one client, in any state. Returns the code of the slot that it has; 0: none. */
uint64_t spi_client_call(struct spi_thread *t, struct spi_client *client, struct spi_point *point, uint32_t trees,
	struct spi_frame *frame, const uint8_t *vectors, uint64_t stride) SPI_HIDDEN;
/* A call with a client's slot has returned, in any state. Called by thunks that want an answer as well: 0. */
uint64_t spi_client_returns(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vectors, uint64_t stride)
	SPI_HIDDEN;

/* ---- fast.c: the same ---- */
uint64_t spi_client_call_fast(struct spi_thread *t, struct spi_client *client, struct spi_point *point, uint32_t trees,
	struct spi_frame *frame, const uint8_t *vectors, uint64_t stride) SPI_HIDDEN;
uint64_t spi_client_returns_fast(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vectors, uint64_t stride)
	SPI_HIDDEN;

/* ---- function-point.c: spi_entry_fn, in any state ---- */
uint64_t spi_clients_entry(struct spi_point *point, struct spi_frame *frame, const uint8_t *vectors, uint64_t stride)
	SPI_HIDDEN;

/* ---- guard.c ---- */
extern uint32_t spi_guard_cancels SPI_HIDDEN;	/* the program has called pthread_cancel() */
void spi_guard_begin(void) SPI_HIDDEN;		/* control side, before the first call of a client */
/* A payload's call. What the payload returns; 0: it did not, and its client is switched off. The thread is busy. */
uint64_t spi_guard_call(struct spi_thread *t, struct spi_client *client, void *function, struct spi_call *call, void *data) SPI_HIDDEN;
/* It did not return; busy: the thread's, before. Returns 0. */
uint64_t spi_guard_ended(struct spi_thread *t, struct spi_guard *guard, uint64_t ended, uint32_t busy) SPI_HIDDEN;
struct spi_guarded spi_guarded_call(struct spi_call *call, void *data, void *function, struct spi_guard *guard) SPI_HIDDEN;

/* The same as spi_guard_call(), of a client without a time limit where nobody has cancelled a thread. */
SPI_INLINE uint64_t spi_guard_call_plain(struct spi_thread *t, struct spi_thread_own *own, struct spi_client *client,
	void *function, struct spi_call *call, void *data, const uint32_t busy)
{
	struct spi_guard guard = { .client = client, .outer = own->guard };
	struct spi_guarded done;

	own->guard = &guard;
	done = spi_guarded_call(call, data, function, &guard);
	own->guard = guard.outer;
	return spi_likely(done.ended == SPI_GUARD_RETURNED) ? done.result : spi_guard_ended(t, &guard, done.ended, busy);
}

/* ---- failed.c ---- */
void spi_client_fails(struct spi_client *client, const char *why) SPI_HIDDEN;	/* any thread: the client gets no call any more */

/*
 * A function of the client's that is no payload of a call, called with `argument` and `data`. What it calls is not
 * instrumented, errno stays as it is, and where it does not return the client is switched off.
 */
uint64_t spi_client_run(struct spi_client *client, void *function, void *argument, void *data) SPI_HIDDEN;

/* ---- flush.c: control side, as the client's first rule begins and its last one has gone ---- */
void spi_flush_begin(struct spi_client *client) SPI_HIDDEN;
void spi_flush_end(struct spi_client *client) SPI_HIDDEN;

/* ---- samples.c: likewise ---- */
void spi_samples_begin(struct spi_client *client) SPI_HIDDEN;
void spi_samples_end(struct spi_client *client) SPI_HIDDEN;

/* ---- output.c ---- */
void spi_client_output_drop(void) SPI_HIDDEN;	/* control side: what the controller has given goes */
void spi_client_output_find(struct spi_link *link) SPI_HIDDEN;	/* control side; link NULL: there is no controller */

/* ---- file.c ---- */
int spi_client_is_old(const struct spi_client *client) SPI_HIDDEN;	/* another file has its file's name now */
/* Loads the payload file. Its client, or NULL and `why`. */
struct spi_client *spi_client_load(const char *name, const char *arguments, char *why, size_t size) SPI_HIDDEN;

/* ---- the slot of a call; the thread is busy ---- */

/* In a tree its slot says at the callee's entry that the client has the call. */
SPI_INLINE int spi_client_wants_exit(const struct spi_client *client, const struct spi_point *point, uint32_t trees)
{
	return (client->exit || trees || spi_unlikely(point->flags & SPI_POINT_LOOPS)) && !(point->flags & SPI_POINT_NO_EXIT);
}

/* The call's exit is to come to the client. Returns the slot's code; 0: there is no slot. */
SPI_INLINE uint64_t spi_client_slot_take(struct spi_thread *t, struct spi_client *client, const struct spi_point *point,
	struct spi_frame *frame, void *user)
{
	struct spi_slot *slot = spi_slot_ready(t, (uint64_t) &frame->ra);
	struct spi_point *own = &point->clients->point;
	uint64_t code;

	if (spi_unlikely(own->body != point->body || own->address != point->address)) {
		own->body = point->body;
		own->address = point->address;
		own->call_site = point->call_site;
	}
	if (spi_unlikely(!slot)) {
		if (t->record)
			t->record->count.slots_exhausted++;
		return 0;
	}
	code = spi_slot_push(t, &slot, own, frame);
	if (spi_unlikely(!code))
		return 0;
	if (!(client->flags & SPI_PAYLOAD_GENERAL_REGISTERS))
		slot->exit = own->full_exit_thunk;
	slot->cookie = user;
	slot->start = (uint64_t) client;
	slot->aux = SPI_SLOT_APART;
	return code;
}

#endif /* SPI_PAYLOAD_ROOM_INTERNAL_H */
