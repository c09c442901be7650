#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng trace --tree -p PID`: what a running process executes after that comes into
# its tree, the program that it gives itself up for included. With --follow and no
# exec, nothing of it does.
. "${SPI_TOP_SRCDIR:?}/tests/tree/follow.sh"
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
running
is "$(programs)" "bash cat grep ls printenv seq sort " "every program"
running --follow threads,dlopen,fork
is "$(programs)" "bash " "without exec: none"
tap_done
