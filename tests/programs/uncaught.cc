/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Throws what nobody catches, below seven calls. */
__attribute__((noinline)) static int level(int n)
{
	if (!n)
		throw n;
	return level(n - 1) + 1;
}

int main()
{
	return level(5);
}
