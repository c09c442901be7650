#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 240
#
# Rules that come and go while eight busy processes run: in force within a second
# in all of them, nothing recorded that was not asked for, every entry with its
# exit, and the processes' text as in their file when the last rule has gone.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
spi_app
spi_sessiond
export LTTNG_UST_REGISTER_TIMEOUT=-1
quiet lttng create live -o "$PWD/live"
quiet lttng enable-channel -u big --subbuf-size 4M --num-subbuf 8
quiet lttng enable-event -u -c big 'app:*'
quiet lttng start

pids=()
for i in 1 2 3 4 5 6 7 8; do
	./app busy stop >"out.$i" &
	pids+=($!)
done
for i in 1 2 3 4 5 6 7 8; do
	spi_wait 20 file_has "out.$i" begun
done

# installed N FUNCTION - the broker says that so many processes have it instrumented
installed() { [ "$(spi_status | grep -P "^applied\t" | grep -cP "$2\tactive")" = "$1" ]; }

# takes NAME COMMAND... - until the condition holds, soon
takes() {
	local name=$1 start end
	shift
	start=$(date +%s%N)
	spi_wait 10 "$@"
	ok $? "$name" || diag "$(spi_status | head -n 40)"
	end=$(date +%s%N)
	spi_soon $(((end - start) / 1000000)) 1000 "$name: within a second"
}

for round in 1 2 3; do
	quiet lttng enable-event -u -c big 'spi:app_work_*'
	takes "round $round: a rule in all eight" installed 8 'app_work[^\t]*'
	quiet lttng enable-event -u -c big 'spi:app_other_*'
	takes "round $round: a second one" installed 8 'app_other[^\t]*'
	quiet lttng disable-event -u -c big 'spi:app_other_*'
	takes "round $round: disabled" installed 0 'app_other[^\t]*'
	quiet lttng disable-event -u -c big 'spi:app_work_*'
	takes "round $round: both" installed 0 'app_work[^\t]*'
done
for pid in "${pids[@]}"; do
	python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$pid" "$PWD/app" >>text.out 2>&1 || echo "differs $pid" >>text.bad
done
[ ! -e text.bad ]
ok $? "the text of each is its file's" || diag "$(tail -n 5 text.out)"
touch stop
failed=0
for pid in "${pids[@]}"; do
	wait "$pid" || failed=1
done
is "$failed" 0 "all end as ever"
quiet lttng stop
quiet lttng destroy live
spi_read live
for function in work other; do
	is "$(spi_count live app_${function}_entry)" "$(spi_count live app_${function}_exit)" "app_$function: an exit for each entry"
	[ "$(spi_count live app_${function}_entry)" -gt 100 ]
	ok $? "app_$function was recorded"
done
unlike "$(cat live.warn)" 'discarded' "nothing lost"
tap_done
