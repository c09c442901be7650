/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the agent offers to the assembly in arch/<cpu>/: the places of the fields that this assembly reads and writes.
 * base/point.h, unwind/leave.c and cfi/unwind-step.c assert them. Assembly includes this file: it has macros only.
 */
#ifndef SPI_ARCH_OFFSETS_H
#define SPI_ARCH_OFFSETS_H

/* struct spi_point */
#define SPI_AT_POINT_BODY		0
#define SPI_AT_POINT_WORD		8
#define SPI_AT_POINT_THUNK		16
#define SPI_AT_POINT_QUICK		28
#define SPI_AT_POINT_FLAGS		36
#define SPI_AT_POINT_HITS		40
#define SPI_AT_POINT_ENTRY		48
#define SPI_AT_POINT_LATEST	56
#define SPI_AT_POINT_LENT		56	/* the same word */
#define SPI_AT_POINT_EXIT		64
#define SPI_AT_POINT_PAYLOAD	72
#define SPI_AT_POINT_ADDRESS	80
#define SPI_AT_POINT_EXIT_THUNK	104
#define SPI_AT_POINT_VECTORS	112
#define SPI_AT_POINT_FULL		128
#define SPI_AT_POINT_FULL_EXIT	136
#define SPI_AT_POINT_CLIENTS	216
#define SPI_POINT_FLAG_LOOPS	1
#define SPI_POINT_FLAG_NO_EXIT	4

/* struct spi_frame */
#define SPI_AT_FRAME_RA		80

/* struct spi_child */
#define SPI_AT_CHILD_SITE		240

/* struct spi_slot, and the arena of slots: the data of a slot is SPI_SLOT_HALF bytes behind its code. */
#define SPI_AT_SLOT_RA		0
#define SPI_AT_SLOT_TARGET		8
#define SPI_AT_SLOT_EXIT		16
#define SPI_AT_SLOT_P		24
#define SPI_AT_SLOT_POINT		32
#define SPI_AT_SLOT_START		40
#define SPI_AT_SLOT_COOKIE		48
#define SPI_AT_SLOT_STATE		56
#define SPI_AT_SLOT_AUX		60
#define SPI_SLOT_SIZE		64
#define SPI_SLOT_HALF		0x8000000
#define SPI_SLOT_CHUNK		0x4000	/* bytes handed to a thread at once; the first slot of them is never used */
#define SPI_SLOT_STATE_FREE	0
#define SPI_SLOT_STATE_LIVE	1

/* struct spi_thread */
#define SPI_AT_THREAD_CUR		0
#define SPI_AT_THREAD_WORDS	24
#define SPI_AT_THREAD_TREE		32
#define SPI_AT_THREAD_EPOCH_BUSY	36	/* words_epoch and busy as one word */
#define SPI_AT_THREAD_BUSY		40
#define SPI_AT_THREAD_OWED		44
#define SPI_AT_THREAD_BUSY_P		48
#define SPI_AT_THREAD_OWN		120
#define SPI_AT_THREAD_STACK_END		160
#define SPI_THREAD_USUAL		5		/* SPI_THREAD_OWES and SPI_THREAD_NEW */
#define SPI_THREAD_MARKED		0x5b1d0000	/* SPI_THREAD_MARK */

/* struct spi_thread_own */
#define SPI_AT_OWN_CRITICAL		568
#define SPI_AT_OWN_GUARD		576

/* struct spi_words */
#define SPI_AT_WORDS_USED		0
#define SPI_AT_WORDS_LIMIT		4
#define SPI_AT_WORDS_HIGH		8
#define SPI_AT_WORDS_WORDS		128
#define SPI_WORD_EXIT_BIT	32

/* struct spi_registers; the call that unwind/leave.c makes once a record is complete, and its three words for registers */
#define SPI_REGISTERS_SIZE	144
#define SPI_LEAVE_CALL_SIZE	232
#define SPI_AT_LEAVE_CALL_BY	16

#endif /* SPI_ARCH_OFFSETS_H */
