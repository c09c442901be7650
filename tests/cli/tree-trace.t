#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# `lttng trace --tree`: the calls that a program is known to make, no more and no
# less, for each option; what is printed, and what the summary says.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/rules.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree-names.sh"
spi_private "$@"
spi_daemon
spi_cc app "$SPI_TOP_SRCDIR/tests/programs/tree-program.c"
./app 4 >plain.out
plain=$?

# traced NAME EXPECTED ARGS... - `lttng trace -o NAME ARGS... ./app 4` runs as without, and records these calls of app's functions
traced() {
	local name=$1 expected=$2 status
	shift 2
	rm -rf "$name"
	spi_trace -o "$name" "$@" ./app 4 >out
	status=$?
	is "$status" "$plain" "$name: exit status" || diag "$(tail -n 5 trace.err)"
	same_file out plain.out "$name: output"
	tree_read "$name"
	is "$(tree_calls "$name.names")" "$expected" "$name: its calls"
	events_balance "$name.names" "$name: entries and exits nest"
}
# events_balance FILE NAME - by thread, an exit is of the innermost entry
events_balance() {
	python3 - "$1" <<'PY'
import re, sys
stacks, bad = {}, 0
for line in open(sys.argv[1], errors='replace'):
    m = re.search(r'lttng_ust_cyg_profile:func_(entry|exit): .*vtid = (\d+).*addr = (0x[0-9A-F]+)', line)
    if not m:
        continue
    stack = stacks.setdefault(m[2], [])
    if m[1] == 'entry':
        stack.append(m[3])
    elif not stack or stack.pop() != m[3]:
        bad += 1
sys.exit(bad or any(stacks.values()))
PY
	ok $? "$2"
}

all="branch=4/4 leaf=12/12 main=1/1 middle=4/4 top=1/1 "
traced whole "$all" --tree
like "$(tree_calls whole.names libc.so.6)" '(puts|printf|_IO_)' "whole: libc's functions, too"
like "$(grep -m1 'func = "top' whole.names)" 'vpid = [0-9]+, vtid = [0-9]+, ip = .*src = "tree-program.c:' "whole: contexts, source lines"
like "$(cat trace.err)" 'Events recorded: [0-9]+ \([0-9]+ entries, [0-9]+ exits\); lost: 0' "the summary: events"
like "$(cat trace.err)" 'Calls and functions instrumented: [0-9]+; not instrumented: [0-9]+' "the summary: what is instrumented"
unlike "$(cat trace.err)" 'had not returned|No call was recorded' "the summary: nothing is left open"
is "$(wc -l <whole/not-instrumented.txt)" "$(sed -n 's/.*; not instrumented: //p' trace.err)" "what is not, with its reason"

traced main "$all" --tree=main --lib app
is "$(tree_calls main.names libc.so.6)" "" "--lib: nothing else"
traced rooted "branch=4/4 leaf=12/12 middle=4/4 top=1/1 " --tree=top --lib app
traced object "leaf=8/8 middle=4/4 " --tree=app:middle
traced two "branch=4/4 leaf=12/12 middle=4/4 " --tree=middle --tree=branch
traced depth "branch=4/4 main=1/1 middle=4/4 top=1/1 " --tree --lib app --depth 2
traced excluded "branch=4/4 leaf=4/4 main=1/1 top=1/1 " --tree --exclude 'mid*' --exclude-lib 'libc.so*'
is "$(tree_calls excluded.names libc.so.6)" "" "--exclude-lib: nothing of it"
traced calls "branch=4/4 middle=4/4 " --tree --calls-of top
traced typed "$all" --tree -f leaf --lib app
is "$(grep -c 'spi:leaf_entry' typed.names)/$(grep -c 'spi:leaf_exit' typed.names)" 12/12 "typed events beside a tree"

# Calls of the functions are one event each then, and those of the tree two.
for how in plain compact; do
	compact=()
	[ $how = plain ] || compact=(--compact)
	spi_trace --tree --one-event -f leaf --lib app "${compact[@]}" -o "one-$how" ./app 4 >out
	is $? "$plain" "--one-event beside a tree, $how: exit status"
	like "$(cat trace.err)" "Events recorded: 56; lost: 0" "--one-event beside a tree, $how: the summary counts both"
	like "$(cat trace.err)" " 42\.9 % +12  app:leaf" "--one-event beside a tree, $how: the share of the events"
