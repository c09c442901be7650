/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The code of a process in which a thread must not be when it is made to call dlopen(). */
#ifndef SPI_INJECTOR_INJECT_UNSAFE_CODE_H
#define SPI_INJECTOR_INJECT_UNSAFE_CODE_H

#include "injector/inject/target.h"

enum spi_unsafe_rule {
	SPI_UNSAFE_ALWAYS,
	/* unless it is about to enter a signal handler there, or waits in a function of libc's that the agent stands before */
	SPI_UNSAFE_AGENT,
	SPI_UNSAFE_UNLESS_WAITING,	/* while it waits in the kernel, it holds nothing */
	SPI_UNSAFE_LOADER,		/* unless it is running a constructor */
};

struct spi_unsafe_range {
	uint64_t low, high;		/* addresses */
	enum spi_unsafe_rule rule;
	const char *why;		/* what the thread is doing there: static text */
};

struct spi_unsafe {
	struct spi_unsafe_range *ranges;	/* from malloc() */
	size_t count;
};

/* The range that makes `pc` unsafe, for a thread that waits in the kernel or not; NULL: none. */
const struct spi_unsafe_range *spi_unsafe_at(const struct spi_unsafe *unsafe, uint64_t pc, bool waiting);

/* Find them all. What cannot be read is left out. */
void spi_unsafe_collect(struct spi_unsafe *unsafe, const struct spi_target *target);

#endif /* SPI_INJECTOR_INJECT_UNSAFE_CODE_H */
