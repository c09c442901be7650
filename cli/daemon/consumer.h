/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The consumer daemon, which takes what programs record out of their buffers. */
#ifndef SPI_CLI_DAEMON_CONSUMER_H
#define SPI_CLI_DAEMON_CONSUMER_H

/*
 * consumer_open() - a pidfd of the session daemon's consumer daemon for user space, which is readable when that has ended;
 * -1: none is known. There is one from the first channel on.
 */
int consumer_open(void);

/* CONSUMER_GONE - what there is to do about it. */
#define CONSUMER_GONE "LTTng's consumer daemon has ended: restart the session daemon, which starts no other"

/* consumer_remedy() - what to add to the message of an error of liblttng-ctl's that comes of it, or "". */
const char *consumer_remedy(int code);

#endif /* SPI_CLI_DAEMON_CONSUMER_H */
