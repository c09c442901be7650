#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng-spi calls` shows events that are no calls at their place: tracepoints of the program's own, what becomes of
# processes, messages with their channels; and no event of the recorder's; filters; JSON; other views are as without them.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
PATH=$SPI_TOP_BUILDDIR/reader:$PATH
cat >my-tp.h <<'C'
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER my_app
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./my-tp.h"
#if !defined(MY_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define MY_TP_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(my_app, request, LTTNG_UST_TP_ARGS(int, id, const char *, name),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, id, id) lttng_ust_field_string(name, name)
		lttng_ust_field_integer(int, ret, -id)))
LTTNG_UST_TRACEPOINT_EVENT(my_app, begins, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
#endif
#include <lttng/tracepoint-event.h>
C
cat >app.c <<'C'
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "my-tp.h"
__attribute__((noipa)) int inner(int n)
{
	lttng_ust_tracepoint(my_app, request, n, "an \"x\" \033[31m");
	return n + 1;
}
__attribute__((noipa)) int outer(int n) { return inner(n) + inner(n + 1); }
void ends(void);
int main(void)
{
	lttng_ust_tracepoint(my_app, begins);
	outer(7);
	ends();
	return 0;
}
C
cat >ends.c <<'C'
#include <lttng/tracef.h>
void ends(void) { lttng_ust_tracef("the end, %d", 3); }
C
spi_cc app ./app.c ends.c -I. -llttng-ust -ldl
spi_daemon
# record NAME RULES - a session of everything
record() {
	{
		lttng -q create "$1" --output="$PWD/$1" && lttng -q enable-channel -u -s "$1" c --subbuf-size=1M &&
			lttng -q enable-event -u -s "$1" -c c '*' && lttng -q add-context -u -s "$1" -c c -t vpid -t vtid &&
			lttng -q start "$1"
	} >lttng.log 2>&1 || diag "$(cat lttng.log)"
	LTTNG_UST_REGISTER_TIMEOUT=-1 "${SPI_ALONE[@]}" LTTNG_SPI_RULES="$2" ./app
	is $? 0 "$1: the program"
	lttng -q destroy "$1" >>lttng.log 2>&1
}
# lines DIR [OPTION...] - without times and threads
lines() { lttng-spi calls "$@" | sed 's/^[0-9:.]* \[[0-9]*\] //; s/ *<[0-9.]* [mu]*s>$//'; }

record typed $'inner\nouter'
is "$(lines typed)" "$(cat <<'E'
my_app:begins
outer(n = 7)
  inner(n = 7)
    my_app:request: id = 7, name = "an \"x\" \x1b[31m", ret = -7
  inner = 8
  inner(n = 8)
    my_app:request: id = 8, name = "an \"x\" \x1b[31m", ret = -8
  inner = 9
outer = 17
lttng_ust_tracef:event: msg = "the end, 3"
E
)" "events of the program's own, at the depth of the open calls; none of the recorder's" || diag "$(lines typed)"
record compact 'tree(outer;lib=app;exclude=lttng_ust*;compact)'
is "$(lines compact | sed 's/()$//; s/ returns$//')" "$(lines typed | sed 's/(n = .)//; s/\(er\) = [0-9]*$/\1/')" "likewise among compact records" ||
	diag "$(lines compact)"
check "JSON: an object with its fields" python3 - "$(lttng-spi calls --format json typed)" <<'E'
import json, sys
lines = [json.loads(line) for line in sys.argv[1].splitlines()]
events = [e for e in lines if e['kind'] == 'event']
assert [e['event'] for e in events] == ['my_app:begins'] + ['my_app:request'] * 2 + ['lttng_ust_tracef:event'], events
assert events[1]['fields'] == {'id': 7, 'name': 'an "x" \x1b[31m', 'ret': -7} and events[1]['depth'] == 2, events[1]
inner = next(e for e in lines if e.get('function') == 'inner')
assert inner['time'] <= events[1]['time'] and inner['thread'] == events[1]['thread'] and inner['process'] == events[1]['process']
E
same_file <(babeltrace2 --plugin-path="$SPI_TOP_BUILDDIR/bt2/.libs" typed --component=s:sink.lttng-spi.calls) <(lttng-spi calls typed) \
	"sink.lttng-spi.calls prints the same"
is "$(lttng-spi report --format csv typed | grep -c 'my_app')" 0 "a table has calls alone"

# ---- filters ----
is "$(lines typed --function 'my_app:r*' 2>err | cut -d, -f 1; cat err)" $'my_app:request: id = 7\nmy_app:request: id = 8' "--function: by PROVIDER:NAME"
is "$(lines typed --function inner | grep -c my_app)" 0 "and functions are without events"
is "$(lines typed --caller inner 2>err | cut -d, -f 1; cat err)" $'my_app:request: id = 7\nmy_app:request: id = 8' "--caller: what came while it was open"
for options in '--depth 2' '--longer 1ns' --error '--thread 1' '--process 1' '--from 2100-01-01T00:00' '--to 1999-01-01T00:00'; do
	# shellcheck disable=SC2086
	is "$(lttng-spi calls typed $options 2>/dev/null | grep -c my_app)" 0 "$options: without events"
done

# ---- messages ----
python3 "$SPI_TOP_SRCDIR/tests/lib/flow-trace.py" messages <<'E'
1 a1 channel c send tcp 127.0.0.1:4000 127.0.0.1:80 7
2 a1 peer c 20 server 0 - 900
3 a1 peer c 21 su -1 another_user 10
5 b2 channel c recv tcp 127.0.0.1:4000 127.0.0.1:80 8
10 a1 send c 32 16 flags=48
20 b2 recv c 32 1
21 a1 channel u send udp - 127.0.0.1:53 7
30 a1 send u content 50 flags=9
31 a1 send c 48 5 flags=2
32 a1 send c 0 5 flags=4
40 c3 recv d 7 2
E
is "$(lines messages)" "$(sed 's/^| //' <<'E'
| spi_ipc:peer: server (20) brought in, tcp 127.0.0.1:80, waited 900.0 us
| spi_ipc:peer: su (21) not brought in: another user, tcp 127.0.0.1:80, waited 10.0 us
| spi_ipc:send: 16 bytes at 32, tcp 127.0.0.1:80, out before the other process was in
| spi_ipc:recv: 1 byte at 32, tcp 127.0.0.1:4000
| spi_ipc:send: 50 bytes, udp 127.0.0.1:53, cut
| spi_ipc:send: 5 bytes at 48 or so, tcp 127.0.0.1:80
| spi_ipc:send: 5 bytes, tcp 127.0.0.1:80
| spi_ipc:recv: 2 bytes at 7
E
)" "messages: bytes, position, and the other end" || diag "$(lttng-spi calls messages)"
is "$(lttng-spi calls --thread 2 --format json messages | python3 -c 'import json, sys; e = json.load(sys.stdin); print(e["channel"], e["fields"]["result"])')" \
	"{'kind': 'tcp', 'from': '127.0.0.1:4000', 'to': '127.0.0.1:80'} 1" "JSON: with the channel"

# ---- processes ----
spi_trace -f outer --process-events -o processes sh -c './app; :' >/dev/null
is "$(lines processes | grep -c '^ *spi_process:waited: child = [0-9]*, code = 0, signal = 0$')" 1 "what becomes of processes" || diag "$(lttng-spi calls processes)"
tap_done
