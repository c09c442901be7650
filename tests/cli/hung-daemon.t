#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A session daemon that is stopped, or hangs, does not keep a user from ending `lttng
# trace`: nothing is started then, and a traced process goes on untraced.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
cat >app.c <<'EOF_C'
#include <stdio.h>
__attribute__((noipa)) int add(int a, int b) { return a + b; }
int main(void)
{
	char line[16];
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	for (int i = 0; fgets(line, sizeof(line), stdin); i++)
		printf("%d\n", add(i, 1));
}
EOF_C
spi_cc app "$PWD/app.c"
spi_daemon
daemon=$(cat /run/lttng/lttng-sessiond.pid)

mkfifo in
./app <in >out &
app=$!
exec {to_app}>in
spi_wait 10 file_has out ready
"$SPI_LTTNG" trace -f add -p "$app" -o p 2>err &
tracer=$!
spi_wait 20 file_has err 'Trace directory'
echo >&"$to_app"
kill -STOP "$daemon"
kill -INT "$tracer"
spi_wait 20 python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$app"
ok $? "the process is as it was, though the daemon does not answer" || diag "$(cat err)"
kill -INT "$tracer"
wait "$tracer"
is $? 1 "a second ^C ends it, and the trace is not complete"
like "$(cat err)" 'Error: the session daemon does not answer: given up' "it says why"
like "$(cat err)" 'Warning: session trace-app-' "and which session may be left"
echo >&"$to_app"
check "the process goes on" spi_wait 10 eval '[ "$(wc -l <out)" = 3 ]'
exec {to_app}>&-
wait "$app"
is $? 0 "to its end"

"$SPI_LTTNG" trace -f add -o c ./app </dev/null >out2 2>err &
tracer=$!
spi_wait 20 test -d c
kill -TERM "$tracer"
wait "$tracer"
[ $? -ne 0 ]
ok $? "TERM before the start"
is "$(cat out2)" "" "nothing was started"
is "$(grep -c '^Error: ' err)" 1 "one error" || diag "$(cat err)"
[ ! -e c ]
ok $? "no directory is left"
kill -CONT "$daemon"
check "the daemon answers others again" lttng list
tap_done
