#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A call tree with compact records, expanded, is the plain one's: in each thread
# the same entries and exits of the same functions from the same call sites. With
# tail calls, and libraries followed.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
spi_daemon
spi_cc ways "$SPI_TOP_SRCDIR/tests/programs/ways.cc"
for way in 'nest 100' 'throw 50' 'jump 50' 'thread 30' 'ending' 'signal 50' 'exit'; do
	compact_is_plain $way
done
tap_done
