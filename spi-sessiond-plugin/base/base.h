/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What every room of the plugin uses: the lock, whether the plugin is at work, its clock, and
 * what the kernel tells of processes.
 *
 * Threads: the daemon's own, which come by through the hooks (hooks/hooks.c), and one of the
 * plugin's (thread/thread.c). Hooks decide from what is in memory, queue messages, and wait for
 * nobody (but for the end of a rule, and before a command, a moment: daemon/rules.c,
 * daemon/flush.c). Every exchange with the broker, every connect() and every deadline is the
 * plugin thread's.
 *
 * One lock, plugin_lock, guards all that both sides touch. It is held for some hundred
 * instructions, never across a system call that can block, and never by a forked child: there
 * the plugin is not armed any more (plugin_armed()), and the hooks do nothing but call the
 * functions that they stand before.
 */
#ifndef SPI_SESSIOND_BASE_H
#define SPI_SESSIOND_BASE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PLUGIN_LIBRARY	"lttng-spi-sessiond.so"
#define PLUGIN_THREAD	"spi-plugin"

/* ---- state.c ---- */

extern pthread_mutex_t plugin_lock;
extern pid_t plugin_pid;	/* of the daemon, once armed */
extern bool plugin_attached;	/* it ran already when the plugin was loaded */

/* True in the daemon once the plugin thread runs; false before, and in every child of a fork. */
bool plugin_armed(void);
/* The page that tells so, disarmed. 0 or -1. */
int plugin_armed_create(void);
bool plugin_armed_is_created(void);
void plugin_arm(void);
void plugin_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
int64_t plugin_clock(void);	/* monotonic, milliseconds */

/* ---- process.c: what /proc says; 0 when it does not. No lock ---- */

pid_t process_parent(pid_t pid);
int64_t process_ticks(pid_t pid);	/* when it was started, in the kernel's own count: tells it from another of that number. 0: gone */
int64_t process_started(pid_t pid);	/* as plugin_clock() was then */

#endif /* SPI_SESSIOND_BASE_H */
