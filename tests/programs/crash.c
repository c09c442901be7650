/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A library whose constructor crashes. */
static int *volatile nowhere;

__attribute__((constructor)) static void crash(void)
{
	*nowhere = 1;
}
