/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A library that is stripped: through() calls back, by two functions that nothing but .eh_frame tells of. */
static __attribute__((noinline)) int inner(int (*callback)(void), int n)
{
	volatile int kept[40];
	int r;

	kept[n] = n;
	r = n ? inner(callback, n - 1) : callback();
	return r + kept[n];
}

int through(int (*callback)(void));
int through(int (*callback)(void))
{
	int r = inner(callback, 3);

	__asm__ __volatile__("" ::: "memory");
	return r;
}
