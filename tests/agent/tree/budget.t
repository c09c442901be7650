#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# --budget: of a function of one nanosecond that is called all the time few calls are
# recorded (in `make soak`: it slows the program down by no more than was asked for); what is called seldom is recorded completely;
# the trace and the summary say what was left out; and it comes back.
. "${SPI_TOP_SRCDIR:?}/tests/lib/budget.sh"
spi_private "$@"
spi_daemon
tree_tools
programs=$SPI_TOP_SRCDIR/tests/programs
gcc -O2 -g -fPIC -c -o leaf.o "$programs/hot-leaf.c" || exit 1
spi_cc busy "$programs/hot.c" leaf.o
gcc -shared -o libleaf.so leaf.o
spi_cc busy-lib "$programs/hot.c" -L. -lleaf -Wl,-rpath,"$SPI_TMP"

if [ -n "${SPI_SOAK:-}" ]; then kinds=("" --compact); else kinds=(""); fi

for mode in "" --compact; do
	name=hot${mode#-}
	hot_runs "$name" $mode
	like "$(events_of "$name")" 'share = 99[0-9], budget = 50, state = \( "left_out" .* function = "leaf"' "$name: the trace says so"
	like "$(cat "$name.err")" 'Budget 5 %: tracing took about [0-9.]+ % of the' "$name: the summary says what tracing took"
	like "$(cat "$name.err")" '9[0-9]\.[0-9] % +[0-9]+  busy:leaf' "$name: and what was left out"
	unlike "$(cat "$name.err")" 'again later' "$name: to the end"
done
recorded=$(calls_of hot busy leaf | cut -d ' ' -f 2)
like "$(events_of hot)" "calls = $recorded," "until then each of its calls was recorded"

for mode in "" --compact; do
	name=mixed${mode#-}
	budget "$name" 5 ./busy mixed 100000000 $mode
	nests "$name" ${mode:+compact}
	is "$(calls_of "$name" busy 'cool_[0-9a-f]*' | grep -c ' 25$')" 200 "$name: 200 other functions, all calls"
	is "$(calls_of "$name" busy loop)" "loop 25" "$name: and the one that calls the busy one"
	is "$(events_of "$name" | grep -c left_out)" 1 "$name: only that is left out"
done

# what is recorded at its entry, as the function that calls it is not traced
budget entered 5 ./busy loop 20000000 --exclude loop --lib busy
nests entered
like "$(events_of entered)" '"left_out".*function = "leaf"' "a function whose caller is excluded"
check "entered: most calls are left out" [ "$(entries entered)" -lt 2000000 ]

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
# what is under way as the program ends may find no room for its exit, which is among what is lost
"$SPI_TMP/calls" full.d >full.calls 2>full.problems
like "$(cat full.calls)" 'orphans 0 crossed 0 ' "full: each exit has its entry" || diag "$(head -n 5 full.problems)"
like "$(cat full.err)" 'lost: [1-9]' "a ring that is full by then"
# a child of less than a second spends its budget on beginning to be traced, and what it calls then is put off
budget children 20 ./busy children 1600000000
nests children
is "$(events_of children | grep '"left_out".*function = "leaf"' | grep -o 'vpid = [0-9]*' | sort -u | wc -l)" 2 "each child has its own account"

budget calms 100 ./busy calms 5000000
nests calms
like "$(events_of calms)" '"left_out".*function = "medium"' "what is called often for a time is left out"
like "$(events_of calms)" '"recorded_again".*function = "medium"' "and comes back"
check "is recorded again then" [ "$(again_and_recorded calms busy medium)" -gt 1000 ]
like "$(cat calms.err)" 'busy:medium, recorded again later' "the summary says so, too"

# Without a budget: what one would do.
spi_trace --tree -o none ./busy loop 200000 >out 2>&1
is "$(find none -name not-instrumented.txt | wc -l)" 1 "without a budget"
like "$(cat trace.err)" 'Recording took about [0-9]+ % of the program.s own time.*  --budget 10 would leave out the first' "what one would leave out"
tap_done
