#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng trace COMMAND` of a program that is linked with lttng-ust, under a rule of the
# session daemon: its agent is there before lttng-ust registers, and has not begun. The
# front end has the program; the daemon's rule is told of as missed, and nobody waits
# for anybody.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup
record s 'spi:add_entry'
for run in 1 2 3; do
	timeout -k 1 $((20 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f work -o "t$run" ./app 5 >out 2>err
	is $? 0 "run $run ends well" || diag "$(cat err)"
	is "$(spi_count "t$run" work_entry)" 5 "with its calls"
done
# One that lives until the daemon was told what became of its rule: no run of five calls is sure to be asked before its end.
mkfifo in
exec 9<>in
timeout -k 1 $((120 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f work -o waits ./app 5 wait <in 9>&- >out 2>err &
check "the rule of the daemon is told of" spi_wait 20 status_like '^process.*app.*traces it already'
exec 9>&-
wait $!
is $? 0 "the program that waited for that ends well" || diag "$(cat err)"
./app 7
timeout -k 1 $((20 * SPI_PATIENCE)) "$SPI_LTTNG" trace --tree=main --lib app -o tree ./app 5 >out 2>err
is $? 0 "a call tree ends well" || diag "$(cat err)"
recorded s
is "$(spi_count s add_entry)" 7 "programs that nobody else traces have the rule"
tap_done
