#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng-spi flow`: which receive got which send, of traces that a script makes (tests/lib/flow-trace.py): split and
# merged messages, several writers and readers, datagrams, channels used again, what is missing or not sure; several
# hosts; chains; the forms of output, and bad input; and processes that really send (tests/programs/flow.c).
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi=$SPI_TOP_BUILDDIR/reader/lttng-spi
make_trace() { python3 "$SPI_TOP_SRCDIR/tests/lib/flow-trace.py" "$@" || echo "Bail out! flow-trace.py $*"; }
# seen [OPTION...] DIR... - edges: FROM>TO MESSAGES/BYTES ..., and the counts that are not 0
seen() {
	"$spi" flow --format json "$@" >json 2>err || { diag "$(cat err)"; return 1; }
	python3 -c '
import json
f = json.load(open("json"))
for e in sorted(f["edges"], key=lambda e: (e["from"]["pid"], e["to"]["pid"])):
	more = "".join(" %s=%d" % (k, e[k]) for k in ("ambiguous", "unsure", "late") if e[k])
	print("%d>%d %d/%d%s" % (e["from"]["pid"], e["to"]["pid"], e["messages"], e["bytes"], more), end="; ")
print(" ".join("%s=%s" % c for c in f["counts"].items() if c[1] != 0 and c[0] not in ("sends", "receives", "messages")))'
}
# trace_is NAME EXPECTED WHAT < SCRIPT
trace_is() { make_trace "$1"; is "$(seen "$1")" "$2" "$3"; }
latency() { python3 -c 'import json; print(*[(e["latency"]["max"], e["queue"]["max"]) for e in json.load(open("json"))["edges"]])'; }

# ---- one writer, one reader ----
trace_is split "1>2 1/100; " "one send in two receives is one message" <<'E'
10 a1 send c 0 100 took=2
11 b2 recv c 0 60 took=9
15 b2 recv c 60 40 took=1
E
is "$(latency)" "(7000, 4000)" "its latency is up to the receive with its last byte; and its time in the queue"
trace_is merged "1>2 3/35; " "sends that one receive returned are each a message" <<'E'
10 a1 send c 0 10 took=2
12 a1 send c 10 20 took=1
13 a1 send c 30 5 took=1
20 b2 recv c 0 32 took=1
22 b2 recv c 32 3 took=1
E
is "$("$spi" flow --messages --format json merged | python3 -c '
import json, sys
print([(m["bytes"], m["receives"], m["latency"]) for m in map(json.loads, sys.stdin)])')" \
	"[(10, 1, 12000), (20, 1, 9000), (5, 2, 10000)]" "--messages: an object each, with its receives"
trace_is before "1>2 1/10; " "a receive that is recorded before its send" <<'E'
10 b2 recv c 0 10 took=9
11 a1 send c 0 10 took=5
E
trace_is old "1>2 1/10; not_received=1 not_received_bytes=7 not_sent=1 not_sent_bytes=30" \
	"old bytes, and a send that nobody received" <<'E'
10 b2 recv c 0 30
12 a1 send c 30 10
13 b2 recv c 30 10
14 a1 send c 40 7
E
trace_is half "1>2 1/10; not_received_bytes=5" "of a message of which only the end is seen the rest is counted" <<'E'
10 a1 send c 0 10
12 b2 recv c 5 5
E

# ---- several writers and readers ----
trace_is ordered "1>2 1/10; 3>4 1/10; " "operations that did not overlap in time are in order, be their positions unsure" <<'E'
10 a1 send c 0 10 took=2 flags=2
20 a3 send c 10 10 took=2 flags=2
30 b2 recv c 0 10
31 b4 recv c 10 10
E
trace_is overlapped "1>2 0/0 ambiguous=1; 1>4 0/0 ambiguous=1; 3>2 0/0 ambiguous=1; 3>4 0/0 ambiguous=1; ambiguous=2 chains_unclear=2" \
	"those that overlapped are marked with all candidates" <<'E'
10 a1 send c 0 10 took=5 flags=2
12 a3 send c 10 10 took=5 flags=2
30 b2 recv c 0 10
31 b4 recv c 10 10
E
is "$("$spi" flow --messages overlapped | grep -c 'one of: b (2) \[2\] .*, b (4) \[4\]')" 2 "and --messages names them"
trace_is one-reader "1>2 1/10 unsure=1; 3>2 1/10 unsure=1; unsure=2 chains_unclear=2" \
	"with one reader the processes are sure, and the receive is not" <<'E'
