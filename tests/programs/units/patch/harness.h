/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The functions of funcs.S as points: hand-made code map, object, gates, a thunk that counts. */
#ifndef TESTS_PATCH_HARNESS_H
#define TESTS_PATCH_HARNESS_H

#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/patch/internal.h"
#include "liblttng-spi/patch/patch.h"

enum value { VALUE_3X, VALUE_X, VALUE_0, VALUE_3N, VALUE_K };

/* As funcs.S lays it out. */
struct func_record {
	uint64_t address;
	const struct spi_map_insn *insns, *insns_end;
	const char *name;
	int32_t value, k;
	uint32_t flags;
	uint32_t size;
};

struct test_func {
	const struct func_record *record;
	struct spi_point *point;
	long (*call)(long x, void *helper, long n);
	const char *declined;
	uint64_t calls;		/* that the thunk saw */
};

#define FUNCS_MAX 128
extern struct test_func funcs[FUNCS_MAX];
extern unsigned int funcs_count;
extern int *gates;		/* [0] and [1] of every point */
extern struct spi_object the_object;

void funcs_prepare(uint32_t workers, int two_gates);
int funcs_call(struct test_func *f, long x);	/* 1 when it returned what it should */
int funcs_all(int install);			/* how many changed */
int text_is_original(void);

void ok(int good, const char *format, ...) __attribute__((format(printf, 2, 3)));
int done_testing(void);
double now(void);

#endif /* TESTS_PATCH_HARNESS_H */
