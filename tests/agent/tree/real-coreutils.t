#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 110
# soak-timeout: 1500
#
# Two hundred coreutils invocations (coreutils.txt; one in five of them unless
# SPI_SOAK is set), each as without tracing in output, error output, status and the
# files it leaves; all in one session, and every process's calls balance. With SPI_SOAK
# again with each worker forced alone.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools

files() {
	seq 300 | awk '{ print ($1 * 7919) % 307 " line " $1 }' >numbers
	printf '%s\n' 'the first line' 'Another one' 'a line of words' '' 'x1.10' 'x1.9' 'The end' >words
	printf 'a\tb\tc\n\t1\t2\n' >tabs
	printf '        a       b\n' >spaces
	printf 'a\n\n\n\nb\n' >blank
	printf '1 one\n2 two\n3 three\n5 five\n' >sorted1
	printf '2 zwei\n3 drei\n4 vier\n' >sorted2
	printf 'a\na\nB\nb\nc\n' >doubles
	printf 'a b b c c d a d\n' >pairs
	printf 'numbers\0words\0' >names0
	printf 'four' >four
	base64 words >coded64
	base32 words >coded32
	b2sum words >sums
	md5sum numbers >md5s
	mkdir d empty
	echo a >d/a
	echo b >d/b
	ln -s a d/l
	find . -exec touch -h -d @1000000000 {} +
}

# What is there afterwards, but for times and inodes.
left() { find . -printf '%p %y %m %s %l\n' | sort; find . -type f -exec cksum {} + | sort; }

run_each() {
	local number=0 command status
	while read -r -u 3 command; do
		number=$((number + 1))
		[ -n "${SPI_SOAK:-}" ] || [ $((number % 5)) = 0 ] || continue
		rm -rf "$SPI_TMP/work"
		cp -a "$SPI_TMP/files" "$SPI_TMP/work"
		(
			cd "$SPI_TMP/work"
			eval "set -- $command"
			[ -z "$1" ] || exec "${traced[@]}" "/usr/bin/$@"
		) >"$SPI_TMP/$1.$number.out" 2>"$SPI_TMP/$1.$number.err" <"$SPI_TMP/stdin"
		status=$?
		echo "$status" >>"$SPI_TMP/$1.$number.out"
		(cd "$SPI_TMP/work" && left) >>"$SPI_TMP/$1.$number.out"
	done 3<"$SPI_TOP_SRCDIR/tests/agent/tree/coreutils.txt"
	echo "$number" >"$SPI_TMP/$1.count"
}

(mkdir files && cd files && files && cp words ../stdin)
traced=(env)
run_each plain
# each WORKER - all commands again, traced by that worker alone ('': as ever), compared with the untraced ones
each() {
	local bad=0 number kind with=${1:-traced}
	tree_session "$SPI_TMP/all"
	traced=(env ${1:+LTTNG_SPI_TEST_WORKER=$1} LTTNG_UST_ALLOW_BLOCKING=1 LTTNG_SPI_CODEMAP="$SPI_CODEMAP" LTTNG_SPI_RULES='tree(main)' LD_PRELOAD="$SPI_AGENT")
	run_each "$with"
	tree_session_end
	while read -r number; do
		for kind in out err; do
			[ -e "plain.$number.$kind" ] || continue
			cmp -s "plain.$number.$kind" "$with.$number.$kind" && continue
			bad=$((bad + 1))
			diag "$(sed -n "${number}p" "$SPI_TOP_SRCDIR/tests/agent/tree/coreutils.txt"): $(diff -a "plain.$number.$kind" "$with.$number.$kind" | head -n 4 | cut -c1-150)"
		done
	done < <(seq "$(cat "$with.count")")
	is "$bad" 0 "$(ls "$with".*.out | wc -l) commands${1:+, $1 alone}: output, status and files as without"
	tree_balanced "$SPI_TMP/all" "every process is balanced${1:+, $1 alone}"
}

each ''
if [ -n "${SPI_SOAK:-}" ]; then
	for worker in call block trap; do
		each "$worker"
	done
fi
tap_done
