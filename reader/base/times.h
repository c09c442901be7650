/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Many durations: their number, sum, least and most, and quantiles from a histogram whose classes are at most 1.6 % wide. */
#ifndef SPI_READER_TIMES_H
#define SPI_READER_TIMES_H

#include <stdint.h>

/* Begins zeroed, but for min = INT64_MAX. */
struct times {
	uint64_t count;
	int64_t sum, min, max;		/* ns */
	uint32_t *classes;		/* how many took so long; from the first block on */
	uint32_t first_class, class_count;
};

/* 0 or -ENOMEM. */
int times_add(struct times *times, int64_t ns);
/* What a share of them did not exceed, in ns; 0: there is none. */
int64_t times_quantile(const struct times *times, double share);
void times_free(struct times *times);

#endif /* SPI_READER_TIMES_H */
