#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng enable-event --spi` against a stock daemon: which rules it makes, in
# which session and channel, what it prints, and what it refuses. The rules are
# read from what the daemon itself saves.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/rules.sh"
spi_private "$@"
mkdir -m 1777 own-tmp && export TMPDIR=$PWD/own-tmp	# others may be at the same in /tmp

out=$("$SPI_LTTNG" enable-event --spi -f foo 2>&1)
is "$?:$out" "1:Error: no current session: lttng create makes one; -s SESSION names another" "no session at all"
out=$("$SPI_LTTNG" enable-event --spi -f foo -s one 2>&1)
is $? 1 "no daemon: status"
is "$(wc -l <<<"$out")" 1 "no daemon: one line"
like "$out" 'no session daemon is running.*lttng create' "no daemon: says what to do"

spi_daemon
lttng create one --output="$PWD/one" >/dev/null
lttng create two --output="$PWD/two" >/dev/null
lttng set-session one >/dev/null

"$SPI_LTTNG" enable-event --spi -f foo >out 2>err
is $? 0 "a function: status"
like "$(cat out)" 'ust event spi:foo_entry created in channel channel0' "a function: what the real lttng would print"
is "$(cat err)" "Warning: the session daemon has no plugin: calls are not recorded until it does; start it with spi-sessiond, or: spi-sessiond --attach" \
	"a daemon without the plugin: a warning"
rules one
like "$(cat rules)" $'channel0\tspi:foo_entry\ttrue\t(\n|$)' "entry"
like "$(cat rules)" $'channel0\tspi:foo_exit\ttrue\t(\n|$)' "exit"
cp rules before
"$SPI_LTTNG" enable-event --spi -f foo >out 2>err
is $? 0 "the same again: status"
like "$(cat err)" '^Warning: foo: enabled already \(channel channel0, session one\)' "the same again: said"
is "$(cat out)" "" "the same again: nothing made"
rules one
same_file rules before "the same again: rules"

"$SPI_LTTNG" enable-event --spi -f bar -s two -c big --filter 'len > 10' >out 2>/dev/null
is $? 0 "session, channel and filter: status"
rules two
like "$(cat rules)" $'big\tspi:bar_entry\ttrue\tlen > 10' "session, channel and filter"
rules one
same_file rules before "not in the current session"

lttng create three --output="$PWD/three" >/dev/null
"$SPI_LTTNG" enable-event --spi -f work --pid 77 --one-event --filter 'a == 1' >out 2>/dev/null
is $? 0 "a scope: status"
rules three
like "$(cat rules)" $'spi:call\\(work;[^\t]*pid=77[^\t]*\\)\ttrue\t(\n|$)' "a scope: the reserved form, without a filter"
like "$(cat rules)" $'\\$app\\.spi:rules == "\\*\\|[0-9a-f]{8}\\|\\*" && \\(a == 1\\)' "a scope: what records, by tag and filter"
like "$(tail -n 1 out)" 'spi:call' "what instruments is made last"
"$SPI_LTTNG" enable-event --spi -f 'libz.so.1:in*' -f 'ns::C::m(int, char)' --exec server --exec 'cl*' >/dev/null 2>&1
is $? 0 "object, C++ with a comma, names: status"
rules three
is "$(grep -c 'spi:call(.*exec=' rules)" 2 "both in one command"
unlike "$(cut -f 2 rules)" , "no comma is left for the lttng command"

# What a wrong command leaves behind is nothing.
lttng create four --output="$PWD/four" >/dev/null
wrong 1 'no such session.*lttng list' enable-event --spi -f foo -s nosuch
wrong 1 '--filter a ==: .*lttng-enable-event\(1\)' enable-event --spi -f foo --filter 'a =='
wrong 1 ":x: no executable or library is named before the ':'" enable-event --spi -f :x
wrong 1 '\*: means functions of every program.*OBJECT:FUNC' enable-event --spi -f '*'
wrong 1 '\*_init: means functions of every' enable-event --spi -f '*_init' --exec '*'
wrong 1 'xxx: (too long|.*long)' enable-event --spi -f good -f "$(printf 'x%.0s' {1..600})"
rules four
is "$(wc -l <rules)" 0 "nothing was made by any of them"
"$SPI_LTTNG" enable-event --spi -f foo -c own >/dev/null 2>&1
wrong 1 'name one with -c CHANNEL' enable-event --spi -f foo -f bar --tree=main

check "a quiet one" [ -z "$("$SPI_LTTNG" -q enable-event --spi -f quiet -c own 2>&1)" ]
"$SPI_LTTNG" enable-event --spi -f full -c own >/dev/full 2>err
is $? 1 "output that cannot be written: status"
like "$(cat err)" 'the output cannot be written: No space' "output that cannot be written: said"
is "$(ls "$TMPDIR" | grep -c lttng-rules)" 0 "no directory is left" 
tap_done