done

# Packed records, and what is made of them.
spi_trace --tree --compact --lib app -o packed ./app 4 >out
is $? "$plain" "--compact: exit status" || diag "$(tail -n 5 trace.err)"
same_file out plain.out "--compact: output"
like "$(cat trace.err)" 'Events recorded: 44 \(22 entries, 22 exits\); lost: 0' "--compact: the summary counts calls"
spi_read packed
is "$(grep -c 'lttng_ust_cyg_profile' packed.txt)" 0 "--compact: no event for each call"
tree_read packed compact
is "$(tree_calls packed.names)" "$all" "--compact: the calls, expanded, with names"
events_balance packed.names "--compact: entries and exits nest"
babeltrace2 --plugin-path="$SPI_TOP_BUILDDIR/bt2/.libs" packed --component=c:filter.lttng-spi.expand --output-format=ctf \
	--output=unpacked >/dev/null 2>err || diag "$(cat err)"
spi_read unpacked
is "$(sed -nE 's/.* lttng_ust_cyg_profile:func_(entry|exit): .* name = "([^"]*)" \}$/\2 \1/p' unpacked.txt |
	awk '{ n[$1, $2]++; names[$1] } END { for (f in names) print f "=" n[f, "entry"] + 0 "/" n[f, "exit"] + 0 }' | LC_ALL=C sort | tr '\n' ' ')" \
	"$all" "--compact: as an ordinary trace, with names"
spi_trace --tree --compact --lib app -o many ./app 20000 >out
like "$(cat trace.err)" '% +60000  app:leaf' "--compact: each call is counted once, also where a buffer was full"
spi_trace --tree --compact --lib app ./app 4 >live.names
is "$?/$(tree_calls live.names)" "$plain/$all" "--compact: printed as it comes, with names"
is "$(grep -c 'spi_tree:' live.names)" 0 "--compact: and as calls only"

# Names that are wrong, before anything runs.
wrong 1 'toq: no such function.*did you mean: .*top' trace --tree=toq -o none ./app 4
check "nothing was made" [ ! -e none ]
wrong 1 'libc.so.6:toq' trace --tree=libc.so.6:toq -o none ./app 4

# Printed as it comes, names with it.
spi_trace --tree=top ./app 4 >live.names
is $? "$plain" "printed: exit status"
is "$(tree_calls live.names)" "branch=4/4 leaf=12/12 middle=4/4 top=1/1 " "printed: the calls, with names"
is "$(grep -cx "$(cat plain.out)" live.names)" 1 "printed: the program's output beside it"
is "$(grep -c 'lttng_ust_statedump\|lttng_ust_lib' live.names)" 0 "printed: nothing of what only the reader needs"
spi_trace --tree --lib app ./app 2000 | head -n 3 >head.out
is "${PIPESTATUS[0]}/$(wc -l <head.out)" "$plain/3" "printed: to a reader that goes away" || diag "$(cat trace.err)"

# The busiest function, and what leaving it out saves.
spi_trace --tree --lib app -o busy ./app 2000 >out
like "$(cat trace.err)" '60\.0 % +6000  app:leaf' "the summary: the busiest function and its share"
like "$(cat trace.err)" 'leaving out the first.* saves .* --exclude leaf' "the summary: what leaving it out saves"

# none CAUSE ARGS... - nothing is recorded, and the summary says what may be why
none() {
	local cause=$1
	shift
	rm -rf none
	spi_trace -o none "$@" ./app 4 >out
	is "$?/$(sed -n '/^No call/,/^[^ N]/{/^No\|^  /p}' trace.err)" "$plain/No call was recorded$cause" "$*: why there is none"
}
none ": no object that ran is meant by --lib" --tree --lib 'libnone*'
none ": no function that was called is meant by --calls-of" --tree --calls-of 'none*'
none ": all that ran is left out by --exclude-lib" --tree --exclude-lib '*'
none $', for one of these reasons:\n  the root was not called\n  tracing ended before --after was over' --tree=leaf --after 60
none $', for one of these reasons:\n  the signal of --on-signal did not come\n  no object that ran is meant by --lib' --tree --on-signal USR1 --lib app

