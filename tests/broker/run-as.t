#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A rule for programs by a name that is not their executable's but that which they are
# started by: a link to it, a script's interpreter. Their first calls are there; where
# that name cannot be known in time, it is said.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
spi_app
cp app interpreter-1.2
ln -s interpreter-1.2 interpreter
ln -s interpreter-1.2 a-name-of-more-than-15
printf '#!%s\n' "$PWD/interpreter" >script
chmod +x script
: >1	# what it waits for, with two arguments
spi_sessiond
# Where the broker gets no processor it does not see what programs were started as, and says so.
known_by_file() { spi_status | grep -q "known by .* executable's name alone"; }
# first_calls NAME COMMAND... - of four runs of the command under a rule for that name, how many first calls are there; `said`
# where some are missing and the broker says why
first_calls() {
	local name=$1 said= count
	shift
	rm -rf s s.txt
	quiet lttng create s -o "$PWD/s"
	quiet lttng enable-channel -u -s s c
	quiet lttng add-context -u -s s -c c -t vpid
	quiet "$SPI_LTTNG" enable-event --spi -s s -c c -f app_first --exec "$name"
	quiet lttng start s
	spi_wait 5 spi_status_has "^rule\ts\t.*exec=$name"
	for run in 1 2 3 4; do timeout 10 "$@" 1 >/dev/null; done
	! known_by_file || said=said
	quiet lttng destroy s
	count=$(spi_count s app_first_entry)
	[ "$count" = 4 ] && echo 4 || echo "${said:-$count}"
}
# One that was there before the first rule that names programs: until then nobody looks what they were started as.
./interpreter busy stop >busy & busy=$!
spi_wait 10 file_has busy begun
quiet lttng create r -o "$PWD/r"
quiet "$SPI_LTTNG" enable-event --spi -s r -f app_work --exec interpreter
quiet lttng start r
check "one that ran before there was such a rule" spi_wait 10 spi_status_has "^applied\t$busy\t[^\t]*\tactive"
quiet lttng destroy r
touch stop
wait "$busy"
like "$(first_calls interpreter ./interpreter)" '^(4|said)$' "started by a link"
like "$(first_calls a-name-of-more-than-15 ./a-name-of-more-than-15)" '^(4|said)$' "of a long name"
is "$(first_calls interpreter-1.2 ./interpreter)" 4 "by the executable's name as ever"
like "$(first_calls interpreter ./script)" '^(4|said)$' "a script's interpreter"
like "$(first_calls interpreter ./app)" '^(0|said)$' "another program is not traced"
# unheld - how many programs had ended before they could be looked at, under a rule for a name
unheld() { spi_status | sed -n 's/^note\t\([0-9]*\) programs* ended before the names .*/\1/p'; }
before=$(unheld)
# accounted - each of the four runs has its first call in the trace, or is said to lack it (which of one that was brought in
# just in time is said, too), or had ended, or is listed with another reason
accounted() {
	local pids
	pids=$({ grep -a 'app_first_entry' s.txt | grep -o 'vpid = [0-9]*' | tr -d 'a-z= '
		spi_status | grep 'a rule names it by the name that it was started by .another.' | cut -f 2; } | sort -u | wc -l)
	[ $((pids + $(unheld) - ${before:-0})) = 4 ] || known_by_file ||
		spi_status | grep -q '^lacked.*it has not registered with the session daemon yet'
}
first_calls another bash -c 'exec -a another ./app "$@"' bash >count
spi_wait 5 accounted
ok $? "a name that nobody else can know has its first calls, or it is said that they may be missing" ||
	diag "$(cat count) calls; ended before: ${before:-0}; $(spi_status)"
# The same, with all of them ended before the broker hears of them.
quiet lttng create s -o "$PWD/t"
quiet "$SPI_LTTNG" enable-event --spi -s s -f app_first --exec another
quiet lttng start s
spi_wait 5 spi_status_has "^rule\ts\t.*exec=another"
broker=$(pgrep -x -o spi-broker)
before=$(unheld)
kill -STOP "$broker"
for run in 1 2 3 4; do timeout 10 bash -c 'exec -a another ./app 1' >/dev/null; done
kill -CONT "$broker"
unheld_is() { [ "$(unheld)" = "$1" ]; }
spi_wait 5 unheld_is $((${before:-0} + 4))
ok $? "those that had ended before the broker heard of them are counted" || diag "$(spi_status)"
tap_done
