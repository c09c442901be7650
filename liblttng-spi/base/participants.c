/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include "liblttng-spi/base/base.h"

const struct spi_participant *spi_participants;
size_t spi_participant_count;
void (*spi_process_ends)(void);
uint32_t spi_watched;
int spi_exit_status = -1;
