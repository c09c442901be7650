/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#ifndef SPI_UST_NEEDS_H
#define SPI_UST_NEEDS_H

const char *spi_ust_because(void);	/* why lttng-ust must not be loaded into this process; NULL: it may be */

#endif /* SPI_UST_NEEDS_H */
