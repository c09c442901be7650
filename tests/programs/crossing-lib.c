/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* crossing.c's library: two of its calls go by the procedure linkage table. */
__attribute__((noipa)) int lib_inner(int a)
{
	return a * 3 + 1234567;
}

__attribute__((noipa)) int lib_outer(int a)
{
	return lib_inner(a) + lib_inner(a + 1);
}
