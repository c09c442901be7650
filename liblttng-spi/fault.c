/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include "liblttng-spi/patch-internal.h"

int spi_page_readable(uint64_t address)
{
	return spi_raw4(SYS_rt_sigprocmask, ~UINT64_C(0), address & ~UINT64_C(7), 0, 8) != -EFAULT;
}
