#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Floating point: parameters and results in xmm registers and st(0), of a libm
# function found by name and of the program's own; computing goes on undisturbed.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >sum.c <<'C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noipa)) double weigh(float a, double b, int n, long double c)
{
	return a * b + n + (double) c;
}
__attribute__((noipa)) long double widen(double a)
{
	return a / 2;
}
int main(void)
{
	double sum = 0;
	for (int i = 0; i < 1000; i++)
		sum += weigh(1.5f, i * 0.25, i, 0.125L) * (double) widen(i);
	printf("%.17g\n", sum);
	return 0;
}
C
spi_cc sum ./sum.c
./sum >plain
spi_trace_ok "float, double and long double" -f weigh -f widen -o t ./sum
same_file trace.out plain "the sum, to the last digit"
is "$(spi_count t weigh_entry) $(spi_count t widen_exit)" "1000 1000" "each call"
like "$(grep -a weigh_entry t.txt | sed -n 5p)" 'a = 1.5, b = 1, n = 4, c = 0.125' \
	"the parameters of the fifth call"
like "$(grep -a weigh_exit t.txt | sed -n 5p)" 'ret = 5.625' "its result"
like "$(grep -a widen_exit t.txt | sed -n 6p)" 'ret = 2.5' "a result in st(0)"
tap_done
