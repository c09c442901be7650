# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What the end-to-end tests share: programs built for one test, the front end
# and injector of the build tree, and traces read back with babeltrace2.
# events.py beside this file counts, compares and balances the events.

. "${BASH_SOURCE[0]%/*}/tap.sh"
. "${BASH_SOURCE[0]%/*}/private.sh"
. "${BASH_SOURCE[0]%/*}/compile.sh"

: "${SPI_TOP_SRCDIR:=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)}"
: "${SPI_TOP_BUILDDIR:=$SPI_TOP_SRCDIR/build}"
export SPI_TOP_SRCDIR SPI_TOP_BUILDDIR
SPI_LTTNG=$SPI_TOP_BUILDDIR/cli/lttng
SPI_INJECT=$SPI_TOP_BUILDDIR/injector/spi-inject
SPI_CODEMAP=$SPI_TOP_BUILDDIR/codemap/spi-codemap
SPI_PROGRAMS=$SPI_TOP_SRCDIR/tests/programs

# spi_cc OUTPUT SOURCE [OPTION...] - build a target: -O2 -g unless told otherwise; SOURCE is looked up in programs/
spi_cc() {
	local out=$1 source=$2 compiler=gcc
	shift 2
	[ -e "$source" ] || source=$SPI_PROGRAMS/$source
	case $source in *.cc) compiler=g++ ;; esac
	spi_compile "$out" "$compiler" -O2 -g -pthread "$source" "$@" 2>"$SPI_TMP/cc.log" ||
		{ diag "$(cat "$SPI_TMP/cc.log")"; echo "Bail out! $source does not compile"; exit 1; }
}

# "${SPI_ALONE[@]}" LTTNG_SPI_RULES=RULES COMMAND... - the agent preloaded, no controller: it runs spi-codemap itself
SPI_ALONE=(env LD_PRELOAD="$SPI_TOP_BUILDDIR/liblttng-spi/.libs/liblttng-spi.so.0" LTTNG_SPI_CODEMAP="$SPI_CODEMAP")

# spi_trace ARGS... - `lttng trace ARGS`, with its stderr kept in $SPI_TMP/trace.err; the command's own status
spi_trace() {
	may_die "$SPI_LTTNG" trace "$@" 2>"$SPI_TMP/trace.err"
}

# spi_trace_same NAME DIR COMMAND ARGS... - COMMAND, words in one argument, without and below `lttng trace ARGS -o DIR`: the
# same status and output. What the front end says is in ./trace.err.
spi_trace_same() {
	local name=$1 dir=$2 command=$3 plain traced
	shift 3
	# shellcheck disable=SC2086
	$command >plain.out </dev/null
	plain=$?
	# shellcheck disable=SC2086
	timeout $((20 * SPI_PATIENCE)) "$SPI_LTTNG" trace "$@" -o "$dir" $command >traced.out 2>trace.err </dev/null
	traced=$?
	is "$traced" "$plain" "$name: status" || diag "$(tail -n 5 trace.err)"
	same_file traced.out plain.out "$name: output"
}

# spi_trace_ok NAME ARGS... - the same, checked for status 0 with stdout to $SPI_TMP/trace.out
spi_trace_ok() {
	local name=$1 status
	shift
	spi_trace "$@" >"$SPI_TMP/trace.out"
	status=$?
	ok "$status" "$name" || { diag "lttng trace $* -> status $status"; diag "$(tail -n 15 "$SPI_TMP/trace.err")"; }
	return "$status"
}

# spi_read DIR - the trace as text in DIR.txt, once, and what babeltrace2 warns of in DIR.warn
spi_read() {
	[ -e "$1.txt" ] && return 0
	babeltrace2 "$1" >"$1.txt" 2>"$1.warn" || { diag "babeltrace2: $(tail -n 3 "$1.warn")"; return 1; }
}

# spi_count DIR EVENT - how many events of exactly this name (without `spi:`)
spi_count() {
	spi_read "$1" && grep -acF " spi:$2: " "$1.txt" || :
}

# events COMMAND ARGS... - the reader of babeltrace2's text; see its opening comment
events() {
	python3 "$SPI_TOP_SRCDIR/tests/lib/events.py" "$@"
}

# balanced DIR NAME - every exit has its entry, innermost first; nothing left open at the end
balanced() {
	local out
	spi_read "$1" && out=$(events balance "$1.txt" 2>&1)
	ok $? "$2" || diag "$out"
}

# background COMMAND... - start a target; its pid in $target. It has begun when it has printed a line to target.out.
background() {
	: >"$SPI_TMP/target.out"
	"$@" >"$SPI_TMP/target.out" 2>"$SPI_TMP/target.err" </dev/null &
	target=$!
	spi_wait 10 file_has "$SPI_TMP/target.out" . || { echo "Bail out! $1 does not start"; exit 1; }
}

# finish PID - end a target with SIGTERM and wait for it; its status
finish() {
	kill "$1" 2>/dev/null
	wait "$1"
}
