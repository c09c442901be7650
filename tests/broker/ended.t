#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What was not instrumented in processes that have ended is told still: a line a
# reason and program, however many processes it was; and filters of rules are shown.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup

lttng_ok create s --output="$SPI_TMP/s"
lttng_ok enable-event -u 'spi:add_entry' --filter 'a > 1 && a != "x	y%20"'
lttng_ok enable-event -u 'spi:nosuch_entry'
lttng_ok enable-event -u 'spi:nosuch_too_entry'
lttng_ok enable-event -u 'spi:call(_start;exec=app)'
lttng_ok add-trigger --name T --condition event-rule-matches --type=user --name=spi:add_entry --filter 'a > 7' --action notify
lttng_ok start
check "a trigger's filter is shown" spi_wait 10 status_like $'^rule\ttrigger T\t.*\ta > 7\t'
check "and a rule's" status_like $'^rule\ts\tchannel0\tspi:add_entry\tenabled\t0\tinstruments\t\ta > 1 && a != "x.y%20"\t[0-9]+$'
"$SPI_LTTNG" list --spi >list
like "$(cat list)" $'\n    spi:add_entry \\[enabled\\] of uid 0, instruments, filter \'a > 1 ' "in lttng list --spi"
lttng_ok disable-event -u spi:add_entry
lttng_ok enable-event -u spi:add_entry --filter 'a > 2'
check "the one that it has now" spi_wait 10 status_like $'\tspi:add_entry\tenabled\t.*\ta > 2\t'

for _ in 1 2 3; do ./app 2 >/dev/null; done
check "processes that have ended and lacked something are told of" spi_wait 10 status_like $'^lacked\t0\tapp\t3\t'
is "$(status lacked | cut -f 1-4,6- | sort)" "$(printf '%s\n' \
	$'lacked\t0\tapp\t3\tfunction\tapp:_start\t1\tthe process\'s first code, never called' \
	$'lacked\t0\tapp\t3\trule\tnosuch\t2\tno loaded function matches')" "once for each reason, and that they ended is none"
last=$(status lacked | cut -f 5 | head -n 1)
"$SPI_LTTNG" list --spi >list
like "$(cat list)" "
Not instrumented in processes that have ended:
" "lttng list --spi has them"
like "$(cat list)" "  app \(uid 0\), 3 processes, the last of them $last: rule nosuch and 1 more: no loaded function matches" "readably"
is "$("$SPI_LTTNG" list --spi --pid "$last" | wc -l)" 2 "and by the last one's number"
check "in XML, too" eval '"$SPI_LTTNG" --mi xml list --spi | grep -q "<lacked><uid>0</uid><name>app</name>"'

if [ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ]; then
	is "$(setpriv --reuid 4711 --clear-groups /usr/bin/python3 "$SPI_TOP_SRCDIR/tests/lib/broker-status.py" 2>&1 | grep -c -e '^lacked' -e '^session')" 0 \
		"another user sees none of root's"
else
	skip "another user sees none of root's" "needs root"
fi

# What ended processes lost
lttng_ok create l --output="$SPI_TMP/l"
lttng_ok enable-channel -u -s l small --subbuf-size 4k --num-subbuf 2
lttng_ok enable-event -u -s l -c small 'spi:work_entry'
lttng_ok start l
./app 300000 >/dev/null
check "one that lost events and has ended is told of" spi_wait 10 status_like $'^process\t[0-9]+\t0\tended\tapp\tevents were lost'
check "and how many programs of a session have ended" status_like $'^session\tl\t1$'
lttng_ok destroy l

# Children that end before anybody could come to them have their parent's rules.
spi_cc forks "$SPI_PROGRAMS/child-calls.c" -O2 -Wl,--no-as-needed -llttng-ust
lttng_ok create f --output="$SPI_TMP/f"
lttng_ok enable-event -u -s f 'spi:in_child_*'
lttng_ok start f
check "a program with short-lived children" env LD_PRELOAD=liblttng-ust-fork.so ./forks
check "which has ended" spi_wait 10 status_like $'^session\tf\t'
is "$(status lacked | grep -c $'\tforks\t.*\tprocess\t')" 0 "they are not told of as not instrumented"
lttng_ok destroy f
is "$(babeltrace2 "$SPI_TMP/f" | grep -c in_child_entry)" 60 "and were recorded"

# More reasons than are kept: what matched nothing goes first
cp app app-copy
for i in $(seq 80); do
	ln -f app-copy "app$i"
	"./app$i" 1 >/dev/null
done
check "a lot of programs" spi_wait 10 status_like $'^lacked\t0\tapp80\t'
is "$(status lacked | wc -l)" 64 "are 64 lines at most"
check "what merely matched nothing goes first" status_like $'^lacked\t0\tapp\t4\t[0-9]+\tfunction\t'
tap_done
