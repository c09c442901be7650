#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng trace --tree -p PID`: what a running process executes after that comes into
# its tree, the program that it gives itself up for included. With --follow and no
# exec, nothing of it does.
. "${SPI_TOP_SRCDIR:?}/tests/lib/follow.sh"
spi_private "$@"
spi_daemon
tree_tools

# running OPTION... - a shell that is told what to do once it is traced
running() {
	local target tracer to
	rm -rf in t target.out traced.err && mkfifo in
	bash -c 'echo ready; while read x; do eval "$x"; done; exec ls -d /' <in >target.out 2>target.err &
	target=$!
	exec {to}>in
	spi_wait 10 file_has target.out ready
	"$SPI_LTTNG" trace --tree -p "$target" -o t "$@" 2>traced.err {to}>&- &
	tracer=$!
	spi_wait 20 file_has traced.err 'Trace directory' || diag "$(cat traced.err)"
	echo 'seq 2 | sort -r; cat /dev/null; printenv | grep -c -e LD_PRELOAD -e SPI; echo done' >&"$to"
	spi_wait 20 file_has target.out done
	exec {to}>&-
	wait "$target"
	is $? 0 "its status"
	wait "$tracer"
	is $? 0 "the tracer's status" || diag "$(tail -n 4 traced.err)"
	is "$(tr '\n' ' ' <target.out)" "ready 2 1 $(printenv | grep -c -e LD_PRELOAD -e SPI) done / " "its output, and its children's"
	is "$(cat target.err)" "" "no complaint"
	tree_balanced t "balanced" --counts t.counts
}

# executes WAY - a program that executes another by that once it is traced
executes() {
	local target tracer to
	rm -rf in t target.out traced.err && mkfifo in
	./follow wait "$1" ./target <in >target.out 2>&1 &
	target=$!
	exec {to}>in
	spi_wait 10 file_has target.out ready
	"$SPI_LTTNG" trace --tree --lib follow --lib target -p "$target" -o t 2>traced.err {to}>&- &
	tracer=$!
	spi_wait 20 file_has traced.err 'Trace directory' || diag "$(cat traced.err)"
	echo >&"$to"
	exec {to}>&-
	wait "$target"
	is "$?/$(tr '\n' ' ' <target.out)" "$2" "$1: as without"
	wait "$tracer"
	tree_balanced t "$1: balanced" --counts t.counts
	is "$(calls_of target)" 3 "$1: the calls of what it executes"
}
tree_cc follow follow.c -O1
echo 'int t(int a) { return a * 2; } int u(int a) { return t(a) + 1; } int main(void) { return u(1) + 1; }' >target.c
gcc -O0 -o target target.c
t_leaf=$(nm follow | awk '$3 == "t_leaf" { sub(/^0*/, "", $1); print $1 }')
for way in vfork spawn system popen clone syscall; do
	executes "$way" "0/ready $way: 4 "
	# what a borrowing child calls is not its parent's
	case $way in vfork) expected=2 ;; *) expected=1 ;; esac
	is "$(awk -F '\t' -v f="/follow+0x$t_leaf" 'index($2, f) { print $1 }' t.counts)" "$expected" "$way: the parent's calls alone"
done

running
is "$(programs)" "bash cat grep ls printenv seq sort " "every program"
running --follow threads,dlopen,fork
is "$(programs)" "bash " "without exec: none"
tap_done
