#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A signal handler that is traced itself comes 20 000 times a second, at any
# instruction of a loop that is traced: not one record is lost or doubled.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
spi_daemon
spi_cc ways "$SPI_TOP_SRCDIR/tests/programs/ways.cc" -fno-optimize-sibling-calls
storm_is_whole $((SPI_SOAK ? 30000000 : 60000))
tap_done
