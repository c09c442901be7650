# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What the tests of the plugin share: a stock session daemon with the plugin and
# a fake broker, and a program linked with lttng-ust.

. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
SPI_PLUGIN_DIR=$SPI_TOP_BUILDDIR/spi-sessiond-plugin
PLUGIN_TESTS=$SPI_TOP_SRCDIR/tests/plugin

# plugin_build - ./app and ./fake-broker, the latter as the plugin's broker from now on
plugin_build() {
	spi_cc app "$SPI_PROGRAMS/hits.c" -I"$SPI_PROGRAMS" -llttng-ust -ldl
	spi_cc fake-broker "$SPI_PROGRAMS/fake-broker.c" -I"$SPI_TOP_SRCDIR" -D_GNU_SOURCE
	export LTTNG_SPI_BROKER=$SPI_TMP/fake-broker FAKE_BROKER_LOG=$SPI_TMP/broker.log
	: >broker.log
}

# plugin_daemon MODE - start the daemon with the plugin, and a fake broker of that mode; returns when that is there
plugin_daemon() {
	export FAKE_BROKER=$1
	LTTNG_SPI_DEBUG=${SPI_DEBUG-$SPI_TMP/plugin.log} sessiond_start
	daemon=$sessiond
	[ ! -x "$LTTNG_SPI_BROKER" ] || spi_wait 5 file_has broker.log '^DAEMON' ||
		{ diag "$(cat plugin.log)"; echo "Bail out! the broker does not start"; exit 1; }
}

# record SESSION - a session that records plug:*, started
record() {
	lttng create "$1" --output="$SPI_TMP/$1" >lttng.log 2>&1 &&
		lttng enable-event -u -s "$1" 'plug:*' >>lttng.log 2>&1 &&
		lttng start "$1" >>lttng.log 2>&1 || { diag "$(cat lttng.log)"; echo "Bail out! no session"; exit 1; }
}

# recorded SESSION - destroy it; how many events it has
recorded() {
	lttng destroy "$1" >lttng.log 2>&1 || diag "$(cat lttng.log)"
	babeltrace2 "$SPI_TMP/$1" >"$1.txt" 2>"$1.warn"
	grep -c ' plug:hit: ' "$1.txt"
}

# milliseconds - of the clock
milliseconds() { local t=${EPOCHREALTIME/./}; printf %d $((t / 1000)); }

# count_log REGEX - lines of the broker's log
count_log() { grep -Ec -- "$1" broker.log; }
# log_counts REGEX N - a condition for spi_wait: N such lines or more
log_counts() { [ "$(count_log "$1")" -ge "$2" ]; }

# stub_build [OPTION...] - ./stub-daemon (stub-daemon.c), built with further compiler options
stub_build() {
	spi_cc libstub-ust-ctl.so "$SPI_TOP_SRCDIR/tests/programs/units/plugin/stub-ust-ctl.c" -shared -fPIC
	spi_cc stub-daemon "$SPI_TOP_SRCDIR/tests/programs/units/plugin/stub-daemon.c" -D_GNU_SOURCE -L. -Wl,-rpath,"$PWD" -lstub-ust-ctl "$@"
}
