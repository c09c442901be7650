#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Many programs at once are each given their rules; a tracer that is gone, killed or
# told to stop keeps none waiting.
. "${SPI_TOP_SRCDIR:?}/tests/lib/follow.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc follow follow.c -O1

n=${SPI_SOAK:+300} n=${n:-60}
followed "$n children" "" ./follow many "$n"
is "$(programs)" "follow true " "$n children: what they execute"
is "$(awk -F '\t' '/\/true\+/ { if ($1 > n) n = $1 } END { print n }' t.counts)" "$n" "$n children: every one"
followed "$n children, compact" --compact ./follow many "$n"
is "$(awk -F '\t' '/\/true\+/ { if ($1 > n) n = $1 } END { print n }' t.counts)" "$n" "$n children, compact: every one"
followed "threads that spawn" "" ./follow threads 8
is "$(awk -F '\t' '/\/true\+/ { if ($1 > n) n = $1 } END { print n }' t.counts)" 80 "threads that spawn: every one"

# ends HOW - the tracer ends while the shell has not executed anything yet
ends() {
	local how=$1 tracer shell in
	rm -rf d in status && mkfifo in
	"$SPI_LTTNG" trace --tree -o d sh -c 'echo $$ >shell.pid; read x; ls / | sort; ./follow spawn; echo $? >status' \
		<in >out 2>err &
	tracer=$!
	exec {in}>in
	spi_wait 20 file_has shell.pid .
	shell=$(cat shell.pid)
	kill "-$how" "$tracer"
	[ "$how" = TERM ] && kill "-$how" "$tracer" 2>/dev/null
	wait "$tracer" 2>/dev/null
	if kill -0 "$shell" 2>/dev/null; then
		echo >&"$in"
		check "$how: programs run on without it" spi_wait 20 file_has status 0
		is "$(cat out)" "$(ls / | sort; ./follow spawn)" "$how: as without"
	else
		pass "$how: it ended its command"
	fi
	exec {in}>&-
	rm -f shell.pid
}
ends KILL
ends TERM
check "no process is left" spi_wait 10 eval "! pgrep -x 'follow|true|sh' >/dev/null"
tap_done
