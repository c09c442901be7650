#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 240
#
# Handlers that leave what they interrupt while a record of it is being made: by siglongjmp(),
# some 20 000 times a second, on the thread's stack and on one of their own, by exit() and by
# _exit(), and libc's that ends a thread that is cancelled. Every record is complete, each entry has its exit, none is lost, and LTTng can
# read what the process left (a sub-buffer with a record that nobody completes it cannot). By trees, compact ones, rules for
# functions, in programs started so and attached to.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc own-stacks own-stacks.c -O1
tree_cc cancelled cancelled.c -O1
times=4000 ends=40
[ -z "${SPI_SOAK:-}" ] || times=100000 ends=500

# traced NAME MODE OPTION... - 'lttng trace OPTION...' of it
traced() {
	local name=$1 mode=$2
	shift 2
	rm -rf "$SPI_TMP/t"
	timeout -k 5 $((60 * SPI_PATIENCE)) "$SPI_LTTNG" -q trace "$@" --subbuf-size 4M --num-subbuf 8 -o "$SPI_TMP/t" ./own-stacks "$mode" "$times" >traced.out 2>traced.err
	is "$?" 0 "$name: status" || diag "$(tail -3 traced.err)"
	same_file traced.out plain.out "$name: output"
	is "$(grep -ciE 'lost|discard' traced.err)" 0 "$name: nothing is said to be lost" || diag "$(tail -3 traced.err)"
}

for mode in out beside; do
	./own-stacks $mode "$times" >plain.out
	traced "$mode, tree" $mode --tree
	tree_balanced "$SPI_TMP/t" "$mode, tree: balanced"
	traced "$mode, compact" $mode --tree --compact
	TREE_COMPACT=1 tree_balanced "$SPI_TMP/t" "$mode, compact: balanced"
	traced "$mode, functions" $mode -f leaf -f busy
	tree_as_many "$mode, functions" "$SPI_TMP/t"
done

# ended HOW [COMPACT] - many that end so, in one session: the tree of each is there from main() on
ended() {
	local how=$1 odd=0 us
	[ -z "${2:-}" ] || tree_compact
	tree_session "$SPI_TMP/t"
	for us in $(seq 2000 37 $((2000 + 37 * (ends - 1)))); do
		timeout -s KILL 20 env LTTNG_SPI_CODEMAP="$SPI_CODEMAP" LTTNG_SPI_RULES="${TREE_RULE:-tree(main)}" LTTNG_UST_ALLOW_BLOCKING=1 LD_PRELOAD="$SPI_AGENT" \
			./own-stacks "$how" "$us" >>ended.out 2>>ended.err
		[ $? = 5 ] || odd=$((odd + 1))
	done
	tree_session_end
	is "$odd" 0 "$how${2:+, compact}: the status of each"
	is "$(cat ended.out ended.err)" "" "$how${2:+, compact}: it says nothing"
	tree_balanced "$SPI_TMP/t" "$how${2:+, compact}: balanced"
	[[ $("$SPI_TMP/calls" ${TREE_COMPACT:+--expand "$SPI_EXPAND"} "$SPI_TMP/t") == *" threads $ends "* ]]
	ok $? "$how${2:+, compact}: each of the processes is in the trace"
	unset TREE_COMPACT TREE_RULE TREE_EVENTS
}
ended exit
ended _exit
ended exit compact

# Threads that are cancelled at any instruction.
./cancelled "$ends" >plain.out
for kind in tree compact functions; do
	rm -rf "$SPI_TMP/t"
	case $kind in tree) how=(--tree) ;; compact) how=(--tree --compact) ;; *) how=(-f leaf -f busy) ;; esac
	timeout -k 5 $((60 * SPI_PATIENCE)) "$SPI_LTTNG" -q trace "${how[@]}" --subbuf-size 4M --num-subbuf 8 -o "$SPI_TMP/t" ./cancelled "$ends" >traced.out 2>traced.err
	is "$?" 0 "cancelled, $kind: status" || diag "$(tail -3 traced.err)"
	same_file traced.out plain.out "cancelled, $kind: output"
	if [ $kind = functions ]; then
		tree_as_many 'cancelled, functions' "$SPI_TMP/t"
		continue
	fi
	[ $kind = tree ] || TREE_COMPACT=1
	tree_balanced "$SPI_TMP/t" "cancelled, $kind: balanced"
	[[ $("$SPI_TMP/calls" ${TREE_COMPACT:+--expand "$SPI_EXPAND"} "$SPI_TMP/t") == *" threads $((ends + 1)) "* ]]
	ok $? "cancelled, $kind: each of the threads is in the trace"
	unset TREE_COMPACT
done

# A real program: perl's `die` in a handler that it does not put off leaves by siglongjmp().
cat >dies.pl <<'E'
use POSIX qw(:signal_h);
use Time::HiRes qw(ualarm);
my $died = 0;
sigaction(SIGALRM, POSIX::SigAction->new(sub { die "alarm\n" }, POSIX::SigSet->new(), SA_NODEFER));
for my $k (1 .. 100) {
	eval { ualarm(1000 + $k * 7); my $x = 0; 1 while ($x = ($x + 1) & 255, 1); };
	$died++ if $@ eq "alarm\n";
}
print "$died\n";
E
perl dies.pl >plain.out
rm -rf "$SPI_TMP/t"
timeout -k 5 $((60 * SPI_PATIENCE)) "$SPI_LTTNG" -q trace --tree --subbuf-size 4M --num-subbuf 8 -o "$SPI_TMP/t" perl dies.pl >traced.out 2>traced.err
is "$?" 0 'perl: status' || diag "$(tail -3 traced.err)"
same_file traced.out plain.out 'perl: output'
tree_balanced "$SPI_TMP/t" 'perl: balanced'

# Attached to: its own pointers to libc's functions lead to the agent. Several times: the one signal in 100 000 that comes while lttng-ust
# is in a stub of a call of libc's (at the ends of sub-buffers) must come. The buffers take all of it, should the consumer get no processor.
runs=4
[ -z "${SPI_SOAK:-}" ] || runs=100
bad=
for ((run = 0; run < runs; run++)); do
	rm -rf "$SPI_TMP/t"
	./own-stacks out 400000000 >/dev/null &
	target=$!
	spi_wait 10 grep -q own-stacks /proc/$target/comm
	timeout -k 5 $((60 * SPI_PATIENCE)) "$SPI_LTTNG" -q trace --tree=busy --subbuf-size 4M --num-subbuf 32 --duration 0.5 -p $target -o "$SPI_TMP/t" 2>traced.err ||
		bad+="run $run: status $?: $(tail -3 traced.err); "
	kill -0 $target || bad+="run $run: the program ended; "
	kill $target
	wait $target 2>/dev/null
	line=$("$SPI_TMP/calls" "$SPI_TMP/t" 2>&1 | tail -1)
	[[ $line =~ ^entries\ [1-9][0-9]*\ .*\ orphans\ 0\ crossed\ 0\ .*\ open\ 0\ .*\ lost\ 0$ ]] || bad+="run $run: $line; "
done
is "$bad" '' "attached, $runs times: the program goes on, and its trace is balanced"
tap_done
