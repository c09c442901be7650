/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Who talks to the broker: the session daemon's plugin, and `lttng list --spi`. For the broker's one thread. Each
 * function returns 0 or a negative errno.
 */
#ifndef SPI_BROKER_IO_IO_H
#define SPI_BROKER_IO_IO_H

int link_open(void);		/* link.c: what the plugin sends */
void rundir_close(void);	/* rundir.c: the sockets beside the daemon's */
void version_stop(void);	/* daemon-version.c: asking for it */

#endif /* SPI_BROKER_IO_IO_H */
