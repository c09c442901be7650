/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include "liblttng-spi/base/base.h"

const struct spi_payload_ops *spi_payload;
uint32_t spi_string_max;
