#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
#
# fork() waits for nobody who may never come: not for a front end that was stopped while the agent asks it about a library,
# and not for a thread that is in a callback of dl_iterate_phdr() and waits for what the forking thread has. The children that
# are made meanwhile are left alone, and told of.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc fork-waits "$SPI_TOP_SRCDIR/tests/programs/fork-waits.c" -pthread
cat >library.c <<'C'
int work_of_library(int n) { return n + 2; }
C
spi_cc library.so library.c -shared -fPIC

mkfifo in
./fork-waits load ./library.so <in >out 2>err &
program=$!
exec {to}>in
spi_wait 10 file_has out ready
"$SPI_LTTNG" trace -f 'work*' -o t -p "$program" >trace.out 2>trace.err {to}>&- &
front=$!
spi_wait 20 file_has trace.err 'Tracing'
kill -STOP "$front"
echo >&"$to"
check "the program forks while the front end is stopped" spi_wait 30 eval '[ "$(grep -c ended out)" = 5 ]'
is "$(grep -c 'ended 0' out)" 5 "its children end as ever"
slowest=$(awk '/^fork/ && $3 > most { most = $3 } END { print most + 0 }' out)
spi_soon "$slowest" 2500 "no fork() waits for long"
kill -CONT "$front"
exec {to}>&-
wait "$program"
is $? 0 "it ends as ever"
wait "$front"
is "$(cat err)" "" "and says nothing"
like "$(cat trace.err)" 'child.*was made while the tracer was busy in its parent' "the front end says which children are not traced"

for i in 1 2; do
	timeout $((30 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f work -o "lock$i" ./fork-waits lock >lock.out 2>lock.err
	is "$?/$(grep -c 'ended 0' lock.out)/$(grep -c done lock.out)" 0/1/1 "a thread in a callback waits for the forking one: both go on" ||
		diag "$(cat lock.out lock.err)"
done
like "$(cat lock.err)" 'looked at the list of loaded objects' "and the child is told of"
tap_done
