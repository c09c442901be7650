#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 180
#
# Without a rule of ours the daemon with the plugin is the stock daemon: the same
# commands print the same, exit with the same status and record the same events.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
spi_app
export LTTNG_UST_REGISTER_TIMEOUT=-1
here=$PWD

# say COMMAND... - what it prints and its status, into the record of this run
say() {
	local out status
	out=$("$@" 2>&1)
	status=$?
	printf '$ %s\n%s\n[%d]\n' "$*" "$out" "$status"
}

# the events of a trace without their times and process numbers
events_of() {
	babeltrace2 --no-delta "$1" 2>/dev/null | sed 's/^\[[^]]*\] //; s/{ cpu_id = [0-9]* }, //' || :
}

recording() {
	say lttng create rec -o "$run/rec"
	say lttng enable-event -u 'app:*'
	say lttng add-context -u -t procname
	say lttng start
	say ./app 5
	say lttng stop
	say lttng list rec
	say lttng save rec -o "$run/saved"
	say lttng destroy rec
	events_of "$run/rec"
	say lttng load -i "$run/saved" rec
	say lttng list rec
	say lttng destroy --all
}

snapshots() {
	say lttng create snap --snapshot -o "$run/snap"
	say lttng enable-event -u 'app:*' --filter 'number > 1'
	say lttng start
	say ./app 4
	quiet lttng snapshot record && echo recorded
	say ./app 4
	quiet lttng snapshot record && echo recorded
	say lttng snapshot list-output
	say lttng destroy snap
	events_of "$run/snap" | sort
}

rotations() {
	say lttng create rot -o "$run/rot"
	say lttng enable-event -u 'app:tick'
	say lttng start
	say ./app 2
	quiet lttng rotate && echo rotated
	say ./app 3
	say lttng stop
	quiet lttng destroy rot && echo destroyed
	find "$run/rot/archives" -mindepth 1 -maxdepth 1 -type d | wc -l
	events_of "$run/rot"
}

trackers() {
	say lttng create trk -o "$run/trk"
	say lttng enable-event -u 'app:*'
	say lttng track -u --vpid 999999
	say lttng start
	say ./app 3
	say lttng track -u --all --vpid
	say ./app 2
	say lttng list trk
	say lttng destroy trk
	events_of "$run/trk"
}

triggers() {
	say lttng add-trigger --name seen --condition event-rule-matches --type user --name 'app:tick' \
		--filter 'number == 2' --capture number --action notify
	say lttng list-triggers
	lttng listen seen >"$run/listen" 2>&1 &
	listener=$!
	spi_wait 10 file_has "$run/listen" 'listening|Waiting|^' || :
	say ./app 4
	say lttng remove-trigger seen
	say lttng list-triggers
	kill "$listener" 2>/dev/null
	wait "$listener" 2>/dev/null
}

live() {
	lttng-relayd >/dev/null 2>&1 &
	relayd=$!
	spi_wait 10 babeltrace2 --input-format=lttng-live net://localhost
	say lttng create liv --live --set-url=net://localhost
	say lttng enable-event -u 'app:*'
	say lttng start
	say ./app 3
	say lttng stop
	babeltrace2 --input-format=lttng-live 'net://localhost' 2>&1 | sed 's/^[^ ]* *[^ ]* *//' | grep -o 'liv'
	quiet lttng destroy liv && echo destroyed
}

refusals() {
	say lttng start nosuch
	say lttng enable-event -u
	say lttng list nosuch
	say lttng create -x
	say lttng version
	say lttng status
	say lttng list
}

# run NAME - the whole of it against the daemon that runs now, with what differs from run to run taken out
run() {
	run=$here/$1
	mkdir -p "$run"
	{
		recording
		snapshots
		rotations
		trackers
		triggers
		live
		refusals
	} >"$1.raw" 2>&1
	sed -e "s,$run,RUN,g" -e 's/\(Waiting for data availability\|Destroying session [a-z]*\)\.*$/\1/; s/[0-9]\{8\}[-T][0-9]\{6\}[^ ]*/TIME/g' "$1.raw" >"$1.txt"
	rm -rf "$HOME/.lttngrc"
}

# its consumer daemons go a little later, and would hold the next ones' sockets
daemon_gone() {
	[ ! -e "$(spi_rundir)/lttng-sessiond.pid" ] && ! pgrep -f 'lttng-(sessiond|consumerd|runas)' && ! pgrep -x lttng-relayd
}

stop_daemon() {
	kill "$relayd" 2>/dev/null
	kill "$(cat "$(spi_rundir)/lttng-sessiond.pid")"
	spi_wait 10 daemon_gone
	ok $? "the $1 daemon ends"
}

spi_daemon
spi_wait 10 test -s "$(spi_rundir)/lttng-sessiond.pid"
run stock
stop_daemon stock
spi_sessiond
run plugin
stop_daemon plugin
[ "$(wc -l <stock.txt)" -gt 150 ]
ok $? "the stock run has its lines" || diag "$(tail -n 30 stock.txt)"
same_file stock.txt plugin.txt "every command's output and status, and every event"
spi_wait 5 test ! -e "$(spi_rundir)/spi-status"
ok $? "the broker went with its daemon"
tap_done
