/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A thread that waits inside lttng-ust's constructor. */
#ifndef SPI_INJECTOR_INJECT_UST_CONSTRUCTOR_H
#define SPI_INJECTOR_INJECT_UST_CONSTRUCTOR_H

#include "injector/inject/unsafe-code.h"

struct spi_constructor {
	uint64_t low, high;			/* liblttng-ust; 0: not loaded */
	uint64_t loader_low, loader_high;
	uint64_t start;				/* where the loader itself begins */
};

void spi_constructor_find(struct spi_constructor *c, const struct spi_target *target);

/*
 * spi_constructor_waits() - do these frames, innermost first, belong to a thread
 * in lttng-ust's constructor, with nothing beyond it that dlopen() could meet?
 * The caller has seen that it waits in the kernel. `unwound`: the last frame is
 * the stack's end.
 */
bool spi_constructor_waits(const struct spi_constructor *c, const struct spi_unsafe *unsafe, const struct spi_image *libc,
			   const uint64_t *frames, size_t count, bool unwound);

#endif /* SPI_INJECTOR_INJECT_UST_CONSTRUCTOR_H */
