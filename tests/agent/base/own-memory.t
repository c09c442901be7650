#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program that has functions like memcpy() of its own: what the tracer copies is
# none of its calls.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc own own-memory.c -O1 -fno-builtin -rdynamic
./own >plain.out
for options in --tree "--tree --compact" "-f work"; do
	read -ra list <<<"$options"
	rm -rf t
	spi_trace "${list[@]}" -o t ./own >traced.out
	is $? 0 "$options: status"
	same_file traced.out plain.out "$options: how often the program's functions were called"
done
tap_done
