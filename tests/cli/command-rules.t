#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng trace COMMAND` of a program that is linked with lttng-ust, under a rule of the
# session daemon: its agent is there before lttng-ust registers, and has not begun. The
# front end has the program; the daemon's rule is told of as missed, and nobody waits
# for anybody.
. "${SPI_TOP_SRCDIR:?}/tests/broker/lib.sh"
spi_private "$@"
broker_setup
record s 'spi:add_entry'
for run in 1 2 3; do
	timeout -k 1 20 "$SPI_LTTNG" trace -f work -o "t$run" ./app 5 >out 2>err
	is $? 0 "run $run ends well" || diag "$(cat err)"
	is "$(spi_count "t$run" work_entry)" 5 "with its calls"
done
check "the rule of the daemon is told of" spi_wait 10 status_like '^process.*ended.app.*already has a controller'
./app 7
timeout -k 1 20 "$SPI_LTTNG" trace --tree=main --lib app -o tree ./app 5 >out 2>err
is $? 0 "a call tree ends well" || diag "$(cat err)"
recorded s
is "$(spi_count s add_entry)" 7 "programs that nobody else traces have the rule"
tap_done
