/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * In the place of liblttng-ust-ctl in stub-daemon.c: a registration message is
 * two 32-bit numbers, the type and a serial number, which goes where the version is.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

int lttng_ust_ctl_recv_reg_msg(int sock, int *type, uint32_t *major, uint32_t *minor, uint32_t *pid, uint32_t *ppid,
			       uint32_t *uid, uint32_t *gid, uint32_t *bits, uint32_t *a8, uint32_t *a16, uint32_t *a32,
			       uint32_t *a64, uint32_t *along, int *order, char *name);

int lttng_ust_ctl_recv_reg_msg(int sock, int *type, uint32_t *major, uint32_t *minor, uint32_t *pid, uint32_t *ppid,
			       uint32_t *uid, uint32_t *gid, uint32_t *bits, uint32_t *a8, uint32_t *a16, uint32_t *a32,
			       uint32_t *a64, uint32_t *along, int *order, char *name)
{
	uint32_t message[2];

	if (recv(sock, message, sizeof(message), MSG_WAITALL) != sizeof(message))
		return -EPIPE;
	*type = (int) message[0];
	*major = message[1];
	*minor = *pid = *ppid = *uid = *gid = *a8 = *a16 = *a32 = *a64 = *along = 0;
	*bits = 64;
	*order = 1234;
	memset(name, 0, 16);
	strcpy(name, "stub");
	return 0;
}
