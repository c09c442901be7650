# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What the tests of real servers share. They run in `make soak`, from Debian's packages. A test says how its server is started, what
# makes it work and is right or wrong, and which function is called once for each request.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"

# needs PROGRAM... - skip where one is not installed
needs() {
	local program
	for program in "$@"; do
		command -v "$program" >/dev/null || skip_all "$program is not installed"
	done
}

# entries DIR FUNC - how often it was called
entries() { rm -f "$1.txt"; spi_count "$1" "$2_entry"; }

# counted NAME FUNC REQUESTS LOAD... -- OPTION... - the trace of the running server has each request that LOAD makes
counted() {
	local name=$1 func=$2 requests=$3
	local -a load=()
	shift 3
	while [ "$1" != -- ]; do load+=("$1"); shift; done
	shift
	rm -rf counted counted.err
	"$SPI_LTTNG" trace "$@" -o counted >/dev/null 2>counted.err </dev/null &
	tracer=$!
	spi_wait 60 file_has counted.err 'Trace directory' || diag "$(cat counted.err)"
	recording || diag "it is not recorded yet"
	check "$name: the load is served" "${load[@]}"
	kill -INT "$tracer"
	wait "$tracer"
	is $? 0 "$name: the trace ends well" || diag "$(tail -n 5 counted.err)"
	is "$(entries counted "$func")" "$requests" "$name: each request is recorded" || diag "$(tail -n 5 counted.err)"
	balanced counted "$name: each entry has its exit"
}
# A test says so when rules that come with a trace take a moment.
recording() { :; }

# again_and_again NAME TIMES LOAD... -- OPTION... - so many traces of half a second while LOAD goes on, which is served as ever
again_and_again() {
	local name=$1 times=$2 i bad=0 empty=0 idle=0 load_pid status
	local -a load=()
	shift 2
	while [ "$1" != -- ]; do load+=("$1"); shift; done
	shift
	rm -f load.stop
	(while [ ! -e load.stop ]; do "${load[@]}" >load.out 2>&1 || { cat load.out >>load.failed; echo x >>load.bad; }; done) &
	load_pid=$!
	for ((i = 0; i < times; i++)); do
		rm -rf again again.txt
		timeout -k 5 "$(spi_scaled 60)" "$SPI_LTTNG" trace "$@" --duration 0.5 -o again >/dev/null 2>again.err </dev/null
		status=$?
		[ "$status" = 0 ] || { bad=$((bad + 1)); diag "trace $i: status $status: $(tail -n 12 again.err)"; }
		# What is there for half a second may be in nobody's use, as a server between two logins.
		[ "$status" != 0 ] || ! grep -q '^No instrumented function was called' again.err || { idle=$((idle + 1)); continue; }
		case " $* " in
		*' --tree '*) grep -q '^Calls recorded: [1-9]\|^Events recorded: [1-9]' again.err || empty=$((empty + 1)) ;;
		*) spi_read again && { grep -q ' spi:' again.txt || empty=$((empty + 1)); } && events balance again.txt >balance.out 2>&1 || { bad=$((bad + 1)); diag "trace $i: $(tail -n 3 balance.out) $(tail -n 4 again.err)"; } ;;
		esac
	done
	: >load.stop
	spi_wait 60 pid_gone "$load_pid"
	ok $? "$name: the load goes on to its end"
	is "$bad/$empty" 0/0 "$name: $times traces, wrong/empty"
	ok "$((idle * 2 > times))" "$name: most of them see calls" || diag "$idle of $times saw none"
	is "$(cat load.bad 2>/dev/null | wc -l)" 0 "$name: the load is served as ever" || diag "$(tail -n 5 load.failed)"
	rm -f load.bad load.failed
}
