/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Bringing the plugin into a session daemon that runs already. */
#ifndef SPI_SESSIOND_ATTACH_H
#define SPI_SESSIOND_ATTACH_H

/*
 * attach_daemon() - load `plugin` into the session daemon whose pid `text` says,
 * or into this user's when it is NULL. Prints what was done, or one line of why
 * not; returns the exit status.
 */
int attach_daemon(const char *plugin, const char *text);

#endif /* SPI_SESSIOND_ATTACH_H */