10 a1 send c 0 10 took=5 flags=2
12 a3 send c 10 10 took=5 flags=2
30 b2 recv c 0 15
31 b2 recv c 15 5
E
trace_is all-of-it "1>2 1/10; 3>2 1/10; " "a receive that returned all of what overlapped has both" <<'E'
10 a1 send c 0 10 took=5 flags=2
12 a3 send c 10 10 took=5 flags=2
30 b2 recv c 0 20
E
trace_is between "1>2 1/4; 1>4 1/6; 3>2 1/10; " "what came later than both is in its place" <<'E'
10 a1 send c 0 4 took=5 flags=2
12 a3 send c 4 10 took=5 flags=2
20 a1 send c 14 6 took=2 flags=2
30 b2 recv c 0 14
31 b4 recv c 14 6
E
trace_is readers "1>2 1/10 ambiguous=2; 1>4 0/0 ambiguous=2; ambiguous=2 chains_unclear=2" "readers that overlapped" <<'E'
10 a1 send c 0 10
11 a1 send c 10 10
15 b2 recv c 0 10 took=4 flags=2
16 b4 recv c 10 10 took=4 flags=2
17 a1 send c 20 10
18 b2 recv c 20 10
E
trace_is gone "1>2 0/0 ambiguous=1; 3>2 0/0 ambiguous=1; ambiguous=2 not_received_bytes=10 chains_unclear=1" \
	"where something was not received, the only receive that is known is no certain one" <<'E'
10 a1 send c 0 10 took=5 flags=2
12 a3 send c 10 10 took=5 flags=2
30 b2 recv c 0 10
E
trace_is unknown "unknown_sends=1 unknown_receives=1" "operations without a position are not matched" <<'E'
10 a1 send c 0 10 flags=4
12 b2 recv c 0 10 flags=4
E

# ---- datagrams ----
trace_is datagrams "1>2 2/70; 3>2 1/0; not_sent=1 not_sent_bytes=20 cut=1" \
	"datagrams go by their content, in any order; one that was cut does not" <<'E'
10 a1 send u one 50 flags=1
11 a1 send u two 20 flags=1
12 a3 send u three 0 flags=1
20 b2 recv u two 20 flags=1
21 b2 recv u one 50 flags=1
22 b2 recv u three 0 flags=1
23 b2 recv u four 9 flags=9
24 b2 recv u two 20 flags=1
E
trace_is alike "1>2 1/50 ambiguous=1; 1>4 0/0 ambiguous=1; 3>2 0/0 ambiguous=1; 3>4 1/50 ambiguous=1; ambiguous=2 chains_unclear=2" \
	"identical ones go in order; those that were sent at once are ambiguous" <<'E'
10 a1 send u same 50 flags=1 took=1
20 a3 send u same 50 flags=1 took=1
30 b2 recv u same 50 flags=1
40 b4 recv u same 50 flags=1
200000 a1 send u same 50 flags=1 took=5
200002 a3 send u same 50 flags=1 took=5
200030 b2 recv u same 50 flags=1
200040 b4 recv u same 50 flags=1
E
trace_is stranger "1>2 1/50; not_sent=1 not_sent_bytes=50" "one that was received before its like was sent is another's" <<'E'
10 b2 recv u same 50 flags=1
500000 a1 send u same 50 flags=1 took=1
500030 b2 recv u same 50 flags=1
E

trace_is waited "1>2 2/20; 3>2 1/10; " "a thread that had to wait before its event has not begun the channel anew" <<'E'
10 a1 send c 0 10 took=2
15 a3 send c 20 10 took=2 flags=2
18 a1 send c 10 10 took=1
20 b2 recv c 0 30
E

# ---- a channel used again ----
trace_is again "1>2 1/10; 3>4 1/10; 5>6 1/10; not_received=1 not_received_bytes=10 reused=2" \
	"a position that falls back is another connection" <<'E'
10 a1 send c 0 10
11 b2 recv c 0 10
12 a1 send c 10 10
20 a3 send c 0 10
21 b4 recv c 0 10
30 b6 recv c 0 10 took=9
31 a5 send c 0 10 took=9
E
trace_is inode "3>2 1/10; not_received=1 not_received_bytes=10 reused=1" "another socket at the same address, too" <<'E'
1 a1 channel c send tcp 127.0.0.1:40000 127.0.0.1:80 7
2 b2 channel c recv tcp 127.0.0.1:40000 127.0.0.1:80 8
10 a1 send c 0 10
20 a3 channel c send tcp 127.0.0.1:40000 127.0.0.1:80 9
21 a3 send c 10 10
22 b2 recv c 10 10
E

# ---- what is lost ----
trace_is lost "1>2 2/20; not_sent=1 not_sent_bytes=20 lost=3" "events that LTTng discarded are counted, and what is left is matched" <<'E'
10 a1 send c 0 10
20 lost 3
30 a1 send c 30 10
31 b2 recv c 0 40
E
like "$(cat err)" 'LTTng discarded 3 events at least' "and said"

