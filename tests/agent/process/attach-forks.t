#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# What an attached process forks is traced with it, and left with it: the calls that the child is in have their ends then,
# and it can be attached to as if it had never been; also where the front end's socket is out of reach, another user's or
# in another directory tree.
. "${SPI_TOP_SRCDIR:?}/tests/lib/follow.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc forks children-wait.c -O1
mkdir -p jail/proc

# attached NAME PIDS EXPAND... - traced while one more child is made; the child is the last line of out
attached() {
	local name=$1 pids=$2 n
	shift 2
	rm -rf t
	: >traced.err
	rm -f traced.err
	# shellcheck disable=SC2086
	"$SPI_LTTNG" trace "$@" ${pids:+-p ${pids// / -p }} -o t 2>traced.err {to}>&- &
	tracer=$!
	spi_wait 20 file_has traced.err 'Trace directory'
	n=$(wc -l <out)
	printf x >&"$to"
	spi_wait 10 has_lines $((n + 1))
	spi_wait 10 grep -qsx lttng-spi "/proc/$(last_child)"/task/*/comm || diag "$name: the child is not followed"
	kill -INT "$tracer"
	wait "$tracer"
	is $? 0 "$name: traced" || diag "$(tail -n 5 traced.err)"
}
has_lines() { [ "$(wc -l <out)" -ge "$1" ]; }
last_child() { sed -n '$s/child //p' out; }
begin() {
	rm -f in out
	mkfifo in
	./forks "$@" <in >out & target=$!
	exec {to}>in
	spi_wait 10 file_has out ready
}
# Before it ends itself, the parent's end of the pipe goes and its children do.
end() {
	exec {to}>&-
	wait "$target"
	is $? "$1" "$2: its status"
}

for compact in "" --compact; do
	expand=()
	[ -z "$compact" ] || expand=(--expand "$SPI_EXPAND")
	begin
	attached "a child${compact:+, compact}" "$target" --tree $compact
	tree_balanced t "a child${compact:+, compact}: balanced, the call that it is in too" --counts t.counts "${expand[@]}"
	child=$(last_child)
	attached "both${compact:+, compact}" "$target $child" --tree $compact
	tree_balanced t "both${compact:+, compact}: balanced" "${expand[@]}"
	attached "by a function's name${compact:+, after compact trees}" "$target" -f child_make
	like "$(cat traced.err)" 'Events recorded: 2 ' "its calls"

	end 3 "three times${compact:+, compact}"
done

if [ "$(id -u)" = 0 ] && mount -t proc proc jail/proc && mkdir -p jail/dev/shm && mount --bind /dev/shm jail/dev/shm; then
	begin "$PWD/jail"
	attached "a child in a directory of its own, where LTTng is not" "$target" --tree
	"$SPI_TMP/calls" t >calls.out	# the child's call may have no end, or come too late: doc/limits.md
	check "its calls are there" grep -qE '^entries [12] exits [12] orphans 0 .* lost 0$' calls.out || diag "$(cat calls.out)"
	child=$(last_child)
	attached "both of those" "$target $child" --tree
	unlike "$(cat traced.err)" 'number' "its rules are gone"
	end 2 "in a directory of its own"
fi

# Those that are forked just before it is over come while the others are let go.
cat >many.c <<'C'
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int child_works(void)
{
	int n = 0;
	while (n < 100)
		usleep(300), n++;
	return n;
}
int main(int argc, char **argv)
{
	signal(SIGCHLD, SIG_IGN);
	if (argc > 1 && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
		return 1;
	puts("ready");
	fflush(stdout);
	for (int i = 0; argc < 3 || i < 30; i++, usleep(15000))
		if (fork() == 0)
			_exit(child_works());
	while (wait(NULL) > 0)
		;
	return 3;
}
C
gcc -O1 -g -o many many.c
for user in "" ", another user's"; do
	[ -z "$user" ] || [ "$(id -u)" = 0 ] || continue
	background ./many ${user:+drop}
	spi_wait 10 file_has target.out ready
	for i in 1 2; do
		# A user's first program has LTTng make his buffers first: on a busy machine that takes its time.
		for _ in 1 2 3; do
			rm -rf t
			"$SPI_LTTNG" trace --tree -p "$target" --duration 1 -o t 2>traced.err
			file_has traced.err 'Events recorded: 0 ' || break
		done
		tree_balanced t "over between two forks, $i$user"
		like "$(cat traced.err)" "Events recorded: [0-9]* \\($("$SPI_TMP/calls" t | sed 's/entries \([0-9]*\) .*/\1/') entries" \
			"all of them are counted, $i$user"
	done
	kill "$target"
	spi_wait 10 eval '! pgrep -x many >/dev/null'	# its children, too: one that ends while the next session begins spoils that
done
if [ "$(id -u)" = 0 ]; then
	rm -rf t
	"$SPI_LTTNG" trace --tree -o t ./many drop 30 >many.out 2>traced.err </dev/null
	is $? 3 "begun, and another user's later: its status"
	tree_balanced t "begun, and another user's later: balanced"
	like "$(cat traced.err)" "Events recorded: [0-9]* \\($("$SPI_TMP/calls" t | sed 's/entries \([0-9]*\) .*/\1/') entries" \
		"begun, and another user's later: all are counted"
fi
tap_done
