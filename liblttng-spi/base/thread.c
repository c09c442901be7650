/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What each thread has of the agent's (point.h). Initialised in the image, so it is good before any code of the agent's runs in the thread. */
#include "liblttng-spi/point.h"

SPI_EXPORT __thread struct spi_thread spi_thread __attribute__((tls_model("initial-exec"))) = { .owed = SPI_THREAD_MARK | SPI_THREAD_NEW };