# ---- several hosts ----
make_trace one one <<'E'
1 a1 peer c 2 b 0 - 1
1 a1 channel c send tcp 10.0.0.1:40000 10.0.0.2:80 7
2 a1 channel p send pipe pipe:[5] pipe:[5] 5
10 a1 send c 0 10
11 a1 send p 0 10
E
make_trace two two 100 <<'E'
2 b2 channel c recv tcp 10.0.0.1:40000 10.0.0.2:80 8
3 b2 channel p recv pipe pipe:[5] pipe:[5] 5
20 b2 recv c 0 10
21 b2 recv p 0 10
E
is "$(seen one two) $(latency)" "1>2 1/10; not_received=1 not_received_bytes=10 not_sent=1 not_sent_bytes=10 (110000, 110000)" \
	"two hosts: a connection is one, a pipe of each is its own, and clocks count with their offsets"

trace_is any "1>2 2/20; " "who takes datagrams at all addresses may be recorded first" <<'E'
1 b2 channel c recv udp - 0.0.0.0:7103 8
10 b2 recv c 77 10 flags=1
11 a1 channel c send udp 0.0.0.0:40000 127.0.0.1:7103 7
12 a1 send c 77 10 took=5 flags=17
20 a1 send c 78 10 took=5 flags=1
21 b2 recv c 78 10 flags=1
E

# ---- who called whom ----
chains() {
	"$spi" flow --format json "$@" >json
	python3 -c 'import json
for c in json.load(open("json"))["chains"]:
	print("%s%s>%s %d/%d/%d %s" % ("-" * c["depth"], c["from"], c["to"], c["calls"], c["messages"], c["answers"], c.get("time", {}).get("sum")), end="; ")'
}
make_trace chain <<'E'
1 b2 channel q send tcp h:80 h:50000 1
1 b2 channel r recv tcp h:50000 h:80 1
10 a1 send r 0 10 took=1
11 a1 send r 10 10 took=1
12 b2 recv r 0 20
13 b2 send s 0 5 took=1
14 c3 recv s 0 5
15 c3 send t 0 5 took=1
16 b2 recv t 0 5
17 b2.9 send l 0 5 took=1
18 b2 send log 0 5 took=1
19 d4 recv log 0 5
20 b2 send q 0 50 took=1
25 a1 recv q 0 50
30 a1 send r 20 10 took=1
31 b2 recv r 20 10
32 b2 send q 50 50 took=1
34 a1 recv q 50 50
E
is "$(chains chain)" "a>b 2/3/2 21000; -b>c 1/1/1 4000; -b>d 1/1/0 None; " \
	"a call that is answered, with the calls that it made, one without answer among them"
is "$(for ((i = 0; i < 4; i++)); do
	echo "$((i * 100 + 10)) a1 send r $i 1 took=1"
	[ $i = 1 ] || echo "$((i * 100 + 20)) b2 recv r $i 1"
	echo "$((i * 100 + 30)) b2 send q $i 1 took=1"
	echo "$((i * 100 + 40)) a1 recv q $i 1"
done >script; make_trace gap <script; chains gap)" "a>b 3/3/3 93000; " "a call that is missing makes no answers of calls"
make_trace ring <<'E'
10 a1 send c 0 1 took=1
11 b2 recv c 0 1
12 b2 send d 0 1 took=1
13 c3 recv d 0 1
14 c3.7 send e 0 1 took=1
15 a1 recv e 0 1
E
is "$(chains ring)" "a>b 1/1/0 None; -b>c 1/1/0 None; c>a 1/1/0 None; " "a thread that got no message acts by itself"
at=10
for ((i = 0; i < 70; i++)); do
	for pair in a1:b2 b2:c3 c3:a1; do
		echo "$((at += 2)) ${pair%:*} send ${pair#*:} $i 1 took=1"
		echo "$((at += 2)) ${pair#*:} recv ${pair#*:} $i 1"
	done
done >script
make_trace deep <script
chains deep >/dev/null
is "$(python3 -c 'import json; f = json.load(open("json")); print(max(c["depth"] for c in f["chains"]), f["counts"]["chains_deep"])')" "63 3" \
	"a ring has no end, and is cut"

# ---- peers ----
trace_is peers "1>20 1/10 late=1; late=1" "a message that was out before the peer was in" <<'E'
1 a1 channel c send tcp 127.0.0.1:40000 127.0.0.1:80 7
2 a1 peer c 20 server 0 - 900
3 a1 peer c 21 su -1 another_user 10
10 a1 send c 0 10 flags=48
20 server20 recv c 0 10
E
"$spi" flow peers >text
like "$(cat text)" 'server \(20\) brought in by a \(1\) \[1\] tcp 127.0.0.1:40000 -> 127.0.0.1:80, which waited 900.0 us' \
	"who was brought in by which message"
