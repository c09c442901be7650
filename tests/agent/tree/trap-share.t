#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 110
#
# What is missing where the agent must not use int3: calls that come by int3, and what is called below them alone. Under
# 0.1 % of the calls that are executed in git, python3, and in libc below ls and sort; under 1 % in gdb. Calls that are missed
# altogether are callgrind.t's matter; here python3's, and the agent names the sites that it leaves out.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_compact
tree_tools

# calls_of NAME TRACE COMMAND... - traced: as without, balanced; sets $calls
calls_of() {
	local name=$1 trace=$2
	shift 2
	tree_record "$trace" "$TREE_RULE" "$@" >traced.out 2>traced.err </dev/null
	same_file traced.out plain.out "$name: output"
	tree_balanced "$trace" "$name: balanced" --counts counts
	calls=$(awk '{ n += $1 } END { print n + 0 }' counts)
}

# trap_share NAME LEAST MISSING COMMAND... - MISSING: of 1000 calls, without int3
trap_share() {
	local name=$1 least=$2 missing=$3 calls all
	shift 3
	"$@" >plain.out 2>plain.err </dev/null
	calls_of "$name" "$SPI_TMP/t" "$@"
	all=$calls
	diag "$(grep 'not instrumented' "$SPI_TMP/tree.debug" | sed 's/.*not instrumented/  left out/' | head -n 12)"
	[ "$all" -ge "$least" ]
	ok $? "$name: $least calls and more" || diag "$all"
	TREE_ENV=LTTNG_SPI_TEST_WORKER=call+block calls_of "$name without int3" "$SPI_TMP/t" "$@"
	[ $(((all - calls) * 1000)) -le $((all * missing)) ]
	ok $? "$name: at most $missing of 1000 are missing" || diag "$calls of $all"
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

PYTHONHASHSEED=0 trap_share python3 200000 1 /usr/bin/python3 -S script.py
trap_share git 50000 1 /usr/bin/git -C repo --no-pager log --stat -p
trap_share gdb 1000000 10 /usr/bin/gdb -nx -iex "maint set worker-threads 0" -batch -ex "print 1+1" -ex "info line main" /usr/bin/true
trap_share ls 10000 1 /usr/bin/ls -la /usr/bin
trap_share sort 100000 1 /usr/bin/sort --parallel=1 -n numbers

printf 'd = {i: str(i) for i in range(300)}\nprint(sorted(d.values())[:3], "%%s %%d" %% ("a", 4))\n' >small.py
heap='_int_malloc|_int_free|_int_realloc|alloc_perturb|systrim.*|sysmalloc|unlink_chunk.*|malloc_consolidate|ptmalloc_init.*|.*morecore|s?brk|tcache_.*'
others='__libc_start_.*|_IO_cleanup|_IO_flush_all_lockp|_IO_un_?link.*|__cxa_finalize|_exit|__strn?cmp_avx2|getenv|(__GI_)?clock_gettime|.*asynccancel|.*mutex_(un)?lock.*'
if command -v valgrind >/dev/null; then
	PYTHONHASHSEED=0 tree_is_callgrind "python3" "libc.so.6:($heap|$others)\$" /usr/bin/python3 -S ../small.py
else
	skip "python3: each function's calls as callgrind counts them" "no valgrind"
fi
tap_done
