/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The memory that a user's programs share, as the controller hands it out: for their clocks (tp/clock/clock.c), and for what
 * they send each other (ipc/). Only a memfd that can never shrink under us is mapped. A
 * forked child has its parent's; a program that was executed is given it anew. The next
 * controller's takes the place of the one before: a thread may be looking there.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/module/internal.h"

static uint64_t *shared;

void *spi_floor_places(void)
{
	uint64_t *floor = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);

	return floor ? (uint8_t *) floor + 4096 : NULL;
}

void spi_floor_tell(void)
{
	if (shared && spi_payload && spi_payload->set_clock_floor)
		spi_payload->set_clock_floor(shared);
}

static int is_floor(int fd)
{
	long seals = spi_sys(SYS_fcntl, (long) fd, (long) F_GET_SEALS);
	struct stat st;

	return seals >= 0 && (seals & F_SEAL_SHRINK) && spi_sys(SYS_fstat, (long) fd, &st) == 0 && st.st_size >= SPI_FLOOR_SIZE;
}

static long page_map(long flags, int fd)
{
	return spi_sys(SYS_mmap, shared, (long) SPI_FLOOR_SIZE, (long) (PROT_READ | PROT_WRITE),
		shared ? flags | MAP_FIXED : flags, (long) fd, 0L);
}

void spi_floor_take(int fd)
{
	long page;

	if (fd < 0)
		return;
	if (is_floor(fd)) {
		page = page_map(MAP_SHARED, fd);
		if (page > 0 || page < -4096) {
			__atomic_store_n(&shared, (uint64_t *) page, __ATOMIC_RELEASE);
			spi_floor_tell();
		} else if (shared) {
			page_map(MAP_PRIVATE | MAP_ANONYMOUS, -1);	/* the old one may be gone by now */
		}
	}
	spi_sys(SYS_close, (long) fd);
}
