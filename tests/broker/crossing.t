#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
# soak-timeout: 3600
#
# Three sessions record a running program: functions by name, a call tree, and the same with compact records. Meanwhile rules
# of two others, one of them with compact records, come and go as chance has it, for the same functions. The three have every call of every round, and
# whatever was recorded nests; the code is the file's at the end.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree.sh"
spi_private "$@"
tree_tools
gcc -g -O2 -shared -fPIC -o libcrossing.so "$SPI_TOP_SRCDIR/tests/programs/crossing-lib.c" || exit 1
spi_cc crossing "$SPI_TOP_SRCDIR/tests/programs/crossing.c" -O2 -pthread -L. -lcrossing -Wl,-rpath,"$PWD" -Wl,--no-as-needed -llttng-ust
spi_sessiond
export LTTNG_UST_ALLOW_BLOCKING=1

# calls of one round
declare -A calls=([turn]=1 [usual]=1 [leaf]=8 [early]=3 [first]=1 [again]=1 [recurse]=4 [tail]=1 [indirect]=1 [tiny]=2 [tiny2]=1
	[lib_outer]=1 [lib_inner]=2)
named=(usual leaf early again recurse tail tiny lib_inner)
for name in "${!calls[@]}"; do
	object=crossing
	[[ $name != lib_* ]] || object=libcrossing.so
	echo "$object+0x$(nm "$object" | awk -v f="$name" '$3 == f && sub("^0*", "", $1) { print $1 }') $name"
done >addresses

# session NAME OPTION... - one that loses nothing
session() {
	quiet lttng create "$1" -o "$PWD/$1.trace"
	quiet lttng enable-channel -u -s "$1" big --num-subbuf 8 --subbuf-size 1M --blocking-timeout=inf
	quiet lttng add-context -u -s "$1" -c big -t vpid -t vtid -t ip
	[ $# = 1 ] || "$SPI_LTTNG" enable-event --spi "${@:2}" -s "$1" -c big >>quiet.log 2>&1 || diag "$*: $(tail -n 1 quiet.log)"
	quiet lttng start "$1"
}

rules=("-f early" "-f first" "-f again -f leaf" "-f lib_inner -f lib_outer" "-f tiny -f tiny2 -f recurse" "-f crossing:*" "-f turn" "-f tail"
	"--tree=early" "--tree=first" "--tree=usual" "--tree=again" "--tree=turn --depth 2" "--tree=turn --exclude leaf" "--tree=usual --compact"
	"--tree=turn --compact --depth 1" "--tree=first --compact" "--tree=tail" "--tree=recurse" "--tree=turn --calls-of usual"
	"--tree=early --budget 5" "--tree=lib_outer" "--tree=turn --compact --exclude early" "--tree=leaf")

text_is_original() { python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$pid" >text.out 2>&1; }
# crossing SEED CHANGES - a run with that many changes
crossing() {
	local on=() kinds=() i k s rule
	RANDOM=$1
	rm -rf ./*.trace end look
	session names $(printf -- '-f %s ' "${named[@]}")
	session plain --tree=turn
	session compact --tree=turn --compact
	session come
	session go
	LTTNG_UST_REGISTER_TIMEOUT=-1 ./crossing end look >rounds 2>stray &
	pid=$!
	for ((i = 0; i < $2; i++)); do
		k=$((RANDOM % ${#rules[@]})) s=come
		rule=${rules[k]}
		[[ $rule != *--compact* ]] || s=go
		# shellcheck disable=SC2086  # several words
		if [ -z "${on[k]:-}" ]; then
			quiet "$SPI_LTTNG" enable-event --spi $rule -s $s -c big && on[k]=$s
		else
			quiet "$SPI_LTTNG" disable-event --spi $rule -s "${on[k]}" -c big
			on[k]=
		fi
		if [ $((RANDOM % 6)) = 0 ]; then
			quiet lttng disable-event -u -a -s come -c big
			for k in "${!on[@]}"; do
				[ "${on[k]}" != come ] || on[k]=
			done
		fi
		read -r -t "0.$((RANDOM % 25 + 10))" <>fifo	# as chance has it
	done
	touch end
	check "seed $1: the program ends its rounds" spi_wait 20 test -s rounds
	for s in come go compact plain names; do
		quiet lttng destroy "$s"
	done
	check "seed $1: the code is what it was" spi_wait 10 text_is_original || diag "$(tail -n 3 text.out)"
	touch look
	wait "$pid"
	is "$?/$(cat stray)" 0/ "seed $1: and ends as ever"
	exact "$1"
}
mkfifo fifo

# exact SEED - the three have every call
exact() {
	local rounds kind
	rounds=$(cat rounds)
	babeltrace2 names.trace 2>names.err | grep -aoE 'spi:[a-z_0-9]+_(entry|exit):' | sort | uniq -c >names.counts
	for name in "${named[@]}"; do
		for kind in entry exit; do
			echo "$((rounds * calls[$name])) spi:${name}_$kind:"
		done
	done | sort -k 2 >names.expected
	awk '{ print $1, $2 }' names.counts | sort -k 2 | diff names.expected - >names.diff
	ok $? "seed $1: functions by name: every call" || diag "$(cat names.diff names.err | head)"
	for kind in plain compact; do
		TREE_COMPACT=1 tree_balanced "$kind.trace" "seed $1: $kind tree: balanced" --counts "$kind.counts"
		for name in "${!calls[@]}"; do
			echo "$name $((rounds * calls[$name]))"
		done | sort >tree.expected
		awk -F '\t' 'NR == FNR { split($0, a, " "); name[a[1]] = a[2]; next } { n = $2; sub(".*/", "", n); print (n in name ? name[n] : n), $1 }' \
			addresses "$kind.counts" | sort | diff tree.expected - >tree.diff
		ok $? "seed $1: $kind tree: every call" || diag "$(head tree.diff)"
	done
	for kind in come go; do
		grep -qaE 'cyg_profile|spi_tree:calls' <(babeltrace2 "$kind.trace" 2>/dev/null) || continue
		TREE_COMPACT=1 tree_balanced "$kind.trace" "seed $1: $kind: balanced"
	done
}

seeds=(1)
changes=14
if [ -n "${SPI_SOAK:-}" ]; then
	mapfile -t seeds < <(seq 100 139)
	changes=40
fi
for seed in "${seeds[@]}"; do
	crossing "$seed" "$changes"
done
tap_done
