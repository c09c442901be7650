#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 120
# soak-timeout: 10800
#
# crossing.t for a program that has a life of its own: threads that begin and end, forked children, programs that it starts, a
# library that comes and goes, signals on two kinds of stacks, calls that are left by longjmp(). Rules of two sessions
# come and go as chance has it meanwhile; three others have every call that the program counted, and whatever was recorded nests.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree.sh"
spi_private "$@"
tree_tools
gcc -g -O2 -shared -fPIC -o libcrossing.so "$SPI_TOP_SRCDIR/tests/programs/crossing-lib.c" || exit 1
gcc -g -O2 -shared -fPIC -Dlib_inner=loaded_inner -Dlib_outer=loaded_outer -o libloaded.so \
	"$SPI_TOP_SRCDIR/tests/programs/crossing-lib.c" || exit 1
spi_cc crossing-life "$SPI_TOP_SRCDIR/tests/programs/crossing-life.c" -D_GNU_SOURCE -O2 -pthread -L. -lcrossing -Wl,-rpath,"$PWD" \
	-Wl,--no-as-needed -llttng-ust
spi_sessiond
export LTTNG_UST_ALLOW_BLOCKING=1

# what the session of functions by name records; the trees have all but what is called outside of turn()
named=(usual leaf early again recurse tail tiny lib_inner jump_out jump_down leave loaded_inner by_fork tick tick_leaf on_signal short_life)
outside='^(tick|tick_leaf|on_signal|short_life) '
object_of() {
	case $1 in
	lib_*) echo libcrossing.so ;;
	loaded_*) echo libloaded.so ;;
	*) echo crossing-life ;;
	esac
}

