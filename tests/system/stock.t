#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 180
#
# Stock clients only: `lttng enable-event -u 'spi:...'` makes the daemon with the
# plugin instrument unmodified programs, from main()'s first line on; also after
# save and load in a fresh daemon, by a trigger, in a snapshot, under a tracker.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
spi_app
spi_sessiond
export LTTNG_UST_REGISTER_TIMEOUT=-1

quiet lttng create one -o "$PWD/one"
check "a stock client makes a rule" lttng enable-event -u 'spi:app_*'
quiet lttng add-context -u -t vpid
quiet lttng start
is "$(./app 10)" $'begun\nsum 133' "the program's output"
quiet lttng stop
check "save" lttng save one -o "$PWD/saved"
quiet lttng destroy one
is "$(spi_count one app_first_entry)" 1 "main()'s first call is there"
is "$(spi_count one app_work_entry)" 10 "all calls"
is "$(spi_count one app_work_exit)" 10 "and returns"
like "$(grep app_first_entry one.txt)" 'value = 42' "with arguments"
like "$(grep app_first_exit one.txt)" 'ret = 43' "and results"
like "$(grep -m 1 app_work_entry one.txt)" 'number = 0, text = "text"' "strings"
is "$(./app 1)" $'begun\nsum 43' "without a rule any more"

kill "$sessiond"
spi_wait 10 sh -c '! pgrep -f "lttng-(sessiond|consumerd|runas)"'
spi_wait 5 test ! -e /run/lttng/spi-status
ok $? "nothing is left of the first daemon"
spi_sessiond
mv one first
check "load" lttng load -i "$PWD/saved" one
quiet lttng start
./app 3 >/dev/null
quiet lttng stop
quiet lttng destroy --all
is "$(babeltrace2 one 2>/dev/null | grep -c app_work_entry)" 3 "a loaded session's rules instrument"

gcc -o notifications "$SPI_TOP_SRCDIR/tests/programs/notifications.c" -llttng-ctl
quiet lttng add-trigger --name seen --condition event-rule-matches --type user --name 'spi:app_work_entry' \
	--filter 'number == 4' --capture number --action notify
./notifications 1 >notes &
listener=$!
spi_wait 10 file_has notes ready
./app 6 >/dev/null
spi_wait 10 pid_gone "$listener"
kill "$listener" 2>/dev/null
wait "$listener" 2>/dev/null
like "$(cat notes)" '[su]:4' "a trigger on an entry reaches its client, with a captured argument"
quiet lttng remove-trigger seen

quiet lttng create snap --snapshot -o "$PWD/snap"
quiet lttng enable-event -u 'spi:app_first_entry'
quiet lttng start
./app 1 >/dev/null
quiet lttng snapshot record
quiet lttng destroy snap
is "$(babeltrace2 snap 2>/dev/null | grep -c app_first_entry)" 1 "a snapshot has the call"

quiet lttng create track -o "$PWD/track"
quiet lttng enable-event -u 'spi:app_*'
quiet lttng track -u --vpid 999999
quiet lttng start
./app 1 >/dev/null
quiet lttng destroy track
is "$(babeltrace2 track 2>/dev/null | grep -c app_)" 0 "a process that is not tracked"
spi_status >status.txt
unlike "$(cat status.txt)" $'\napplied\t' "nothing stays instrumented"
tap_done
