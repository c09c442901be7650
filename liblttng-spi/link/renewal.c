/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A connection speaks for the user that made it. The control thread of a process that becomes another user makes another connection, through the
 * nursery, and goes on by that one when the former has ended; rules stay in force meanwhile.
 */
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/internal.h"

#define RENEW_MS	200
#define RENEW_TRIES	5

static int has_other_user(const struct spi_link *link, uint32_t *uid)
{
	uint32_t ids[3];

	if (spi_sys(SYS_getresuid, &ids[0], &ids[1], &ids[2]) < 0 || ids[0] != ids[1] || ids[0] != ids[2])
		return 0;
	*uid = ids[0];
	return *uid != link->uid && *uid != link->refused;
}

void spi_link_renewed_close(struct spi_link *link)
{
	if (!link->renewed)
		return;
	__atomic_store_n(&spi_link_renewed_fd, -1, __ATOMIC_RELEASE);
	spi_sys(SYS_close, link->renewed);
	link->renewed = 0;
}

/* 0: what the controller says by the former connection comes first; 1: that has ended, or there is no controller any more. */
static int renewal_step(struct spi_link *link, int timeout_ms)
{
	struct pollfd poll[2] = { { link->fd, POLLIN, 0 }, { link->renewed, 0, 0 } };
	int fd;
	long r = spi_sys(SYS_poll, poll, 2L, (long) timeout_ms);

	if (r <= 0)
		return 0;
	if (!poll[0].revents) {		/* it is refused */
		spi_link_renewed_close(link);
		return 1;
	}
	r = spi_link_receive(link, 0, &fd);
	if (fd >= 0)
		spi_sys(SYS_close, fd);
	if (r > 0)
		spi_link_put_aside(link, r);
	return r == 0 || !link->renewed;
}

/* 1: it goes on as that user, or will when the former connection ends. */
static int renew(struct spi_link *link, uint32_t uid)
{
	struct spi_msg_hello hello = { .pid = (int32_t) spi_sys(SYS_getpid), .flags = SPI_HELLO_RENEWS };
	uint64_t until = spi_now_ns() + RENEW_MS * UINT64_C(1000000), now;
	struct spi_link renewed = { .fd = -1 };
	int former = link->fd, is_renewed;

	spi_low_fds_hold();	/* the program gets the numbers that it would have without us */
	hello.start_time = spi_process_start_time();
	renewed.fd = spi_nursery_connect(0);
	spi_low_fds_release();
	if (renewed.fd < 0)
		return 0;
	if (spi_link_send(&renewed, SPI_MSG_HELLO, 0, &hello, sizeof(hello), "", 1, -1) < 0) {
		spi_sys(SYS_close, renewed.fd);
		return 0;
	}
	link->renewed = renewed.fd;
	__atomic_store_n(&spi_link_renewed_fd, renewed.fd, __ATOMIC_RELEASE);
	/* nobody says anything by the former connection meanwhile: the lock is held */
	while (link->renewed && (now = spi_now_ns()) < until && !renewal_step(link, (int) ((until - now) / 1000000u) + 1))
		;
	is_renewed = link->renewed || link->fd != former;
	if (is_renewed)
		link->uid = uid;
	return is_renewed;
}

/* libc makes the other threads another user before the one that asked for it, and the controller asks about the process's first. */
void spi_link_keep_user(struct spi_link *link)
{
	int is_renewed = link->renewed || spi_nursery_fd < 0;
	uint32_t uid;

	for (int i = 0; i < RENEW_TRIES && !is_renewed && has_other_user(link, &uid); i++) {
		if (i)
			spi_sleep_us(2000);
		spi_control_lock();
		is_renewed = renew(link, uid);
		spi_control_unlock();
		if (!is_renewed && i == RENEW_TRIES - 1)
			link->refused = uid;	/* until the controller asks for it */
	}
}
