#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
# timeout: 240
#
# One user against the others, at the daemon of root: more questions than can be answered, processes that are large or keep their memory
# to themselves, answers that nobody reads. Meanwhile another user's programs begin as ever and have their rules, by the same broker,
# which does not grow.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
[ "$(id -u)" = 0 ] || skip_all "needs several users: root"
spi_private "$@"
[ "${SPI_OUTER_UID:-0}" = 0 ] || skip_all "needs several users: root"
seconds=${SPI_SECONDS:-8}
chmod 755 .
as_a() { (cd / && exec setpriv --reuid 2001 --regid 2001 --clear-groups "$@"); }
# one that the system knows: lttng-sessiond asks for its name
as_b() { setpriv --reuid 2 --regid 2 --clear-groups "$@"; }
crowding() { as_a timeout 100 /usr/bin/python3 "$SPI_PROGRAMS/crowding.py" "$@"; }
spi_app
gcc -O1 -o held-memory "$SPI_PROGRAMS/held-memory.c" -lpthread
said=$(as_b ./app 1)
spi_sessiond
# pgrep would read what nobody can read below; the oldest has the lowest number
the_broker() {
	local comm
	for comm in $(printf '%s\n' /proc/[0-9]*/comm | sort -t / -k 3n); do
		read -r name 2>/dev/null <"$comm" && [ "$name" = spi-broker ] || continue
		comm=${comm%/comm}
		echo "${comm##*/}"
		return
	done
}
broker=$(the_broker)
memory() { awk '/^RssAnon/ { print $2 }' "/proc/$broker/status"; }
answers() { timeout 5 python3 "$SPI_TOP_SRCDIR/tests/lib/broker-status.py" version >/dev/null; }
quiet lttng create s -o "$PWD/s"
quiet lttng enable-event -u -s s 'spi:app_first_entry'
quiet lttng enable-event -u -s s 'spi:call(app_first;exec=crowding*)'
quiet lttng enable-event -u -s s 'spi:call(app_first;exec=no-such-title-*)'
quiet lttng start s
as_b ./app 1 >/dev/null

# begins N - that many programs of the other user's, one after the other; how long each took goes into $times, ms, in their order
begins() {
	local i began now
	times=() most=0
	for ((i = 0; i < $1; i++)); do
		began=${EPOCHREALTIME/./}
		[ "$(as_b timeout 20 ./app 1)" = "$said" ] || wrong=$((wrong + 1))
		times+=($((${EPOCHREALTIME/./} - began)))
		now=$(memory)
		[ "${now:-0}" -le "$most" ] || most=$now
	done
	mapfile -t times < <(printf '%s\n' "${times[@]}" | sort -n)
	all=$((all + $1))
}
calls_so_far() {
	lttng rotate >/dev/null 2>&1
	babeltrace2 "$PWD/s" 2>/dev/null | grep -acF ' spi:app_first_entry: ' || :
}
wrong=0 all=0
begins 20
usual=$((${times[10]} / 1000))

# against WHAT - they begin meanwhile
against() {
	local what=$1
	begins 40
	spi_soon $((${times[39]} / 1000 - usual)) 500 "$what: the slowest of 40 programs' start, ms beyond the usual $usual"
	# what else the machine does may hold one of them up
	[ $((${times[38]} / 1000 - usual)) -lt $((3000 * SPI_PATIENCE)) ]
	ok $? "$what: no two wait for longer than a program may" || diag "${times[*]}"
	answers
	ok $? "$what: the broker answers"
	is "$(the_broker)" "$broker" "$what: it is the same broker"
	[ "$most" -lt 65536 ]
	ok $? "$what: its memory is bounded" || diag "$most kB"
	diag "$what: the broker had $most kB"
}
crowd() {
	local what=$1
	: >"$what.out"
	crowding "$@" >"$what.out" 2>&1 & job=$!
	spi_wait 20 file_has "$what.out" begun || diag "$(cat "$what.out")"
	against "$what"
	wait "$job"
	is "$(cat "$what.out")" begun "$what: it was at it" 
}
# Registrations of processes that are gone at once, as fast as one user can; and of some that stay
spi_cc register "$SPI_TOP_SRCDIR/tests/programs/register.c" -D_GNU_SOURCE
as_a timeout 60 "$PWD/register" "$(ls /run/lttng/lttng-ust-sock-* | head -n 1)" 4000 & job=$!
before=$(calls_so_far)
against registrations
wait "$job"
is $? 0 "registrations: all were made"
against "after the registrations"
is $(($(calls_so_far) - before)) 80 "registrations: the other user's calls are recorded, all of them"
crowd maps "$seconds" 100
# The same by forty user ids; who has a session of his own has his programs begin before theirs
mkdir home-b && chown 2 home-b
lttng_b() { setpriv --reuid 2 --regid 2 --groups "$(stat -c %g /run/lttng/client-lttng-sessiond)" env HOME="$PWD/home-b" \
	LTTNG_HOME="$PWD/home-b" lttng "$@" >>lttng-b.log 2>&1; }
lttng_b create theirs --output="$PWD/home-b/t" && lttng_b enable-event -u -s theirs 'spi:app_work_entry' && lttng_b start theirs
is $? 0 "the other user has a session" || diag "$(cat lttng-b.log)"
for uid in {3001..3040}; do
	(cd / && exec setpriv --reuid "$uid" --regid "$uid" --clear-groups timeout 100 /usr/bin/python3 \
		"$SPI_PROGRAMS/crowding.py" maps "$seconds" 3 1) >"ids.$uid" 2>&1 &
	ids[${#ids[@]}]=$!
done
spi_wait 20 file_has ids.3001 begun
against "forty user ids"
wait "${ids[@]}"
lttng_b destroy theirs
crowd mappings "$seconds"
crowd answers "$seconds" 500
crowd words "$seconds" 400

# A memory map that stays locked
mkdir held
mkfifo go
python3 "$SPI_PROGRAMS/held-page.py" "$PWD/held" <go >held.out 2>&1 & server=$!
exec {go}>go
spi_wait 10 file_has held.out 'mounted|no FUSE'
if file_has held.out mounted; then
	as_a "$PWD/held-memory" "$PWD/held/page" >title.out & job=$!
	spi_wait 10 file_has title.out held
	quiet lttng enable-event -u -s s 'spi:call(app_first;exec=no-such-title-either-*)'
	against held
	like "$(spi_status)" 'known by .* executable.s name alone' "held: it is told of"
	kill -KILL "$broker"
	another_broker() { [[ "$(the_broker)" != @("$broker"|) ]] && answers; }
	check "held: a broker that comes after it answers" spi_wait 10 another_broker
	broker=$(the_broker)
	against "held, another broker"
	echo >&"$go"
	exec {go}>&-
	wait "$job" 2>/dev/null || :
	wait "$server"
else
	skip "a memory map that stays locked" "$(cat held.out)"
fi
is "$wrong" 0 "all programs ran well"
quiet lttng destroy s
[ "$(spi_count s app_first_entry)" -ge $((all * 9 / 10)) ]
ok $? "and had their rules ($(spi_count s app_first_entry) of $((all + 1)) calls)"
tap_done
