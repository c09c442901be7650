/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* First in line for a processor, for as long as a thread of the target stands still. */
#ifndef SPI_INJECTOR_INJECT_PRIORITY_H
#define SPI_INJECTOR_INJECT_PRIORITY_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The guard reads it when we are dead: what is set is what is to be put back. */
struct spi_first {
	int tid;		/* thread whose scheduling is changed; 0: none */
	int pinned;		/* thread that is kept on one processor; 0: none */
	uint32_t sched[16];	/* struct sched_attr as found */
	cpu_set_t cpus, one;	/* where it may run; where it is kept */
	size_t cpus_size;	/* bytes of cpus that the kernel knows */
	bool together;		/* a thread and we may be kept on one processor */
	bool ahead, stays;	/* we stand in line before others; and are to, when the thread does no more */
	uint64_t code_at;	/* where the target's code is not what it was (program-start.c); 0: nowhere */
	uint8_t code[2];	/* what was there */
	int memory;		/* the target's, as a descriptor of the guard's */
	pid_t guard;		/* <= 0: there is none, and nothing is changed */
	int pipe[2];
	char *stack;
};

/*
 * Start the guard; end it, with everything put back. `memory`: /proc/PID/mem of the target, -1: none. `together`: the thread is
 * to be kept on one processor with us, until spi_first_part(), which must come
 * before it can start threads.
 */
void spi_first_open(struct spi_first *f, int memory, bool together);
void spi_first_close(struct spi_first *f);

/* Thread `tid` is about to be stopped. */
void spi_first_take(struct spi_first *f, pid_t pid, pid_t tid);
void spi_first_part(struct spi_first *f);
/* The thread runs on its own again: its own place in line, and ours unless `stays`. */
void spi_first_give_back(struct spi_first *f);

#endif /* SPI_INJECTOR_INJECT_PRIORITY_H */
