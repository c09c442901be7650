# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# For the tests of call trees: the reader of such traces (tests/lib/calls/), a
# recording of one command by a tree rule, and one by what is taken for the
# truth, -finstrument-functions with lttng-ust's own cyg-profile library.

. "${BASH_SOURCE[0]%/*}/trace.sh"

SPI_AGENT=$SPI_TOP_BUILDDIR/liblttng-spi/.libs/liblttng-spi.so.0
SPI_CYG=/usr/lib/x86_64-linux-gnu/liblttng-ust-cyg-profile.so.1
SPI_EXPAND=$SPI_TOP_BUILDDIR/bt2/.libs

# What a tree is recorded as: TREE_COMPACT=1 in the environment of a test (or set in it) makes all of them compact.
tree_compact() {
	TREE_COMPACT=1
	TREE_RULE='tree(main;compact)' TREE_EVENTS='spi_tree:*,lttng_ust_statedump:*,lttng_ust_lib:*'
}
[ -z "${TREE_COMPACT:-}" ] || tree_compact

# tree_tools - builds $SPI_TMP/calls
tree_tools() {
	# shellcheck disable=SC2046
	spi_compile "$SPI_TMP/calls" gcc -O2 "$SPI_TOP_SRCDIR"/tests/lib/calls/*.c $(pkg-config --cflags --libs babeltrace2) 2>"$SPI_TMP/cc.log" ||
		{ diag "$(cat "$SPI_TMP/cc.log")"; echo "Bail out! tests/lib/calls does not compile"; exit 1; }
}

# tree_cc OUTPUT SOURCE [OPTION...] - a program of tests/programs, as it says in the options and not otherwise
tree_cc() {
	local out=$1 source=$SPI_PROGRAMS/$2 compiler=gcc
	shift 2
	case $source in *.cc) compiler=g++ ;; esac
	spi_compile "$out" "$compiler" -g -pthread "$source" "$@" 2>"$SPI_TMP/cc.log" ||
		{ diag "$(cat "$SPI_TMP/cc.log")"; echo "Bail out! $source does not compile"; exit 1; }
}

# tree_session DIR - a session that records calls without loss, started
tree_session() {
	rm -rf "$1"
	{
		lttng create tree -o "$1" &&
		lttng enable-channel -u c --subbuf-size 1M --num-subbuf 8 --blocking-timeout=inf &&
		lttng add-context -u -c c -t vpid -t vtid -t ip &&
		lttng enable-event -u -c c "${TREE_EVENTS:-lttng_ust_cyg_profile*:*,lttng_ust_statedump:*,lttng_ust_lib:*}" &&
		lttng start
	} >"$SPI_TMP/session.log" 2>&1 || { diag "$(cat "$SPI_TMP/session.log")"; return 1; }
}

tree_session_end() {
	{ lttng stop && lttng destroy tree; } >"$SPI_TMP/session.log" 2>&1 || diag "$(cat "$SPI_TMP/session.log")"
}

# tree_record DIR RULE COMMAND... - traced by the rule; the command's own status and output, what it says in $SPI_TMP/tree.debug
tree_record() {
	local dir=$1 rule=$2 status
	shift 2
	: >"$SPI_TMP/tree.debug"
	tree_session "$dir" || return 99
	env ${TREE_ENV:-} LTTNG_UST_ALLOW_BLOCKING=1 LTTNG_SPI_CODEMAP="$SPI_CODEMAP" LTTNG_SPI_RULES="$rule" \
		LTTNG_SPI_DEBUG="$SPI_TMP/tree.debug" LD_PRELOAD="$SPI_AGENT" "$@"
	status=$?
	tree_session_end
	return "$status"
}

# truth_record DIR COMMAND... - the same of a program built with -finstrument-functions
truth_record() {
	local dir=$1 status
	shift
	TREE_EVENTS= tree_session "$dir" || return 99
	LTTNG_UST_ALLOW_BLOCKING=1 LD_PRELOAD="$SPI_CYG" "$@"
	status=$?
	tree_session_end
	return "$status"
}

# tree_balanced DIR NAME [OPTION...] - pops stacks as Trace Compass does; the line of figures is a diagnostic
tree_balanced() {
	local dir=$1 name=$2 out
	shift 2
	[ -z "${TREE_COMPACT:-}" ] || set -- --expand "$SPI_EXPAND" "$@"
	out=$("$SPI_TMP/calls" "$@" "$dir" 2>"$dir.problems")
	ok $? "$name" || diag "$(head -n 8 "$dir.problems")" "$(tail -n 4 "$SPI_TMP/tree.debug" 2>/dev/null)"
	diag "$out"
}

# tree_as_many NAME TRACE - of a trace of functions' events: as many entries of each as exits
tree_as_many() {
	babeltrace2 "$2" 2>"$2.warn" | grep -oE ' spi:[a-z_]*_(entry|exit):' | sed -E 's/_(entry|exit):/ \1/' | sort | uniq -c |
		awk '{ n[$2] += $3 == "entry" ? $1 : -$1; all += $1 } END { for (i in n) if (n[i]) print i, n[i]; if (all < 1000) print "few", all }' >"$2.odd"
	is "$(cat "$2.odd")" "" "$1: as many exits as entries" || diag "$(tail -n 4 "$2.warn")"
}

# both_sessions - one that records plain trees, one that records compact ones, without loss: $SPI_TMP/both.plain, both.compact
both_sessions() {
	local name events
	for name in plain compact; do
		events='lttng_ust_cyg_profile:*'
		[ "$name" = plain ] || events='spi_tree:*'
		rm -rf "$SPI_TMP/both.$name"
		lttng -q create "$name" -o "$SPI_TMP/both.$name" &&
			lttng -q enable-channel -u -s "$name" c --subbuf-size 1M --num-subbuf 8 --blocking-timeout=inf &&
			lttng -q add-context -u -s "$name" -c c -t vpid -t vtid -t ip &&
			lttng -q enable-event -u -s "$name" -c c "lttng_ust_statedump:*,lttng_ust_lib:*,$events" &&
			lttng -q start "$name" || diag "no session: $name"
	done
}
both_sessions_end() {
	lttng -q destroy plain
	lttng -q destroy compact
}

# both_balanced NAME [OPTION...] - leaves plain.seq and compact.seq
both_balanced() {
	local name=$1
	shift
	TREE_COMPACT='' tree_balanced "$SPI_TMP/both.plain" "$name: plain: balanced" --sequence plain.seq "$@"
	TREE_COMPACT=1 tree_balanced "$SPI_TMP/both.compact" "$name: compact: balanced" --sequence compact.seq "$@"
}

# tree_is_truth NAME MODE PROGRAM [ARG...] - $SPI_TMP/PROGRAM-truth and $SPI_TMP/PROGRAM, of one source: the same output and
# status; the same calls, in each thread in the same order. MODE is what truth.py compares:
# `nesting`, or `entries` where the truth has no exits.
tree_is_truth() {
	local name=$1 mode=$2 program=$3 dir plain traced
	shift 3
	dir=$SPI_TMP/truth-$tap_count
	"./$program" "$@" >"$dir.plain" 2>&1 </dev/null
	plain=$?
	truth_record "$dir.truth" "./$program-truth" "$@" >"$dir.truth.out" 2>&1 </dev/null
	tree_record "$dir.tree" "${TREE_RULE:-tree(main)}" "./$program" "$@" >"$dir.traced" 2>&1 </dev/null
	traced=$?
	is "$traced" "$plain" "$name: status"
	same_file "$dir.traced" "$dir.plain" "$name: output"
	"$SPI_TMP/calls" --open 999999999 --sequence "$dir.truth.seq" "$dir.truth" >"$dir.truth.sum" 2>/dev/null
	tree_balanced "$dir.tree" "$name: balanced" --sequence "$dir.tree.seq"
	check "$name: the truth" python3 "$SPI_TOP_SRCDIR/tests/lib/truth.py" "$mode" "$dir.truth.seq" "$dir.tree.seq" "$program-truth=$program" ${TREE_OBJECTS:-}
}

# tree_real NAME COMMAND... - an unmodified program in ./work, made anew by real_setup each time, stdin from ./stdin where
# there is one: stdout, stderr and status as without, and balanced. The trace is in $SPI_TMP/real.
tree_real() {
	local name=$1 plain traced input=/dev/null differs=
	shift
	[ ! -e stdin ] || input=$PWD/stdin
	rm -rf work && mkdir work && (cd work && real_setup && exec "$@") >plain.out 2>plain.err <"$input"
	plain=$?
	rm -rf work && mkdir work && (cd work && real_setup)
	(cd work && tree_record "$SPI_TMP/real" "${TREE_RULE:-tree(main)}" "$@") >traced.out 2>traced.err <"$input"
	traced=$?
	[ "$plain" = "$traced" ] || differs+="status $traced, not $plain; "
	cmp -s plain.out traced.out || differs+="stdout: $(diff -a plain.out traced.out | head -n 4 | cut -c1-200); "
	cmp -s plain.err traced.err || differs+="stderr: $(diff -a plain.err traced.err | head -n 4 | cut -c1-200); "
	[ -z "$differs" ]
	ok $? "$name: stdout, stderr and status as without" || diag "$* : $differs"
	tree_balanced "$SPI_TMP/real" "$name: balanced" --counts "$SPI_TMP/real.counts" ${TREE_DIES_IN:+--dies-in "$TREE_DIES_IN"}
}

real_setup() { :; }

# Both runs choose the same of libc's functions: valgrind's processor has no AVX-512.
TREE_SAME_CPU=(LD_BIND_NOW=1 GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD,-RTM,-Prefer_No_VZEROUPPER)

# tree_is_callgrind NAME REGEX COMMAND... - each function below main() has as many calls as callgrind sees, but those
# that the regular expression names (FILE:FUNCTION), which differ by nature. Whoever needs work/ has real_setup.
tree_is_callgrind() {
	local name=$1 skip=$2 program input=/dev/null out file
	local -a files
	shift 2
	[ ! -e stdin ] || input=$PWD/stdin
	program=$(readlink -f "$(command -v "$1")")
	rm -rf labelled cg.out && mkdir labelled
	mapfile -t files < <(ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// && $3 !~ /libc\.so/ { print $3 }' | xargs -r readlink -f)
	python3 "$SPI_TOP_SRCDIR/tests/lib/callgrind.py" label labelled "$program" "${files[@]}" || { fail "$name: names for functions"; return; }
	rm -rf work && mkdir work && (cd work && real_setup)
	(
		cd work && exec unshare -m --propagation private bash -c '
			for file in ../labelled/*; do
				for place in '"${program@Q}"' '"${files[*]@Q}"'; do
					[ "${place##*/}" != "${file##*/}" ] || mount --bind "$file" "$place" || exit 77
				done
			done
			exec env '"${TREE_SAME_CPU[*]@Q}"' valgrind -q --tool=callgrind --callgrind-out-file=../cg.out \
				--dump-instr=yes --compress-strings=no --compress-pos=no --toggle-collect=main "$@"' - "$@"
	) >cg.stdout 2>cg.stderr <"$input"
	[ -s cg.out ] || { fail "$name: callgrind"; diag "$(tail -n 3 cg.stderr)"; return; }
	rm -rf work && mkdir work && (cd work && real_setup)
	(cd work && TREE_ENV="${TREE_SAME_CPU[*]}" tree_record "$SPI_TMP/real" "${TREE_RULE:-tree(main)}" "$@") >traced.out 2>traced.err <"$input"
	tree_balanced "$SPI_TMP/real" "$name: balanced" --counts "$SPI_TMP/real.counts"
	out=$(python3 "$SPI_TOP_SRCDIR/tests/lib/callgrind.py" compare cg.out real.counts "${skip:-^$}" 2>&1)
	ok $? "$name: each function's calls as callgrind counts them" || diag "$(sed -n '2,30p' <<<"$out")"
	diag "$(head -n 1 <<<"$out")"
}
