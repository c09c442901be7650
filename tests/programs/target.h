/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the parts of the test program `target` share (target.c). */
#ifndef SPI_TESTS_INJECT_TARGET_H
#define SPI_TESTS_INJECT_TARGET_H

extern volatile int stop, signals, poll_myself;

/* target.c */
double now_ms(void);
void ready(void);
void *watch_stdin(void *unused);	/* sets `stop` when stdin ends: a thread, so that the others can compute */
void poll_stdin(void);			/* the same without a thread, for what has to be single-threaded */
void count_signal(int sig);

/* target-block.c: one blocking system call, from ready to its return. */
long target_block(const char *how);

/* target-compute.c: what they do until `stop`; what was wrong afterwards, or NULL. */
const char *compute(void);		/* with every register checked */
const char *compute_on_coroutine(void);
const char *compute_on_small_stack(void);
const char *compute_in_handler(void);
const char *compute_deep(void);
const char *compute_under_timer(void);
const char *signals_kept(int how);
const char *compute_with_faults(void);

#endif /* SPI_TESTS_INJECT_TARGET_H */
