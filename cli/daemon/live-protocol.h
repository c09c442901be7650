/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Two questions to a relay daemon on its live port, as a viewer would ask them: is this a relay daemon
 * at all, and does it know our session, with how many viewers attached.
 */
#ifndef SPI_CLI_DAEMON_LIVE_PROTOCOL_H
#define SPI_CLI_DAEMON_LIVE_PROTOCOL_H

#define LIVE_DEFAULT_PORT 5344	/* lttng-relayd(8) */

/* live_answers() - 1 when a relay daemon listens on this port of the local host, else 0. */
int live_answers(unsigned int port);

/*
 * live_viewers() - viewers attached to a session, or a negative errno: -ENOENT
 * when the relay daemon does not know it (yet, or no more).
 */
int live_viewers(unsigned int port, const char *host, const char *session);

#endif /* SPI_CLI_DAEMON_LIVE_PROTOCOL_H */
