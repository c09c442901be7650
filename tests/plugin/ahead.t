#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 90
#
# An application whose registration the daemon works through is first in line for a
# processor: lttng-ust's threads only, not for long, not when they compute, and
# neither the plugin's nor the daemon's end leaves any of them there, nor the program
# that one of them executes, nor another name.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
[ "${SPI_OUTER_UID:-$(id -u)}" = 0 ] || skip_all "only root may put threads first in line"
spi_private "$@"
plugin_build
spi_cc idler "$SPI_PROGRAMS/idler.c" -D_GNU_SOURCE -pthread
chrt --rr 1 true 2>chrt.log || { skip "threads first in line" "$(cat chrt.log)"; tap_done; exit; }

# policies PID - of its threads: name, policy, nice; a line each
policies() {
	local task
	for task in /proc/"$1"/task/*; do
		sed 's/^[0-9]* (\(.*\)) /\1 /' "$task/stat" | awk '{ print $1, $40, $18 }'
	done
}
# comes_ahead PID [NAME] - in time two of its threads are ahead, if only for the third of a second that a turn takes, in which no other
# program is sure to start; a rule that waits for libraries has brought more of that name. NAME: how their names end
comes_ahead() {
	local until=$((SECONDS + 6 * SPI_PATIENCE)) seen stat line fields
	while [ "$SECONDS" -lt "$until" ]; do
		seen=0
		for stat in /proc/"$1"/task/*/stat; do
			read -r line <"$stat" || continue
			read -ra fields <<<"${line##*) }"
			[[ ${line%) *} != *"${2--ust}" || ${fields[38]} != 2 ]] || ((seen++))
		done 2>/dev/null
		[ "$seen" -lt 2 ] || return 0
	done
	return 1
}
# ordinary PID - a condition for spi_wait: none of its threads is ahead
ordinary() { [ "$(policies "$1" | awk '$2 != 0' | wc -l)" = 0 ] && [ -e "/proc/$1/stat" ]; }

# both_named PID - a condition for spi_wait: its two threads of lttng-ust are there, with their names, which each gives itself
both_named() { [ "$(policies "$1" | grep -c '^[^ ]*-ust ')" = 2 ]; }

plugin_daemon "all delay=500"
record s
# Stopped while it is held, it keeps the daemon waiting in its turn. The first one of its threads may be held before the other is there.
nice -n 5 ./app 1 >app.out 2>app.err &
app=$!
spi_wait 5 log_counts ^HELD 1
spi_wait 5 both_named "$app"
kill -STOP "$app"
check "whose turn it is has lttng-ust's threads first in line" comes_ahead "$app"
is "$(policies "$app" | awk '$1 !~ /-ust$/ { print $2 }' | sort -u)" 0 "and no other thread"
check "not for long, when the daemon has to wait all the same" spi_wait 5 ordinary "$app"
is "$(policies "$app" | awk '{ print $3 }' | sort -u)" 5 "its nice value is as it was"
kill -CONT "$app"
wait "$app"
is $? 0 "the application ends well"
is "$(recorded s)" 1 "and is traced"

socket=$(ls -d /run/lttng/lttng-ust-sock-*)
# idle MODE NAME - an application that never answers, for as long as its turn may take; its pid in $idler
idle() {
	rm -f "$2.end"
	idle_of "$1" "$2"
}
# idle_of MODE NAME - the same, and NAME.end may be there already
idle_of() {
	./idler "$socket" "$1" "$PWD/$2.end" >"$2.out" 2>"$2.err" &
	idler=$!
}
: >plugin.log
idle spin first
check "who computes there is put back" spi_wait 10 file_has plugin.log "process $idler: its threads of lttng-ust compute"
check "all its threads" spi_wait 5 ordinary "$idler"
touch first.end
wait "$idler"
spent=$(cat first.out)
[ "$spent" -gt 0 ]
ok $? "after they were first in line" || diag "$spent ms"
spi_soon "$spent" 500 "and for a short time"
spi_wait 10 lttng list
before=$(count_log ^HELD)
idle spin second
spi_wait 5 log_counts ^HELD $((before + 1))
spi_wait 2 false	# held for half a second, and then the daemon's
touch second.end
wait "$idler"
is "$(cat second.out)" 0 "its user's next one is not put first in line at all"

# executed PID - a condition for spi_wait: it is sleep(1) by now
executed() { [ "$(cat "/proc/$1/comm")" = sleep ]; }
# Whoever has computed is forgotten with the daemon.
kill "$daemon"
spi_wait 10 pid_gone "$daemon"
plugin_daemon "all delay=500"
record t
touch exec.end
idle_of exec exec
check "a thread that is ahead executes a program" spi_wait 10 executed "$idler"
check "which does not stay ahead" spi_wait 5 ordinary "$idler"
kill "$idler"

# The daemon is killed in the middle of a turn: the broker remains for long enough.
kill "$daemon"
spi_wait 10 pid_gone "$daemon"
unset LTTNG_SPI_BROKER
# daemon_again - with our broker, and a rule that concerns everybody
daemon_again() {
	LTTNG_SPI_DEBUG=$SPI_TMP/plugin.log "$SPI_PLUGIN_DIR/spi-sessiond" --no-kernel --daemonize >sessiond.log 2>&1
	daemon=$(cat /run/lttng/lttng-sessiond.pid)
	spi_wait 10 test -S /run/lttng/spi-status
	lttng create "$1" --output="$PWD/$1" >lttng.log 2>&1 && lttng enable-event -u 'spi:nothing_entry' >>lttng.log 2>&1
}
no_broker() { ! pgrep -x spi-broker; }
daemon_again spi
idle sleep third
check "the next daemon does the same" comes_ahead "$idler"
kill -KILL "$daemon"
check "and when it is killed meanwhile, they are put back" spi_wait 5 ordinary "$idler"
touch third.end
wait "$idler"
spi_wait 10 no_broker
daemon_again named
idle rename fourth
check "those with another name by now" comes_ahead "$idler" another
kill -KILL "$daemon"
check "are put back, too" spi_wait 5 ordinary "$idler"
touch fourth.end
wait "$idler"
spi_wait 10 no_broker
daemon_again executed
idle exec fifth
check "one is ahead" comes_ahead "$idler"
kill -STOP "$daemon"
touch fifth.end
check "executes a program" spi_wait 5 executed "$idler"
kill -KILL "$daemon"
check "and is put back" spi_wait 5 ordinary "$idler"
kill "$idler"
tap_done
