# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Helpers of the event module's own tests: build a test program with the
# stand-in core, run sessions, read traces.

tp_dir=$SPI_TOP_SRCDIR/tests/programs/units/tp
# shellcheck source=/dev/null
. "$SPI_TOP_SRCDIR/tests/lib/tap.sh"
# shellcheck source=/dev/null
. "$SPI_TOP_SRCDIR/tests/lib/private.sh"
export SPI_TP_MODULE=${SPI_TP_MODULE:-$SPI_TOP_BUILDDIR/tp/.libs/liblttng-spi-tp.so}

# tp_program NAME [GCC-OPTION...] - NAME.c with the stand-in core, as $SPI_TMP/NAME
tp_program() {
	local name=$1
	shift
	gcc -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -rdynamic -I"$SPI_TOP_SRCDIR" -I"$tp_dir" \
		-o "$SPI_TMP/$name" "$tp_dir/$name.c" "$tp_dir/host.c" "$@" -ldl -lpthread ||
		{ echo "Bail out! $name does not compile"; exit 1; }
}

# session NAME [EVENT...] - created in $SPI_TMP/trace-NAME, vpid and vtid contexts, started
session() {
	local name=$1 event
	shift
	lttng -q create "$name" --output="$SPI_TMP/trace-$name" || return 1
	[ -n "${CHANNEL:-}" ] && lttng -q enable-channel -u -s "$name" ch ${CHANNEL}
	for event in "$@"; do
		lttng -q enable-event -u -s "$name" ${CHANNEL:+-c ch} "$event" ${FILTER:+--filter "$FILTER"} || return 1
	done
	lttng -q add-context -u -s "$name" ${CHANNEL:+-c ch} -t vpid -t vtid || return 1
	[ -n "${NO_START:-}" ] || lttng -q start "$name"
}

# events NAME - the trace as text, one event a line, without the time; the session is destroyed
events() {
	lttng -q destroy "$1" >/dev/null
	babeltrace2 --no-delta "$SPI_TMP/trace-$1" 2>"$SPI_TMP/$1.bt2" | sed 's/^\[[^]]*\] [^ ]* //'
	[ ! -s "$SPI_TMP/$1.bt2" ] || diag "$(head -n 5 "$SPI_TMP/$1.bt2")"
}

# program_start PROGRAM... - as a coprocess whose steps `step` gives; ready when this returns
program_start() {
	coproc PROGRAM { exec "$@" 2>"$SPI_TMP/program.err"; }
	program_pid=$PROGRAM_PID
	program_wait ready
}

# step TEXT - one step of the program; its output until it is done is in $step_out
step() {
	echo "$*" >&"${PROGRAM[1]}"
	program_wait "done $*"
}

program_wait() {
	local line
	step_out=
	while read -r -t 60 line <&"${PROGRAM[0]}"; do
		[ "$line" != "$1" ] || return 0
		step_out+=$line
	done
	fail "program answers '$1': $(cat "$SPI_TMP/program.err")"
	return 1
}

# program_end - its exit status
program_end() {
	local status
	eval "exec ${PROGRAM[1]}>&-"
	wait "$program_pid"
	status=$?
	[ ! -s "$SPI_TMP/program.err" ] || diag "$(head -n 5 "$SPI_TMP/program.err")"
	return "$status"
}

# count TEXT REGEX - lines of TEXT that match
count() { grep -cE -- "$2" <<<"$1"; }

# balance TEXT - entries and exits of spi:work nest, thread by thread: prints "ENTRIES EXITS" or what is wrong
balance() {
	awk '
		/spi:work_(entry|exit)/ {
			match($0, /vtid = [0-9]+/); t = substr($0, RSTART, RLENGTH)
			if (/work_entry/) {
				match($0, / a = -?[0-9]+/); v = substr($0, RSTART + 5, RLENGTH - 5)
				stack[t, depth[t]++] = v; entries++
			} else {
				exits++
				if (!depth[t]) { print "exit without entry: " $0; bad = 1; exit }
				v = stack[t, --depth[t]]
				match($0, /ret = -?[0-9]+/); r = substr($0, RSTART + 6, RLENGTH - 6)
				if (r != 0 && r != v + 1000) { print "exit of another call: " v " " $0; bad = 1; exit }
			}
		}
		END {
			if (bad) exit
			for (t in depth) open += depth[t]
			print entries + 0, exits + 0, "open", open + 0
		}' <<<"$1"
}
