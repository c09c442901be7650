#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A consumer daemon, or a session daemon, that ends in the middle of a run: the program goes
# on, and that the trace is not complete is said at once and in the status.
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
	return 0;
}
EOF_C
spi_cc app "$PWD/app.c"
mkfifo in

# without DAEMON - a run in whose middle it is killed
without() {
	rm -f out err
	"$SPI_LTTNG" trace -f add -o "$1" ./app <in >out 2>err &
	local tracer=$! to_app
	exec {to_app}>in
	spi_wait 20 file_has out ready
	echo >&"$to_app"
	spi_wait 10 file_has out '^1$'
	kill -9 $(pgrep -x "$1")
	check "$1 killed: said at once" spi_wait 10 file_has err "^Error: LTTng's consumer daemon has ended: restart the session daemon"
	echo >&"$to_app"
	check "$1 killed: the program goes on" spi_wait 10 file_has out '^2$'
	exec {to_app}>&-
	wait "$tracer"
	is $? 1 "$1 killed: status" || diag "$(cat err)"
}

spi_daemon
without lttng-consumerd
"$SPI_LTTNG" trace -f add -o after ./app </dev/null >out 2>err
is "$?/$(cat out)" 1/ "the next run is not begun"
is "$(cat err)" "$(grep -m 1 '^Error: cannot make the channel of .*: restart the session daemon' err)" "in one line that says what to do" ||
	diag "$(cat err)"
lttng create s --output="$PWD/s" >/dev/null
like "$("$SPI_LTTNG" enable-event --spi -f add 2>&1)" "^Error: add: [^"$'\n'"]*consumer daemon may have ended: restart[^"$'\n'"]*\$" \
	"enable-event --spi, too"
kill "$(cat /run/lttng/lttng-sessiond.pid)"
spi_wait 10 eval '! pgrep -x lttng-sessiond'
spi_daemon
without lttng-sessiond
tap_done