# later NAME CALLS CONDITION... - `./app 4 wait` traced with the options in $options: one call before CONDITION, three behind it
later() {
	local name=$1 status input
	shift
	mkfifo "$name.in"
	"$SPI_LTTNG" trace --tree=top "${options[@]}" --lib app -o "$name" ./app 4 wait <"$name.in" >"$name.out" 2>"$name.err" &
	tracer=$!
	exec {input}>"$name.in"
	spi_wait 20 file_has "$name.out" ready || diag "$(cat "$name.err")"
	echo >&"$input"
	spi_wait 10 eval "[ \$(wc -l <$name.out) -ge 2 ]"
	child=$(pgrep -P "$tracer" -x app)
	"$@"
	for i in 3 4 5; do
		echo >&"$input"
		spi_wait 10 eval "[ \$(wc -l <$name.out) -ge $i ]"
	done
	exec {input}>&-
	wait "$tracer"
	is "$?/$(sort -u "$name.out" | tr '\n' ' ')" "0/$(cat plain.out) ready " "${options[*]}: runs as without"
	tree_read "$name"
	is "$(tree_calls "$name.names")" "branch=12/12 leaf=36/36 middle=12/12 top=3/3 " "${options[*]}: its calls from then on"
	events_balance "$name.names" "${options[*]}: entries and exits nest"
}
# The tree is in force when the program's code is another than its file's.
begun() { spi_wait 10 eval "! python3 $SPI_TOP_SRCDIR/tests/lib/text-equal.py $child"; }
options=(--after 0.4)
later later begun
options=(--on-signal USR1)
signalled() { kill -USR1 "$child" && begun; }
later signal signalled

# Analysed only: nothing is recorded.
traced parsed "" --tree --parse-only
unlike "$(cat parsed.names)" 'func_entry' "--parse-only: no call"
unlike "$(cat trace.err)" 'No call was recorded' "--parse-only: and none was asked for"

# A running process, from its functions on, and left as it was.
mkfifo in
./app 4 wait <in >target.out &
target=$!
exec {input}>in
spi_wait 10 file_has target.out ready
"$SPI_LTTNG" trace --tree=top -p "$target" -o running 2>running.err &
tracer=$!
spi_wait 20 file_has running.err 'Trace directory' || diag "$(cat running.err)"
for i in 1 2 3; do echo >&"$input"; spi_wait 10 eval "[ \$(wc -l <target.out) -gt $i ]"; done
kill -INT "$tracer"
wait "$tracer"
is $? 0 "-p: status" || diag "$(cat running.err)"
tree_read running
is "$(tree_calls running.names)" "branch=12/12 leaf=36/36 middle=12/12 top=3/3 " "-p: its calls"
events_balance running.names "-p: entries and exits nest"
check "-p: the code is what it was" python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target"
is "$(sort -u target.out | tr '\n' ' ')" "$(printf '%s ready ' "$(cat plain.out)")" "-p: its output"
exec {input}>&-
wait "$target"
is "$(lttng list 2>/dev/null | grep -c trace-)" 0 "no session is left"
# What a process called before it forked is in nobody's count but its own.
cat >forks.c <<'EOF_C'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noipa)) static void small(void) { }
int main(void)
{
	for (int i = 0; i < 1000; i++)
		small();
	for (int i = 0; i < 5; i++, wait(NULL))
		if (!fork()) {
			small();
			exit(0);
		}
	return 0;
}
EOF_C
gcc -O1 -o forks forks.c
for compact in "" --compact; do
	spi_trace --tree $compact --lib forks -o "forked$compact" ./forks
	is "$(awk '$4 == "forks:small" && $3 >= 1005 && $3 < 1010' trace.err | wc -l)" 1 "busiest functions: children tell their own calls${compact:+, compact}" ||
		diag "$(grep -A3 'Most calls' trace.err)"
done
tap_done
