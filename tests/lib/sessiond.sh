# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# For tests of the session daemon with the plugin: the daemon of the build tree's
# spi-sessiond, programs that are linked with lttng-ust, and waiting for what the
# broker says.

. "${BASH_SOURCE[0]%/*}/trace.sh"

SPI_SESSIOND=$SPI_TOP_BUILDDIR/spi-sessiond-plugin/spi-sessiond
SPI_SESSIOND_PROGRAMS=$SPI_TOP_SRCDIR/tests/programs

# sessiond_start [OPTION...] - the stock daemon with the plugin in it; $sessiond is its pid
sessiond_start() {
	local -a group=()

	[ "${SPI_OUTER_UID:-0}" = 0 ] || group=(--group root)
	"$SPI_SESSIOND" --no-kernel --daemonize "${group[@]}" "$@" >"$SPI_TMP/sessiond.log" 2>&1 ||
		{ diag "$(cat "$SPI_TMP/sessiond.log")"; echo "Bail out! spi-sessiond does not start"; exit 1; }
	spi_wait 10 test -s "$(spi_rundir)/lttng-sessiond.pid"
	sessiond=$(cat "$(spi_rundir)/lttng-sessiond.pid")
}

# spi_sessiond [OPTION...] - the same, and its broker is there when this returns
spi_sessiond() {
	spi_patient
	sessiond_start "$@"
	spi_wait 10 test -S "$(spi_rundir)/spi-status"
	ok $? "the daemon has its broker"
}

# where the session daemon of this user has its sockets
spi_rundir() {
	if [ "$(id -u)" = 0 ]; then
		echo /run/lttng
	else
		echo "$LTTNG_HOME/.lttng"
	fi
}

# spi_app [OUTPUT] - the program with tracepoints of its own, linked with lttng-ust
spi_app() {
	spi_cc "${1:-app}" "$SPI_PROGRAMS/ticks.c" -I"$SPI_PROGRAMS" -llttng-ust -ldl
}

# spi_status - what the broker tells, as text with tabs (broker/status-proto.h)
spi_status() {
	python3 - "$(spi_rundir)/spi-status" <<'PYTHON'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(5)
s.connect(sys.argv[1])
text = b""
while True:
    part = s.recv(65536)
    if not part:
        break
    text += part
sys.stdout.write(text.decode(errors="replace"))
PYTHON
}

# spi_status_has REGEX - a line of the broker's answer matches; for spi_wait. \t is a tab.
spi_status_has() {
	spi_status | grep -Eq -- "$(printf '%b' "$1")"
}

# quiet COMMAND... - its output kept out of the way
quiet() {
	"$@" >>"$SPI_TMP/quiet.log" 2>&1
}
