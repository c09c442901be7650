/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <errno.h>
#include "liblttng-spi/ipc/internal.h"

int spi_ipc_align(const struct spi_msg_channel *channel)
{
	(void) channel;
	return -ENOENT;
}
