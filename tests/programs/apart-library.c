/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A library for LD_PRELOAD, whose destructor comes after the agent's: it calls late_work() ten times. */
__attribute__((noipa)) int late_work(int a)
{
	return a + 1;
}

__attribute__((destructor)) static void over(void)
{
	for (int i = 0; i < 10; i++)
		late_work(i);
}
