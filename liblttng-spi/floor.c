/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The page that the clocks of a user's programs share (tp/clock.c), as the
 * controller hands it out. Only a memfd that can never shrink under us is mapped. A
 * forked child has its parent's; a program that was executed is given it anew. What
 * was mapped stays: a thread may be looking there.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "liblttng-spi/agent-proto.h"
#include "liblttng-spi/core.h"

#define MOST	64u	/* controllers that come one after the other */

static uint64_t *shared;
static uint64_t shared_device, shared_inode;
static uint32_t taken;

void spi_floor_tell(void)
{
	if (shared && spi_payload && spi_payload->set_clock_floor)
		spi_payload->set_clock_floor(shared);
}

void spi_floor_take(int fd)
{
	struct stat st;
	long seals, page;

	if (fd < 0)
		return;
	seals = spi_sys(SYS_fcntl, (long) fd, (long) F_GET_SEALS);
	if (taken < MOST && seals >= 0 && (seals & F_SEAL_SHRINK) && spi_sys(SYS_fstat, (long) fd, &st) == 0 &&
			st.st_size >= SPI_FLOOR_SIZE && (!shared || st.st_ino != shared_inode || st.st_dev != shared_device)) {
		page = spi_sys(SYS_mmap, NULL, (long) SPI_FLOOR_SIZE, (long) (PROT_READ | PROT_WRITE), (long) MAP_SHARED, (long) fd, 0L);
		if (page > 0 || page < -4096) {
			shared = (uint64_t *) page;
			shared_device = st.st_dev;
			shared_inode = st.st_ino;
			taken++;
			spi_floor_tell();
		}
	}
	spi_sys(SYS_close, (long) fd);
}
