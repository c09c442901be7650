#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
# soak-timeout: 900
#
# Many programs start at once under a rule, and somebody gives commands meanwhile:
# every program is traced from main() on, none is late, and every command works. In soak:
# 10 times 300 programs, and no command takes 100 ms more than the longest that asks the daemon nothing.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
spi_app
spi_cc crowd "$SPI_PROGRAMS/crowd.c" -D_GNU_SOURCE
spi_sessiond
at_once=${SPI_SOAK:+300} at_once=${at_once:-60}
rounds=${SPI_SOAK:+10} rounds=${rounds:-2}
asked=("lttng list" "lttng list storm" "$SPI_TOP_BUILDDIR/cli/lttng list --spi")
sessions=("lttng create other" "lttng enable-event -s other -u other:*" "lttng disable-event -s other -u other:*"
	"lttng destroy other")

quiet lttng create storm -o "$PWD/storm"
quiet lttng enable-event -s storm -u 'spi:app_first_*'
quiet lttng start storm
./app 1 >/dev/null

# crowd NAME COMMAND... - the programs, and the commands by turns; what they took in NAME.times
crowd() {
	local name=$1
	shift
	printf '%s\n' "$@" "lttng --version" | ./crowd "$at_once" ./app 1 >"$name.times" 2>"$name.err"
	[ "$(awk '{ failed += $4 } END { print failed + 0 }' "$name.times")" = 0 ] && ! [ -s "$name.err" ]
}
# worst FILE REGEX - of those commands, whole milliseconds
worst() { awk -v what="$2" '$0 ~ what && $3 + 0 > most { most = $3 + 0 } END { print int(most) }' "$1"; }
# told FILE - the figures, in a diagnostic
told() { diag "$(awk '{ sub(".*/", "", $5); printf("%s %s: %s times, median %s ms, worst %s; ", $5, $6, $1, $2, $3) }' "$1")"; }

failed=0 slowest=0 usual=0 longest=0
for ((round = 0; round < rounds; round++)); do
	crowd list "${asked[@]}" || { failed=$((failed + 1)); diag "$(cat list.times list.err)"; }
	told list.times
	took=$(worst list.times ' list')
	[ "$took" -le "$slowest" ] || slowest=$took
	took=$(worst list.times ' programs')
	[ "$took" -le "$longest" ] || longest=$took
	took=$(worst list.times '--version')
	[ "$took" -le "$usual" ] || usual=$took
done
is "$failed" 0 "$rounds times $at_once programs at once: they and the commands end well"
[ "$slowest" -gt 0 ]
ok $? "lists are answered meanwhile"
spi_soon "$slowest" $((100 + usual)) "a list, at most"

crowd change "${sessions[@]}"
ok $? "sessions are made and removed meanwhile" || diag "$(cat change.times change.err)"
told change.times

quiet lttng destroy storm
is "$(spi_count storm app_first_entry)" $((at_once * (rounds + 1) + 1)) "each program is traced from main() on"
late=$(spi_status | grep -c 'first calls may be missing')
if [ "$late" -gt 0 ] && [ "$longest" -ge 1000 ]; then
	skip "and none was late" "this machine took $longest ms for one, from its start to its end"
else
	is "$late" 0 "and none was late"
fi
tap_done
