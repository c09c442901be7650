#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 180
#
# Programs built with sanitizers run and report below the tracer as without: their
# runtimes want to be the first library, look at all threads from outside of them,
# and stand before functions that recording calls.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools

# report FILE - what the sanitizer says, without numbers and addresses. Allocations are told by a walk along frame pointers,
# which finds a return slot where the caller would be; so callers are left out, main() and what called that.
report() {
	grep -Ev 'spi_slot_code_base|in main |in __libc_start|in _start' "$1" | sed -nE '/Sanitizer/,/^SUMMARY/p' |
		sed -E 's/==[0-9]+==//g; s/0x[0-9a-f]+//g; s/^ *#[0-9]+ //; s/\(pid=[0-9]+\)//; s/^(READ|SUMMARY).*in /\1 /' | sort
}

# as_ever SANITIZER ARGUMENT OPTIONS - the same status, output and report
as_ever() {
	local name="$1${2:+ $2}: $3" dir plain traced
	dir=${name//[^a-z]/}
	may_die "./$1" $2 >plain.out 2>plain.err </dev/null
	plain=$?
	# shellcheck disable=SC2086  # several words
	may_die timeout $((40 * SPI_PATIENCE)) "$SPI_LTTNG" trace $3 -o "$dir" "./$1" $2 >traced.out 2>traced.err </dev/null
	traced=$?
	is "$traced" "$plain" "$name: status" || diag "$(tail -n 5 traced.err)"
	same_file traced.out plain.out "$name: output"
	report plain.err >plain.report
	report traced.err >traced.report
	same_file traced.report plain.report "$name: what it reports"
	LAST=$dir
}

for sanitizer in address leak thread; do
	spi_cc "$sanitizer" sanitized.cc "-fsanitize=$sanitizer" -fno-omit-frame-pointer
	# ThreadSanitizer has a thread that blocks SIGTRAP: then a function that needs a breakpoint is refused, and says so
	[ "$sanitizer" = thread ] || as_ever "$sanitizer" "" "-f deep"
	for options in --tree "--tree --compact"; do
		as_ever "$sanitizer" "" "$options"
	done
	TREE_COMPACT=1 tree_balanced "$LAST" "$sanitizer: balanced" --counts counts
	at=$(nm "$sanitizer" | awk '$3 ~ /^_ZL4deepi/ && $3 !~ /cold/ { sub("^0*", "", $1); print $1 }')
	is "$(awk -F '\t' -v f="/$sanitizer+0x$at" 'index($2, f) { print $1 }' counts)" 162 "$sanitizer: the threads' calls are in the tree"
done
is "$(spi_read addressfdeep; grep -ac ' spi:deep[^ ]*entry' addressfdeep.txt)" 162 "each call of a function is recorded in the threads"
as_ever address use --tree
like "$(cat traced.report)" 'in use ' "the faulty function is named"
as_ever address leak "--tree --compact"
as_ever leak leak --tree

# A runtime within the program, as clang has it
if clang++ -g -O1 -pthread -fsanitize=thread -o within "$SPI_PROGRAMS/sanitized.cc" 2>/dev/null; then
	may_die "$SPI_LTTNG" trace --tree -o within.trace ./within >out 2>err
	is $? 1 "ThreadSanitizer within the program: no tree"
	like "$(cat err)" 'within: it is built with ThreadSanitizer' "and why"
	clang++ -g -O1 -pthread -fsanitize=address -o within "$SPI_PROGRAMS/sanitized.cc"
	as_ever within "" --tree
	# LeakSanitizer's task has the memory of the thread that waits for it in sched_yield(): two tasks are not one thread's records
	spi_read "$LAST"
	at=$(sed -nE 's/.*spi_tree:function.* addr = (0x[0-9A-F]+),.* name = "sched_yield".*/\1/p' "$LAST.txt" | head -n 1)
	awk -v at="addr = $at," '/func_entry|func_exit/ { if (waits && !index($0, at)) n++; if (index($0, at)) waits = /func_entry/ }
		END { print n + 0 }' "$LAST.txt" >within.count
	[ -n "$at" ] || diag "the task was over before a thread had to wait for it"
	is "$(cat within.count)" 0 "nothing of LeakSanitizer's task is recorded in the name of the thread that waits for it"
else
	skip 6 "no clang with sanitizers here"
fi
tap_done
