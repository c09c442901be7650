/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of this room share: connections of agents, their children's, and what agents say. */
#ifndef SPI_INJECTOR_CONNECTIONS_INTERNAL_H
#define SPI_INJECTOR_CONNECTIONS_INTERNAL_H

#include "injector/control/internal.h"
#include "injector/serve/serve.h"

/* clock-floor.c: a descriptor that is the caller's of what this user's programs share, or -1 */
int spi_floor_fd(struct spi_control *control, uid_t uid);
void spi_floors_free(struct spi_control *control);

/* nursery.c: 0; or -EPERM, it is not whom it could be */
int spi_nursery_open(const struct spi_agent *parent, int *fd);	/* -1 when it was taken over */
void spi_nurseries_reap(struct spi_control *control);
void spi_nurseries_free(struct spi_control *control);
int spi_child_take_name(struct spi_agent *agent);

/* ---- directory.c: fill in `directory`, `path` and `directory_lock`, or a negative errno; and remove what they name ---- */
int spi_control_directory_make(struct spi_control *control, const char *base);
void spi_control_directory_remove(struct spi_control *control);

/* ---- messages.c ---- */

/* What it said, `size` bytes and a NUL behind them; *fd, or -1, came along, and is the caller's unless set to -1. 0, or its connection is to end. */
int spi_agent_take(struct spi_agent *agent, char *packet, size_t size, int *fd);

/* ---- connection.c ---- */

void spi_agent_free(struct spi_control *control, struct spi_agent *agent);
int spi_agent_take_over(struct spi_agent *fresh);	/* what `fresh` is to end with */
void spi_agents_reap(struct spi_control *control);	/* on_gone for those whose connection is over; free them */

/* first-thread.c: from now on, as long as there are agents, look for processes whose first thread has ended. */
void spi_first_ended_watch(struct spi_control *control);

#endif /* SPI_INJECTOR_CONNECTIONS_INTERNAL_H */
