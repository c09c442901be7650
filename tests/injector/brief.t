#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 100
#
# A process that ends while it is being injected, in the middle of a stop or not, has ended for its parent at once.
. "${SPI_TOP_SRCDIR:?}/tests/lib/injector.sh"
spi_private "$@"
prepare
build brief brief.c -pthread
n=60
[ -z "${SPI_SOAK:-}" ] || n=1000
"$SPI_TMP/brief" "$n" "$inject" --deadline 3000 pid >most 2>inject.err
is $? 0 "children that end"
most=$(tail -n 1 most)
spi_soon "$most" 1000 "each was to be waited for at once"
tap_done
