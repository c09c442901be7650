/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The call ledger: calls that are under way when something changes are closed, or waited for. What a channel is owed
 * for a call stands in the call's return slot (tp/ledger/ledger.h); one operation here, spi_ledger_close(), settles
 * it.
 *
 *	what ends the call		who writes the exit			how
 *	return				the thread				point->exit
 *	exception, longjmp, thread end	the thread				point->left (calls/slots.c, unwind/unwind.c)
 *	a rule is switched off		the thread, for a while;		rule-off.c
 *					then the control thread			SPI_CALLS_OF_TREES, _OF_RULES
 *	LTTng removes both events	nobody: counted				the thread, at the return
 *	detach				the control thread			SPI_CALLS_OF_ALL
 *	exec				the thread that executes		SPI_CALLS_OF_EXEC, _OF_THREAD
 *	exit				the thread that ends the process	point->left; of others SPI_CALLS_OF_END
 *	a crash				the thread that faults			crash.c: compact records are written
 *	fork, a copy of the process	nobody in the child			spi_ledger_abandon()
 *
 * Compact records have no exits to be written: the reader ends the calls, with a batch that says that nothing follows.
 * Such calls are waited for, and are not closed here.
 *
 * Who may race whom: the control thread, under the control lock, closes for rules; a thread that executes or ends
 * waits for the control thread to leave the thread that is being closed, and goes first from then on. A thread whose
 * calls are closed goes on: it writes exits under spi_thread_own.closing while rules are closed for, and none any more
 * at exec and end.
 */
#ifndef SPI_LEDGER_H
#define SPI_LEDGER_H

#include <stdint.h>
#include "liblttng-spi/arch/arch.h"

struct spi_link;

/* Which calls. */
enum spi_calls_of {
	SPI_CALLS_OF_TREES,	/* of these trees alone */
	SPI_CALLS_OF_RULES,	/* and of functions that no rule asks for any more, or one rule less */
	SPI_CALLS_OF_ALL,	/* all of other threads, also those that would be recorded when they return */
	SPI_CALLS_OF_THREAD,	/* the calling thread's; at an exec that is not watched */
	SPI_CALLS_OF_EXEC,	/* all; other threads record nothing until spi_process_goes_on() */
	SPI_CALLS_OF_END,	/* other threads'; nobody records any more */
};

/*
 * Write the exits of calls under way. Up to SPI_CALLS_OF_ALL: control thread, under the control lock; the trees are
 * off, and stop() takes them out where a thread may be about to record for them still. NULL: nowhere. The others: any
 * thread.
 */
void spi_ledger_close(enum spi_calls_of of, uint32_t trees, void (*stop)(uint32_t trees)) SPI_HIDDEN;
/* How many are under way, roughly, that would be closed, or compact ones that are waited for. Control thread. */
uint32_t spi_ledger_open(enum spi_calls_of of, uint32_t trees) SPI_HIDDEN;
/* In a copy of the process that is not traced: the calling thread's calls return as ever, and nothing is recorded. */
void spi_ledger_abandon(void) SPI_HIDDEN;

/* The process ends: all calls have their exits. Any thread. */
void spi_process_end(void) SPI_HIDDEN;
/* The same before execve(), or what ends lttng-ust in this process for a moment (process/single.c). Any thread. */
void spi_process_execs(void) SPI_HIDDEN;
/* That failed, or is over: calls to come are recorded again. The same thread. */
void spi_process_goes_on(void) SPI_HIDDEN;

void spi_ledger_fork_child(void) SPI_HIDDEN;
void spi_ledger_close_fork_child(void) SPI_HIDDEN;	/* close.c's part of it */

/* ---- rule-off.c: control thread, without the control lock ---- */

struct spi_rule_off {
	uint32_t id, flags;		/* of the message RULE_CLOSE: SPI_CLOSE_* */
	uint32_t trees;			/* that are off with the rule */
	int is_closed;			/* trees' calls that are open after the time are closed */
	void (*stop)(uint32_t trees);	/* as spi_ledger_close()'s */
};
/* A rule was switched off. RULE_CLOSED is sent once its calls are over, or the time is. */
void spi_rule_off_begin(struct spi_link *link, const struct spi_rule_off *rule) SPI_HIDDEN;
void spi_rule_off_step(struct spi_link *link) SPI_HIDDEN;
int64_t spi_rule_off_wait(void) SPI_HIDDEN;	/* ms until the next step; -1: there is none */

/* ---- crash.c: what threads have kept back of compact records is written ---- */
void spi_closing_last(void) SPI_HIDDEN;		/* a fault ends the program. Signal handler */

#endif /* SPI_LEDGER_H */
