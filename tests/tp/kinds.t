#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Every kind of field, from every place, in a real trace, with the values that
# were put in; then the same as one event a call.
. "$SPI_TOP_SRCDIR/tests/tp/tp.sh"
spi_private "$@"
tp_program kinds
spi_daemon

session two 'spi:*'
out=$(./kinds) || fail "kinds runs"
trace=$(events two)
diag "$trace"
tap_done
