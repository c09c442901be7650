#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Where the kernel's clock is not the TSC, records have clock_gettime()'s time:
# compact ones expand to the plain tree all the same, under a storm of signals, too.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
spi_daemon
export LTTNG_SPI_TEST_NO_TSC=1
spi_cc ways "$SPI_TOP_SRCDIR/tests/programs/ways.cc"
for way in 'nest 100' 'throw 50' 'jump 50' 'thread 30' 'signal 50'; do
	compact_is_plain $way
done
spi_cc ways "$SPI_TOP_SRCDIR/tests/programs/ways.cc" -fno-optimize-sibling-calls
storm_is_whole $((SPI_SOAK ? 3000000 : 60000))
tap_done