# session NAME [OPTION...] - one that loses nothing
session() {
	quiet lttng create "$1" -o "$PWD/$1.trace"
	quiet lttng enable-channel -u -s "$1" big --num-subbuf 8 --subbuf-size 1M --blocking-timeout=inf
	quiet lttng add-context -u -s "$1" -c big -t vpid -t vtid -t ip
	quiet lttng enable-event -u -s "$1" -c big 'lttng_ust_statedump:*,lttng_ust_lib:*'
	[ $# = 1 ] || "$SPI_LTTNG" enable-event --spi "${@:2}" -s "$1" -c big >>quiet.log 2>&1 || diag "$*: $(tail -n 1 quiet.log)"
	quiet lttng start "$1"
}

rules=("-f early" "-f first" "-f again -f leaf" "-f lib_inner -f lib_outer" "-f tiny -f tiny2 -f recurse" "-f crossing-life:*" "-f turn"
	"-f tail" "-f jump_down -f jump_out" "-f loaded_*" "-f tick*" "-f by_fork -f leave" "--tree=early" "--tree=first" "--tree=usual"
	"--tree=again" "--tree=turn --depth 2" "--tree=turn --exclude leaf"
	"--tree=usual --compact" "--tree=turn --compact --depth 1" "--tree=first --compact"
	"--tree=tail" "--tree=recurse" "--tree=turn --calls-of usual" "--tree=early --budget 5" "--tree=lib_outer"
	"--tree=turn --compact --exclude early" "--tree=leaf" "--tree=jump_out" "--tree=jump_down --compact" "--tree=loaded_outer"
	"--tree=tick" "--tree=tick --compact" "--tree=by_fork" "--tree=leave")

text_is_original() { python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$pid" >text.out 2>&1; }
ended() { grep -qx end counted || ! kill -0 "$pid"; }

# life SEED CHANGES KINDS - a run with that many changes, of a program with threads of these kinds
life() {
	local on=() i k s rule name="$3, seed $1"
	RANDOM=$1
	rm -rf ./*.trace end look counts
	session names $(printf -- '-f %s ' "${named[@]}")
	session plain --tree=turn
	session compact --tree=turn --compact
	session come
	session go
	LTTNG_UST_REGISTER_TIMEOUT=-1 ./crossing-life "$3" end look >counted 2>stray &
	pid=$!
	: >changes
	for ((i = 0; i < $2; i++)); do
		k=$((RANDOM % ${#rules[@]})) s=come
		rule=${rules[k]}
		[[ $rule != *--compact* ]] || s=go
		echo "$EPOCHREALTIME ${on[k]:+off} $rule" >>changes
		# shellcheck disable=SC2086  # several words
		if [ -z "${on[k]:-}" ]; then
			quiet "$SPI_LTTNG" enable-event --spi $rule -s $s -c big && on[k]=$s
		else
			quiet "$SPI_LTTNG" disable-event --spi $rule -s "${on[k]}" -c big
			on[k]=
		fi
		if [ $((RANDOM % 6)) = 0 ]; then
			echo "$EPOCHREALTIME off: all of come" >>changes
			quiet lttng disable-event -u -a -s come -c big
			for k in "${!on[@]}"; do
				[ "${on[k]}" != come ] || on[k]=
			done
		fi
		read -r -t "0.$((RANDOM % 25 + 10))" <>fifo	# as chance has it
	done
	touch end
	check "$name: the program comes to its end" spi_wait 30 ended || diag "$(cat stray)"
	"$SPI_LTTNG" list --spi >status 2>&1
	for s in come go compact plain names; do
		quiet lttng destroy "$s"
	done
	check "$name: the code is what it was" spi_wait 10 text_is_original || diag "$(tail -n 3 text.out)"
	touch look
	may_die wait "$pid"
	is "$?/$(cat stray)" 0/ "$name: and ends as ever"
	exact "$name"
}
mkfifo fifo

lost_or_left_out() { grep -E 'Note|missing|lost: [^0]|not traced' status | cut -c 1-200 | head -n 12; }

# exact NAME - the three have every call; of libraries that are loaded meanwhile, if none of them took longer than the agent has the
# program wait, which is told
exact() {
	local kind function object late='^$'
	! grep -q 'the first calls in a library are neither recorded nor counted' status || late=loaded_
	babeltrace2 names.trace 2>names.err | grep -aoE ' spi:[a-z_0-9]+_(entry|exit):' | sort | uniq -c | awk '{ print $1, $2 }' >names.counts
	for function in "${named[@]}"; do
		awk -v f="$function" '$1 == f && $2 { print $2, "spi:" f "_entry:"; print $2, "spi:" f "_exit:" }' counted
	done | grep -v "$late" | sort -k 2 >names.expected
	sort -k 2 names.counts | grep -v "$late" | diff names.expected - >names.diff
	ok $? "$1: functions by name: every call" ||
		diag "$(cat names.diff names.err | head -n 20)" "$(lost_or_left_out)"
	for function in $(awk 'NF == 2 { print $1 }' counted); do
		object=$(object_of "$function")
		echo "$object+0x$(nm "$object" | awk -v f="$function" '$3 == f && sub("^0*", "", $1) { print $1 }') $function"
	done >addresses
	awk 'NF == 2 && $2' counted | grep -Ev "$outside|$late" | sort >tree.expected
	for kind in plain compact; do
		TREE_COMPACT=1 tree_balanced "$kind.trace" "$1: $kind tree: balanced" --counts "$kind.counts"
		awk -F '\t' 'NR == FNR { split($0, a, " "); name[a[1]] = a[2]; next } { n = $2; sub(".*/", "", n); if (n in name) print name[n], $1 }' \
			addresses "$kind.counts" | grep -Ev "$outside|$late" | sort | diff tree.expected - >tree.diff
		ok $? "$1: $kind tree: every call" || diag "$(head -n 20 tree.diff)" "$(lost_or_left_out)"
	done
	for kind in come go; do
		# its rules' functions may not have been called
		"$SPI_TMP/calls" --expand "$SPI_EXPAND" "$kind.trace" 2>/dev/null | grep -qv '^entries 0 ' || continue
		# The daemon waits for half a second at most; on a machine that stands still for longer a call may be left open.
		TREE_COMPACT=1 tree_balanced "$kind.trace" "$1: $kind: balanced" --open "$([ -n "${SPI_SOAK:-}" ] && echo 0 || echo 10)"
	done
}

# Each kind of life alone, then together; but a child that was made while another thread was loading a library is left alone (fork.c).
if [ -n "${SPI_SOAK:-}" ]; then
	for kinds in tb tj ts tl tf tn tx ta tbfa tlaj tbfnxsj; do
		for seed in $(seq 100 107); do
			life "$seed" 60 "$kinds"
		done
	done
else
	life 1 12 tbfnxsj
	life 2 8 tl
fi
tap_done
