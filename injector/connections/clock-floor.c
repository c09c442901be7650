/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a user's programs share: for their clocks (tp/clock/clock.c) a number, as they write into the
 * same buffers, which LTTng makes for each user; and how far channels between them have come
 * (liblttng-spi/ipc/). The memory is a memfd of ours that nobody can shrink or grow; WELCOME carries it. Another user's programs have another
 * page: a program that writes nonsense there spoils the time stamps of its own user alone, as it
 * could spoil those buffers.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "injector/connections/internal.h"
#include "liblttng-spi/base/agent-proto.h"

#define FLOORS_MAX	256u	/* users at a time; programs of more do without */

struct spi_floor {
	struct spi_floor *next;
	uid_t uid;
	int fd;
};

static int floor_create(void)
{
	int fd = memfd_create("lttng-spi-clock", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	if (ftruncate(fd, SPI_FLOOR_SIZE) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		close(fd);
		return -1;
	}
	return fd;
}

int spi_floor_fd(struct spi_control *control, uid_t uid)
{
	struct spi_floor *floor = control->floors;
	unsigned int count = 0;

	for (; floor && floor->uid != uid; floor = floor->next)
		count++;
	if (!floor) {
		floor = count < FLOORS_MAX ? calloc(1, sizeof(*floor)) : NULL;
		if (!floor)
			return -1;
		floor->fd = floor_create();
		if (floor->fd < 0) {
			free(floor);
			return -1;
		}
		floor->uid = uid;
		floor->next = control->floors;
		control->floors = floor;
	}
	return fcntl(floor->fd, F_DUPFD_CLOEXEC, 3);
}

void spi_floors_free(struct spi_control *control)
{
	while (control->floors) {
		struct spi_floor *floor = control->floors;

		control->floors = floor->next;
		close(floor->fd);
		free(floor);
	}
}
