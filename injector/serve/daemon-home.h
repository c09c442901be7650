/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A directory through which a process in a container finds the host's session daemon. */
#ifndef SPI_INJECTOR_SERVE_DAEMON_HOME_H
#define SPI_INJECTOR_SERVE_DAEMON_HOME_H

#include <limits.h>

#define SPI_HOME_PREFIX "spi-home-"	/* of its name in the session daemon's directory */

/* Make one for the daemon whose sockets are in `daemon`; its path into home[]. 0 or a negative errno, home[0] is 0 then. */
int spi_home_make(char home[static PATH_MAX], const char *daemon);

/* A descriptor of it that is fit to be given away, or a negative errno. */
int spi_home_open(const char *home);

/* Remove it and what is in it; `name` is relative to the directory `dir`, or AT_FDCWD and absolute. */
void spi_home_remove(int dir, const char *name);

#endif /* SPI_INJECTOR_SERVE_DAEMON_HOME_H */
