/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of this room share: connections of agents, their children's, and what agents say. */
#ifndef SPI_INJECTOR_CONNECTIONS_INTERNAL_H
#define SPI_INJECTOR_CONNECTIONS_INTERNAL_H

#include "injector/control/internal.h"
#include "injector/serve/serve.h"

/* clock-floor.c: a descriptor, the caller's, of the page that this user's programs share; or -1. */
int spi_floor_fd(struct spi_control *control, uid_t uid);
void spi_floors_free(struct spi_control *control);

/* nursery.c: take the nursery that an agent gives; *fd is -1 afterwards when it was taken. 0 or a negative errno. */
int spi_nursery_open(const struct spi_agent *parent, int *fd);
void spi_nurseries_reap(struct spi_control *control);
void spi_nurseries_free(struct spi_control *control);
/* Of an agent that came by a nursery: the sender of HELLO is its process. 0; -EPERM: the sender is another user. */
int spi_child_take_name(struct spi_agent *agent);

/* ---- directory.c ---- */

/* Make the directory of the socket: fill in `directory`, `path` and `directory_lock`. 0 or a negative errno. */
int spi_control_directory_make(struct spi_control *control, const char *base);
void spi_control_directory_remove(struct spi_control *control);

/* ---- messages.c ---- */

/*
 * Act on a packet of `size` bytes, with a NUL behind them. *fd (-1: none) came along, and stays the
 * caller's unless set to -1. 0, or negative: the agent's connection is to end.
 */
int spi_agent_take(struct spi_agent *agent, char *packet, size_t size, int *fd);

/* ---- connection.c ---- */

void spi_agent_free(struct spi_control *control, struct spi_agent *agent);
int spi_agent_take_over(struct spi_agent *fresh);	/* what `fresh` is to end with */
void spi_agents_reap(struct spi_control *control);	/* on_gone for those whose connection is over; free them */

/* first-thread.c: from now on, as long as there are agents, look for processes whose first thread has ended. */
void spi_first_ended_watch(struct spi_control *control);

#endif /* SPI_INJECTOR_CONNECTIONS_INTERNAL_H */
