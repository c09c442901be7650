/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/times.h"

#define CLASS_BITS	6u		/* classes a power of two: 64 */

static uint32_t class_of(int64_t ns)
{
	const uint64_t value = ns > 0 ? (uint64_t) ns : 0;
	const unsigned int bits = value ? 64 - (unsigned int) __builtin_clzll(value) : 0;
	const unsigned int shift = bits > CLASS_BITS + 1 ? bits - CLASS_BITS - 1 : 0;

	return (shift << CLASS_BITS) + (uint32_t) (value >> shift);
}

/* The middle of a class, in ns. */
static int64_t class_value(uint32_t class)
{
	const unsigned int shift = class >> CLASS_BITS ? (class >> CLASS_BITS) - 1 : 0;
	const uint64_t low = (uint64_t) (class - (shift << CLASS_BITS)) << shift;

	return (int64_t) (low + ((UINT64_C(1) << shift) - 1) / 2);
}

int times_add(struct times *t, int64_t ns)
{
	const uint32_t class = class_of(ns);

	t->count++;
	t->sum += ns;
	if (ns < t->min)
		t->min = ns;
	if (ns > t->max)
		t->max = ns;
	if (class - t->first_class >= t->class_count) {
		/* blocks of one power of two, as far as there are any */
		uint32_t low = class & ~((1u << CLASS_BITS) - 1), high = low + (1u << CLASS_BITS);
		uint32_t *more;

		if (t->class_count && t->first_class < low)
			low = t->first_class;
		if (t->class_count && t->first_class + t->class_count > high)
			high = t->first_class + t->class_count;
		more = calloc(high - low, sizeof(*more));
		if (!more)
			return -ENOMEM;
		if (t->class_count)
			memcpy(more + (t->first_class - low), t->classes, t->class_count * sizeof(*more));
		free(t->classes);
		t->classes = more;
		t->first_class = low;
		t->class_count = high - low;
	}
	t->classes[class - t->first_class]++;
	return 0;
}

int64_t times_quantile(const struct times *t, double share)
{
	const uint64_t rank = (uint64_t) ceil((double) t->count * share);	/* the nearest one: of two, p99 is the larger */
	uint64_t seen = 0;
	int64_t value;

	if (rank >= t->count)
		return t->max;
	for (uint32_t i = 0; i < t->class_count; i++) {
		seen += t->classes[i];
		if (seen >= rank) {
			value = class_value(t->first_class + i);
			return value < t->min ? t->min : value > t->max ? t->max : value;
		}
	}
	return 0;
}

void times_free(struct times *t)
{
	free(t->classes);
}