like "$(cat text)" 'su \(21\) not brought in by a \(1\) .*, which waited 10.0 us: another user' "and who was not, with the reason"

# ---- forms, filters ----
is "$("$spi" flow --json chain | cksum)" "$("$spi" flow --format json chain | cksum)" "--json is --format json"
is "$("$spi" flow --dot chain | sed -n 's/.*\\n\([0-9]*\) messages.*/\1/p' | sort -n | tr '\n' ' ')" "1 1 1 2 3 " \
	"--dot: an edge each, with its messages"
like "$("$spi" flow --dot chain | tr '\n' ' ')" '^digraph flow \{.*\} $' "which are a graph"
is "$("$spi" export --chrome merged 2>err | python3 -c '
import json, sys
print([(e["ph"], e["pid"], e["ts"], e["id"]) for e in json.load(sys.stdin)["traceEvents"] if e["ph"] in "sf"][:2])')" \
	"[('s', 1, -2.0, 0), ('f', 2, 10.0, 0)]" "export --chrome: an arrow each"
is "$(seen --process c chain | tr ';' '\n' | grep -c '>')" 2 "--process: messages with this end"
is "$(seen --thread 3 --longer 1us chain | cut -d ';' -f 1-2)" "2>3 1/5; 3>2 1/5" "--thread, --longer"
is "$(seen --from 1800000000.000026 chain | cut -d ';' -f 1-2)" "1>2 1/10; 2>1 1/50" "--from"
is "$(chains --depth 1 chain)" "a>b 2/3/2 21000; " "--depth"

# ---- what cannot be ----
make_trace none <<<"1 a1 peer c 20 server 0 - 900"
"$spi" flow none >out 2>err
is "$? $(cat err)" '0 Warning: no message in the trace: they are recorded by `lttng trace --tree --ipc`' "a trace without messages: one line"
for options in "--function f chain" "--error chain" "--dot --messages chain" "nowhere" "net://localhost/host/x/y" "--format csv chain"; do
	# shellcheck disable=SC2086
	"$spi" flow $options >out 2>err
	is "$? $(grep -c . err)" "1 1" "$options: one line, and a status" || diag "$(cat err)"
done
trace_is wild "1>2 1/10; not_sent=2 not_sent_bytes=9223372036854775798 unknown_sends=1" "numbers that no program makes" <<'E'
10 a1 send c 18446744073709551610 100
11 a1 send c 18446744073709551000 10
12 b2 recv c 9223372036854775807 9223372036854775807
13 b2 recv d 5 1 took=9000000000
E

# ---- processes that send, record it themselves, and know what they sent ----
spi_cc flow flow.c -I"$SPI_PROGRAMS" -llttng-ust
spi_daemon
{
	lttng -q create real --output="$PWD/real" && lttng -q enable-channel -u --subbuf-size 4M all &&
		lttng -q enable-event -u -c all 'spi_ipc:*' && lttng -q add-context -u -c all -t vpid -t vtid -t procname && lttng -q start
} >lttng.log 2>&1 || diag "$(cat lttng.log)"
timeout $((30 * SPI_PATIENCE)) ./flow 2000 >truth
is $? 0 "processes send"
lttng -q destroy real >>lttng.log 2>&1
"$spi" flow --json real >json
is "$(python3 -c '
import json
f = json.load(open("json"))
edges = f["edges"]
pipe = sorted((e["messages"], e["bytes"]) for e in edges if e["kind"] == "pipe")
back = sorted((e["messages"], e["bytes"]) for e in edges if e["kind"] == "unix")
log = [e["messages"] for e in edges if e["kind"] == "unix-datagram"]
print(pipe, back, log, {c: n for c, n in f["counts"].items() if n and c not in ("sends", "receives", "messages", "unsure", "negative", "chains_unclear", "chains_unknown")})')" \
	"$(awk '/client/ { pipe = pipe sep "(" $3 ", " $4 ")"; sep = ", " } /log/ { n = $2 } END { print "[" pipe "] [(2000, 14000), (2000, 14000)] [" n "] {}" }' truth)" \
	"all messages of real processes: as many as they know of" || diag "$(cat truth lttng.log)"
is "$("$spi" info --format json real | python3 -c 'import json, sys; print(json.load(sys.stdin)["events"]["messages"])')" \
	"$(babeltrace2 real | grep -cE 'spi_ipc:(send|recv):')" "and info counts their events"
tap_done
