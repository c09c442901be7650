/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <errno.h>
#include "liblttng-spi/ipc/internal.h"

int spi_ipc_align(const struct spi_msg_channel *channel)
{
	(void) channel;
	return -ENOENT;
}

struct spi_ipc_channel *spi_ipc_channel_by_key(uint64_t key) { (void) key; return NULL; }
void spi_ipc_record_peer(const struct spi_ipc_channel *channel, int32_t pid, const char *name, int32_t status, const char *reason, uint64_t took)
{ (void) channel, (void) pid, (void) name, (void) status, (void) reason, (void) took; }
void spi_ipc_receive_over(const struct spi_ipc_receive *receive, int64_t result) { (void) receive, (void) result; }
int spi_ipc_is_channel(int fd) { (void) fd; return 0; }
