#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# _exit() ends a process in the middle of its calls: status and output stay, the
# entries are there, and what exits there are belong to them.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c

./zoo _exit >plain
plain=$?
spi_trace -f 't_*' -o t ./zoo _exit >traced
is $? "$plain" "status"
same_file traced plain "output"
is "$(spi_count t t_outer_entry)" 1 "outer call recorded"
is "$(spi_count t t_leaver_entry)" 1 "inner call recorded"
check "no exit without entry" events balance t.txt --open 2
tap_done
