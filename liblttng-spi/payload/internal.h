/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of payload/ share. */
#ifndef SPI_PAYLOAD_ROOM_INTERNAL_H
#define SPI_PAYLOAD_ROOM_INTERNAL_H

#include "liblttng-spi/payload/guard-offsets.h"
#include "liblttng-spi/payload/payload.h"

struct _Unwind_Exception;

/* On the stack of the thread that is in a payload. */
struct spi_guard {
	uint64_t sp;
	struct _Unwind_Exception *exception;
	uint32_t ended;			/* SPI_GUARD_* */
	struct spi_client *client;
	struct spi_guard *outer;
};

/* ---- call.c ---- */
void spi_errno_find(void) SPI_HIDDEN;	/* before the first call of a client */
int *spi_errno_place(void) SPI_HIDDEN;	/* the calling thread's, after that; libc is not called */

/* ---- guard.c ---- */
void spi_guard_begin(void) SPI_HIDDEN;		/* control side, before the first call of a client */
/* A payload's call. What the payload returns; 0: it did not, and its client is switched off. The thread is busy. */
uint64_t spi_guard_call(struct spi_thread *t, struct spi_client *client, void *function, struct spi_call *call, void *data) SPI_HIDDEN;
uint64_t spi_guarded_call(void *function, struct spi_call *call, void *data, struct spi_guard *guard) SPI_HIDDEN;

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
