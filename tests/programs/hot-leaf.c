/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The hot function of hot.c: a nanosecond. A unit of its own, so that it is really called. */
unsigned long leaf(unsigned long x);

unsigned long leaf(unsigned long x)
{
	return x * 6364136223846793005ul + 1;
}
