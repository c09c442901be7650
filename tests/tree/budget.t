#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# --budget: a function of one nanosecond that is called all the time slows the program
# down by no more than was asked for; what is called seldom is recorded completely;
# the trace and the summary say what was left out; and it comes back. CPU times are
# the program's own, compared with a run without tracing just before; the median.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/cli/tree.sh"
. "$SPI_TOP_SRCDIR/tests/tree/budget.sh"
spi_private "$@"
spi_daemon
programs=$SPI_TOP_SRCDIR/tests/tree/programs
gcc -O2 -g -fPIC -c -o leaf.o "$programs/hot-leaf.c" || exit 1
spi_cc busy "$programs/hot.c" leaf.o
gcc -shared -o libleaf.so leaf.o
spi_cc busy-lib "$programs/hot.c" -L. -lleaf -Wl,-rpath,"$SPI_TMP"

# In make soak as few calls as can be: they take half a second, of which the start of tracing alone is 2 or 3 percent.
if [ -n "${SPI_SOAK:-}" ]; then calls=$hot rounds=9 kinds=("" --compact); else calls=$((hot * 8 / 5)) rounds=3 kinds=(""); fi

for mode in "" --compact; do
	name=hot${mode#-}
	[ -z "$mode" ] || [ -n "${SPI_SOAK:-}" ] || rounds=2
	for ((i = 0; i < rounds; i++)); do
		budget "$name" 5 ./busy loop "$calls" $mode
	done
	# a machine that does other things needs more rounds for a median that says something
	while slow=$(slow_down "$name.cpu") && [ "$slow" -gt 50 ] && [ "$i" -lt 9 ]; do
		budget "$name" 5 ./busy loop "$calls" $mode
		i=$((i + 1))
	done
	diag "$name: slower by $slow/1000 ($(tr '\n' ';' <"$name.cpu"))"
	check "$name: not slower than by the budget" [ "$slow" -le 50 ]
	nests "$name" ${mode:+compact}
	like "$(events_of "$name")" 'share = 99[0-9], budget = 50, state = \( "left_out" .* function = "leaf"' "$name: the trace says so"
	like "$(cat "$name.err")" 'Budget 5 %: tracing took about [0-9.]+ % of the' "$name: the summary says what tracing took"
	like "$(cat "$name.err")" '9[0-9]\.[0-9] % +[0-9]+  busy:leaf' "$name: and what was left out"
	unlike "$(cat "$name.err")" 'again later' "$name: to the end"
done
recorded=$(grep -c 'func_entry.*func = "leaf+0"' hot.d.names)
like "$(events_of hot)" "calls = $recorded," "until then each of its calls was recorded"

for mode in "" --compact; do
	name=mixed${mode#-}
	budget "$name" 5 ./busy mixed 100000000 $mode
	nests "$name" ${mode:+compact}
	is "$(tree_calls "$name.d.names" busy | tr ' ' '\n' | grep -c '^cool_[0-9a-f]*=25/25$')" 200 "$name: 200 other functions, all calls"
	is "$(tree_calls "$name.d.names" busy | tr ' ' '\n' | grep '^loop=')" "loop=25/25" "$name: and the one that calls the busy one"
	is "$(events_of "$name" | grep -c left_out)" 1 "$name: only that is left out"
done

budget library 5 ./busy-lib loop 50000000
nests library
like "$(events_of library)" '"left_out".*function = "leaf"' "a function of a library"
for mode in "${kinds[@]}"; do
	name=pointed${mode#-}
	budget "$name" 5 ./busy pointed 50000000 $mode
	nests "$name" ${mode:+compact}
	like "$(events_of "$name")" 'call_site = 0x0, calls = [0-9]+, .*"left_out".*function = "leaf"' "$name: called through a pointer"
	like "$(events_of "$name")" 'call_site = 0x[0-9A-F]{5,}.*"left_out".*function = "pointed"' "$name: then that call site itself"
	# room for the word, too, where the consumer has to wait for a processor
	budget "threads$name" 10 ./busy threads 100000000 $mode --subbuf-size 2M --num-subbuf 8
	nests "threads$name" ${mode:+compact}
	like "$(events_of "threads$name")" '"left_out".*function = "leaf"' "threads $mode"
done
budget full 10 ./busy threads 100000000 --subbuf-size 4096 --num-subbuf 2
nests full
like "$(cat full.err)" 'lost: [1-9]' "a ring that is full by then"
like "$(events_of full)" '"left_out".*function = "leaf"' "and gets the word later"
budget children 10 ./busy children 100000000
nests children
is "$(events_of children | grep -c '"left_out".*function = "leaf"')" 2 "each child has its own account"

budget calms 300 ./busy calms 3000000
nests calms
like "$(events_of calms)" '"left_out".*function = "medium"' "what is called often for a time is left out"
like "$(events_of calms)" '"recorded_again".*function = "medium"' "and comes back"
check "is recorded again then" eval \
	"[ \$(sed -n '/recorded_again.*\"medium\"/,\$p' calms.d.names | grep -c 'func_entry.*func = \"medium') -gt 1000 ]"
like "$(cat calms.err)" 'busy:medium, recorded again later' "the summary says so, too"

# Without a budget: what one would do.
spi_trace --tree -o none ./busy loop 200000 >out 2>&1
is "$(find none -name not-instrumented.txt | wc -l)" 1 "without a budget"
like "$(cat trace.err)" 'Recording took about [0-9]+ % of the program.s own time; --budget 10 would leave out the first' "what one would leave out"
tap_done
