#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 110
#
# How many calls come by int3: under 0.1 % of those that are executed in git, gdb,
# python3, and in libc below ls and sort; and each site that traps is named. The agent's
# figures are held against the trace, which has as many calls, and against the
# kernel's, which has as many SIGTRAP, where perf can ask it. Calls that are missed altogether
# are callgrind.t's matter; here python3's, and the agent names the sites that it leaves out.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_compact
tree_tools
export LTTNG_SPI_TEST_SHARE=1

# traps_counted COMMAND... - how many SIGTRAP the kernel makes for it; "" where that cannot be asked
traps_counted() {
	perf stat -x , -o "$SPI_TMP/perf.out" -e signal:signal_generate --filter 'sig == 5' -- "$@" >/dev/null 2>&1
	awk -F , '$3 ~ /signal_generate/ && $1 ~ /^[0-9]+$/ { print $1 }' "$SPI_TMP/perf.out"
}
has_perf=
if command -v perf >/dev/null; then
	[ "$(traps_counted bash -c 'trap : TRAP; kill -TRAP $$')" = 1 ] && has_perf=1
fi

# trap_share NAME LEAST COMMAND...
trap_share() {
	local name=$1 least=$2 calls traps named entries kernel
	local -a counted=()
	shift 2
	[ -z "$has_perf" ] || counted=(perf stat -x , -o "$SPI_TMP/perf.out" -e signal:signal_generate --filter 'sig == 5' --)
	"$@" >plain.out 2>plain.err </dev/null
	: >"$SPI_TMP/perf.out"
	tree_session "$SPI_TMP/t" || { fail "$name: a session"; return; }
	: >"$SPI_TMP/tree.debug"
	"${counted[@]}" env LTTNG_UST_ALLOW_BLOCKING=1 LTTNG_SPI_CODEMAP="$SPI_CODEMAP" LTTNG_SPI_RULES="$TREE_RULE" \
		LTTNG_SPI_DEBUG="$SPI_TMP/tree.debug" LD_PRELOAD="$SPI_AGENT" "$@" >traced.out 2>traced.err </dev/null
	tree_session_end
	same_file traced.out plain.out "$name: output"
	tree_balanced "$SPI_TMP/t" "$name: balanced" --counts counts
	entries=$(awk '{ n += $1 } END { print n + 0 }' counts)
	read -r calls traps named <<<"$(awk '/ calls of / { for (i = 1; i < NF; i++) if ($i == "share:") { n += $(i + 2); if ($(i + 1) == "trap:") t += $(i + 2) } }
		/share: trap at/ { named += $(NF - 1) } END { print n + 0, t + 0, named + 0 }' "$SPI_TMP/tree.debug")"
	diag "$name: $calls calls, $traps by int3$(awk -v t="$traps" -v n="$calls" 'BEGIN { printf " (%.4f %%)", 100 * t / (n ? n : 1) }')" \
		"$(grep 'share: [a-z]*:' "$SPI_TMP/tree.debug" | sed 's/.*share: /  /')" "$(grep 'share: trap at' "$SPI_TMP/tree.debug" | sed 's/.*share: /  /')"
	[ "$calls" -ge "$least" ]
	ok $? "$name: $least calls and more" || diag "$calls"
	# roots, handlers and first functions of threads are called by no site; what the tracer calls in libc is counted
	# at its sites, but not recorded
	[ $((calls - entries)) -le $((entries / 50)) ] && [ $((entries - calls)) -le $((entries / 1000 + 20)) ]
	ok $? "$name: as many as the trace has" || diag "$calls by sites, $entries entries in the trace"
	[ $((traps * 1000)) -le "$calls" ]
	ok $? "$name: at least 99.9 % come without a trap" || diag "$traps of $calls"
	is "$named" "$traps" "$name: the sites that trap are named"
	if [ -n "$has_perf" ]; then
		kernel=$(awk -F , '$3 ~ /signal_generate/ { print $1 }' "$SPI_TMP/perf.out")
		# a call that is not recorded traps as well: before its tree begins, or below something that is left out
		[ "${kernel:--1}" -ge 0 ] && [ $((kernel * 1000)) -le "$calls" ]
		ok $? "$name: the kernel has made $kernel SIGTRAP"
	else
		skip "$name: the kernel's count of SIGTRAP" "perf cannot ask for it"
	fi
	diag "$(grep 'not instrumented' "$SPI_TMP/tree.debug" | sed 's/.*not instrumented/  left out/' | head -n 12)"
}

cat >script.py <<'P'
class Node:
    def __init__(self, value):
        self.value, self.left, self.right = value, None, None
def insert(node, value):
    if node is None:
        return Node(value)
    if value < node.value:
        node.left = insert(node.left, value)
    else:
        node.right = insert(node.right, value)
    return node
root = None
for i in range(800):
    root = insert(root, i * 7919 % 1009)
words = {}
for i in range(3000):
    key = 'w%d' % (i * i % 997)
    words[key] = words.get(key, 0) + len(repr(i).split('3'))
print(sorted(words.items(), key=lambda pair: pair[1])[:3], sum(x * x for x in range(2000)), ','.join(map(str, range(100))))
P
seq 5000 | awk '{ print ($1 * 7919) % 10007 " line " $1 }' >numbers
export GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'
printf '[user]\n\tname = A\n\temail = a@example.org\n' >"$HOME/.gitconfig"
git init -q repo && for i in $(seq 20); do seq $((i * 7)) >repo/a && git -C repo add a && git -C repo commit -qm "number $i"; done

trap_share python3 200000 /usr/bin/python3 -S -E script.py
trap_share git 50000 /usr/bin/git -C repo --no-pager log --stat -p
trap_share gdb 1000000 /usr/bin/gdb -nx -iex "maint set worker-threads 0" -batch -ex "print 1+1" -ex "info line main" /usr/bin/true
trap_share ls 10000 /usr/bin/ls -la /usr/bin
trap_share sort 100000 /usr/bin/sort --parallel=1 -n numbers

printf 'd = {i: str(i) for i in range(300)}\nprint(sorted(d.values())[:3], "%%s %%d" %% ("a", 4))\n' >small.py
heap='_int_malloc|_int_free|_int_realloc|alloc_perturb|systrim.*|sysmalloc|unlink_chunk.*|malloc_consolidate|ptmalloc_init.*|.*morecore|s?brk|tcache_.*'
others='__libc_start_.*|_IO_cleanup|_IO_flush_all_lockp|_IO_un_?link.*|__cxa_finalize|_exit|__strn?cmp_avx2|getenv|(__GI_)?clock_gettime|.*asynccancel|.*mutex_(un)?lock.*'
if command -v valgrind >/dev/null; then
	PYTHONHASHSEED=0 tree_is_callgrind "python3" "libc.so.6:($heap|$others)\$" /usr/bin/python3 -S ../small.py
else
	skip "python3: each function's calls as callgrind counts them" "no valgrind"
fi
tap_done
