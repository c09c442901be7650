/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of payload/ share. */
#ifndef SPI_PAYLOAD_ROOM_INTERNAL_H
#define SPI_PAYLOAD_ROOM_INTERNAL_H

#include "liblttng-spi/payload/offsets.h"
#include "liblttng-spi/payload/payload.h"

struct _Unwind_Exception;

/*
 * On the stack of the thread that is in a payload: the last words above what the payload itself uses. Behind `client`
 * the frame goes on, as call.S has it.
 */
struct spi_guard {
	uint64_t kind;			/* SPI_GUARD_ANY, ... */
	struct spi_client *client;
};

struct spi_guarded {
	uint64_t result;		/* SPI_GUARD_THROWN: the exception */
	uint64_t ended;			/* SPI_GUARD_RETURNED, ... */
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
uint64_t spi_client_call(struct spi_point *point, struct spi_frame *frame, const uint8_t *vectors, uint64_t stride,
	struct spi_client *client, uint32_t trees) SPI_HIDDEN;
/* A call with a client's slot has returned, in any state. Called by thunks that want an answer as well: 0. */
uint64_t spi_client_returns(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vectors, uint64_t stride)
	SPI_HIDDEN;
/* The call's exit is to come to the client. Returns the slot's code; 0: there is no slot. The thread is busy. */
uint64_t spi_client_slot_take(struct spi_point *point, struct spi_frame *frame, struct spi_client *client, void *user)
	SPI_HIDDEN;
/* Is the call whose return address is at p made within critical code (calls/calls.h)? */
int spi_client_caller_is_critical(struct spi_point *point, uint64_t p) SPI_HIDDEN;

/* ---- arch/<cpu>/payload/call.S: the same, where a call is as most are ---- */
uint64_t spi_client_returns_fast(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vectors,
	uint64_t stride) SPI_HIDDEN;

/* ---- function-point.c: spi_entry_fn, in any state ---- */
uint64_t spi_clients_entry(struct spi_point *point, struct spi_frame *frame, const uint8_t *vectors, uint64_t stride)
	SPI_HIDDEN;

/* ---- guard.c ---- */
extern uint32_t spi_guard_cancels SPI_HIDDEN;	/* the program has called pthread_cancel() */
void spi_guard_leave(const struct spi_client *client) SPI_HIDDEN;	/* until other threads are out of its payloads, 50 ms at most */
void spi_guard_begin(void) SPI_HIDDEN;		/* control side, before the first call of a client */
/* A payload's call. What the payload returns; 0: it did not, and its client is switched off. The thread is busy. */
uint64_t spi_guard_call(struct spi_thread *t, struct spi_client *client, void *function, struct spi_call *call, void *data) SPI_HIDDEN;
/* A payload has ended otherwise than by returning; busy: the thread's, before. exception: SPI_GUARD_THROWN. */
void spi_guard_ended(struct spi_client *client, uint64_t ended, struct _Unwind_Exception *exception, uint32_t busy)
	SPI_HIDDEN;
/* *place points to the guard meanwhile. */
struct spi_guarded spi_guarded_call(struct spi_call *call, void *data, void *function, struct spi_client *client,
	struct spi_guard **place) SPI_HIDDEN;

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

#endif /* SPI_PAYLOAD_ROOM_INTERNAL_H */
