#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The commands with --spi and `lttng trace --exec` with the session daemon that
# the front end starts: a program that knows nothing of LTTng is brought in by its
# name and by its pid, and its code is what it was when the rule is gone.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
[ -x "$SPI_TOP_BUILDDIR/spi-sessiond-plugin/spi-sessiond" ] && [ -x "$SPI_TOP_BUILDDIR/broker/spi-broker" ] ||
	skip_all "the session daemon's plugin is not built"
spi_cc server thrower.cc
spi() { "$SPI_LTTNG" "$@" >out 2>err || { diag "lttng $*: $(cat err)"; return 1; }; }
text() { python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target"; }
# listed PID REGEX, unlisted PID REGEX - what `lttng list --spi --pid PID` says
listed() { "$SPI_LTTNG" list --spi --pid "$1" 2>/dev/null | grep -Eq -- "$2"; }
unlisted() { ! listed "$@"; }
active='call\(t_middle.*: active; 1 function matched, 1 instrumented'

check "create starts a daemon" spi create one --output="$PWD/one"
check "it has the plugin, which is waited for" spi list --spi
background ./server 0 2

check "a rule for the name" spi enable-event --spi -f t_middle --exec server
is "$(cat err)" "" "no warning, for the plugin is there"
check "start" spi start
check "the running process is instrumented" spi_wait 20 listed "$target" "$active"
check "disabled" spi disable-event --spi -f t_middle --exec server
check "the code is the files' again" spi_wait 20 text
check "a rule for the pid" spi enable-event --spi -f t_middle --pid "$target"
check "instrumented again" spi_wait 20 listed "$target" "$active"
"$SPI_LTTNG" --mi xml list --spi >out.xml
check "list as XML" python3 -c 'import xml.etree.ElementTree as t; assert t.parse("out.xml").getroot().find("process/applied/rule").text.startswith("call(t_middle")'
check "--all" spi disable-event --spi --all
check "the code is the files' after it" spi_wait 20 text
check "destroy" spi destroy one
spi_read one
check "events of the process were recorded" [ "$(grep -acE "spi:t_middle_entry: .*" one.txt)" -gt 0 ]

"$SPI_LTTNG" trace -f t_middle --exec server -o two 2>trace.err &
tracer=$!
check "trace --exec: instrumented" spi_wait 20 listed "$target" "$active"
# more of them than there are now: those before are the other session's
recorded() { "$SPI_LTTNG" list --spi 2>/dev/null | grep -a "Events recorded: [1-9]"; }
were=$(recorded)
more() { [ "$(recorded)" != "$were" ]; }
spi_wait 20 more
kill -INT "$tracer"
wait "$tracer"
is $? 0 "trace --exec: status" || diag "$(cat trace.err)"
like "$(cat trace.err)" 'Processes traced: [0-9]+, at the end: 1; events lost: 0' "trace --exec: summary"
like "$(cat trace.err)" 'Functions instrumented: 1; not instrumented: 0' "trace --exec: functions"
check "trace --exec: events" [ "$(spi_count two t_middle_entry)" -gt 0 ]
check "trace --exec: the code is the files' at the end" spi_wait 20 text

# The own controller of `lttng trace -p`, in a process that the plugin drives as well.
spi_trace_ok "trace -p beside the plugin" -f t_middle -p "$target" --duration 0.3 -o three
check "its events" [ "$(spi_count three t_middle_entry)" -gt 0 ]
check "the code is the files' once more" spi_wait 20 text
kill -0 "$target"
ok $? "the process lives"
finish "$target"

# A COMMAND that a rule of another session is for as well has one controller, and both sessions their events.
spi_cc zoo zoo.c
./zoo leaf 10 >plain
spi create two --output="$PWD/four"
spi enable-event --spi -f t_leaf
spi start
spi_trace_ok "trace COMMAND beside a rule for it" -f t_leaf -o five ./zoo leaf 10
same_file trace.out plain "its output"
is "$(spi_count five t_leaf_entry):$(spi_count five t_leaf_exit)" 10:10 "its calls"
balanced five "balanced"
spi destroy two
is "$(spi_count four t_leaf_entry)" 10 "the other session has them, too"
tap_done
