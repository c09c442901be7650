#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# micro.sh [CALLS [ROUNDS]] - micro.c under a private daemon; buffers as large as
# they need be so that nothing is lost while it measures.
. "$SPI_TOP_SRCDIR/tests/lib/tp.sh"
spi_private "$@"
tp_program micro -llttng-ust -llttng-ust-common
spi_daemon
CHANNEL='--subbuf-size=1M --num-subbuf=4' session micro 'spi:*' 'bench:*'
taskset -c "${CPU:-1}" ./micro "$@"
lttng -q destroy micro
