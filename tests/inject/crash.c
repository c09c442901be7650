/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A library whose constructor crashes. */
#include <stddef.h>

__attribute__((constructor)) static void crash(void)
{
	*(volatile int *) NULL = 1;
}
