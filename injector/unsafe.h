/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The code of a process in which a thread must not be when it is made to call dlopen(). Internal to the injector. */
#ifndef SPI_INJECTOR_UNSAFE_H
#define SPI_INJECTOR_UNSAFE_H

#include "injector/target.h"

enum spi_unsafe_rule {
	SPI_UNSAFE_ALWAYS,
	SPI_UNSAFE_UNLESS_WAITING,	/* while it waits in the kernel, it holds nothing */
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

/* Find them all. What cannot be read is left out. */
void spi_unsafe_collect(struct spi_unsafe *unsafe, const struct spi_target *target);

#endif /* SPI_INJECTOR_UNSAFE_H */
