/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Questions to the session daemon that a signal can end. liblttng-ctl waits for answers without a
 * limit, and signals are blocked meanwhile (base/signals.h): a daemon that is stopped or hangs would
 * keep a user from ending the front end.
 */
#ifndef SPI_CLI_DAEMON_QUESTION_H
#define SPI_CLI_DAEMON_QUESTION_H

/*
 * ASK() - the value of a call of liblttng-ctl's. When the daemon has not answered for three seconds and a signal has come for us,
 * or after asking_is_over(), the call fails. What waits long is told.
 */
#define ASK(call) ({				\
	asking_begin();				\
	__typeof__(call) answer_ = (call);	\
	asking_end();				\
	answer_;				\
})
void asking_begin(void);
void asking_end(void);

/* asking_is_over() - was the daemon given up? It has been said then. */
int asking_is_over(void);

#endif /* SPI_CLI_DAEMON_QUESTION_H */
