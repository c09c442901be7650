# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What the tests of the broker share: a stock session daemon with the plugin and
# the broker, stock lttng commands, and a program linked with lttng-ust (./app)
# and one that is not (./plain).

. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
BROKER_TESTS=$SPI_TOP_SRCDIR/tests/broker

# broker_setup - the programs, the daemon, and the broker once it answers
broker_setup() {
	spi_cc app "$SPI_PROGRAMS/lines.c" -Wl,--no-as-needed -llttng-ust
	spi_cc plain "$SPI_PROGRAMS/lines.c"
	broker_daemon
}

broker_daemon() {
	spi_patient
	LTTNG_SPI_DEBUG=$SPI_TMP/plugin.log sessiond_start
	daemon=$sessiond
	spi_wait 10 status_has version || { diag "$(cat plugin.log)"; echo "Bail out! no broker"; exit 1; }
}

# status [WORD...] - records of the broker's status that begin with these words
status() { python3 "$SPI_TOP_SRCDIR/tests/lib/broker-status.py" "$@"; }
# status_has WORD... - a condition for spi_wait
status_has() { [ -n "$(status "$@" 2>/dev/null)" ]; }
# status_like REGEX - the same with an extended regular expression over whole records
status_like() { status 2>/dev/null | grep -Eq -- "$1"; }
status_unlike() { ! status_like "$1"; }
# none_runs - all processes that rules were for have ended; what one lacked, as on a busy machine, is remembered after that
none_runs() { status_unlike '^process.[0-9]+.[0-9]+.(traced|idle|waiting|refused)'; }

# lttng_ok ARGS... - a stock command that must work
lttng_ok() {
	command lttng "$@" >lttng.log 2>&1 || { diag "lttng $*: $(cat lttng.log)"; echo "Bail out! lttng $1 failed"; exit 1; }
}

# record SESSION RULE... - a started session with these rules
record() {
	local session=$1 rule
	shift
	lttng_ok create "$session" --output="$SPI_TMP/$session"
	for rule; do lttng_ok enable-event -u -s "$session" "$rule"; done
	lttng_ok start "$session"
}

# recorded SESSION - destroy it, read it
recorded() {
	lttng_ok destroy "$1"
	spi_read "$SPI_TMP/$1"
}

# app_start NAME PROGRAM ARGS... - a program that waits for lines; its pid in $app_pid, its streams in the coprocess NAME
app_start() {
	local name=$1 line
	shift
	mkfifo "$name.in"
	"$@" <"$name.in" >"$name.out" 2>"$name.err" &
	app_pid=$!
	exec {app_in}>"$name.in"
	spi_wait 60 file_has "$name.out" ready || {
		echo "Bail out! $1 does not start"
		diag "$(cat "$name.err"; gdb -p "$app_pid" -batch -ex 'thread apply all -ascending backtrace 12' 2>&1 | grep -a '^#\|^Thread')"
		exit 1
	}
}

# app_call FD N - N more calls, and wait until they were made; the program's output file in $3
app_call() {
	local fd=$1 n=$2 out=$3 before
	before=$(wc -l <"$out")
	for ((i = 0; i < n; i++)); do echo >&"$fd"; done
	spi_wait 10 eval "[ \$(wc -l <$out) -ge $((before + n)) ]"
}

# as_user UID COMMAND... - with that user's rights and the tracing group's way to root's daemon
as_user() {
	user_prefix "$1"
	shift
	"${user[@]}" "$@"
}

# user_prefix UID - the words before a command that make it that user's, in $user
user_prefix() {
	user=(setpriv --reuid "$1" --regid "$1" --groups "$(stat -c %g /run/lttng/client-lttng-sessiond)"
		env HOME="$SPI_TMP/home-$1" LTTNG_HOME="$SPI_TMP/home-$1")
}
