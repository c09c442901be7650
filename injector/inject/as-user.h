/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The rights that an injector has when it meets a target. */
#ifndef SPI_INJECTOR_INJECT_AS_USER_H
#define SPI_INJECTOR_INJECT_AS_USER_H

#include <stdint.h>
#include <sys/types.h>

#include "injector/inject/inject.h"

/* Become that user for good, with no capability but these, a bit each. 0 or a negative errno. */
int spi_become(uid_t uid, gid_t gid, uint64_t capabilities);

/* spi_inject() for root, by a child that has become the target's user. 1: it is root's, and to be injected as that. */
int spi_inject_as_user(pid_t pid, const struct spi_inject_options *options, struct spi_inject_result *result);

#endif /* SPI_INJECTOR_INJECT_AS_USER_H */
