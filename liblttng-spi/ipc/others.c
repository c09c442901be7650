/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What programs tell each other by other ways than calls that send and receive: it is not recorded, and the user is
 * told, once a process. Looked for where the process ends or executes another program: nothing of it comes by a
 * function of libc's.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/ipc/internal.h"

/* Memory with a name that other processes can open, but for the tracer's. */
static int is_shared(const char *path)
{
	static const char *const tracers[] = {"/dev/shm/shm-ust", "/dev/shm/shm-event-notifier", "/dev/shm/lttng",
		"/dev/shm/ust", "/memfd:lttng", "/memfd:spi-", NULL};

	for (uint32_t i = 0; tracers[i]; i++)
		if (!strncmp(path, tracers[i], strlen(tracers[i])))
			return 0;
	return !strncmp(path, "/dev/shm/", 9) || !strncmp(path, "/SYSV", 5) || !strncmp(path, "/memfd:", 7);
}

static int has_memory(void)
{
	struct spi_maps maps;
	struct spi_vma vma;
	char path[64];
	int has = 0;

	if (spi_maps_open(&maps) < 0)
		return 0;
	while (!has && spi_maps_next(&maps, &vma))
		has = spi_maps_path(&maps, path, sizeof(path)) && is_shared(path);
	spi_maps_close(&maps);
	return has;
}

static int has_ring(void)
{
	static const char ring[] = "anon_inode:[io_uring]";
	char directory[SPI_PROC_PATH], target[sizeof(ring)];
	struct spi_numbers fds;
	int has = 0;

	if (spi_numbers_open(&fds, spi_proc_path(directory, "fd")) < 0)
		return 0;
	while (!has && spi_numbers_next(&fds))
		has = spi_raw4(SYS_readlinkat, (uint64_t) fds.dir, (uint64_t) fds.name, (uint64_t) target,
			      sizeof(target)) == sizeof(ring) - 1 &&
		      !memcmp(target, ring, sizeof(ring) - 1);
	spi_numbers_close(&fds);
	return has;
}

void spi_ipc_others_look(void)
{
	if (has_ring())
		spi_ipc_not_followed(SPI_IPC_NOT_RING);
	if (has_memory())
		spi_ipc_not_followed(SPI_IPC_NOT_SHARED);
}
