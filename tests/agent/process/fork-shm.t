#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 60
#
# A process that is forked where lttng-ust's files in /dev/shm are missing (after a change of
# the mount namespace or of the user): lttng-ust's constructor forks then, within fork().
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc fork-shm fork-shm.c -O1
./fork-shm >plain.out
for options in "-f work" --tree "--tree --compact"; do
	read -ra list <<<"$options"
	spi_trace "${list[@]}" -o "t${options// /}" ./fork-shm >traced.out </dev/null
	is $? 0 "$options: status"
	same_file traced.out plain.out "$options: output"
done
is "$(spi_count "t-fwork" work_entry)" 3 "the children are traced"
tap_done
