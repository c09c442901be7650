#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# timeout: 110
# soak-timeout: 600
#
# Unmodified programs: each function below main() has as many calls in the tree as
# callgrind counts, in the program and in all libraries but the loader: 99.9 % of all
# calls are there (a call site that cannot be instrumented is named by the agent),
# and none that was not. What differs by nature is left out: the state of libc's
# heap when main() begins; cancellation points, which are none in a process with one
# thread; how time is read without a vdso; what runs after lttng-ust has ended.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
heap='_int_malloc|_int_free|_int_realloc|alloc_perturb|systrim.*|sysmalloc|unlink_chunk.*|malloc_consolidate|ptmalloc_init.*|.*morecore|s?brk|tcache_.*'
time='(__GI_)?clock_gettime|time|gettimeofday|__vdso.*'
threads='.*pthread_(en|dis)able_asynccancel|.*pthread_mutex_(un)?lock.*|__libc_cleanup_(push_defer|pop_restore)'
after='__libc_start_.*|_IO_cleanup|_IO_flush_all_lockp|_IO_un_?link.*|__cxa_finalize|__unregister_atfork|_exit'
environment='__strn?cmp_avx2|getenv'
by_nature="libc.so.6:($heap|$time|$threads|$after|$environment)\$"
tree_is_callgrind "ls" "$by_nature" /usr/bin/ls -la /usr/bin
seq 5000 | awk '{ print ($1 * 7919) % 10007 " line " $1 }' >stdin
tree_is_callgrind "sort" "$by_nature" /usr/bin/sort --parallel=1 -n
tree_is_callgrind "gzip" "$by_nature" /usr/bin/gzip -c
tree_is_callgrind "sed" "$by_nature" /usr/bin/sed 's/l\(i\)ne/\1&/'
printf 'create table t(a, b);\nbegin;\n' >stdin
for i in $(seq 300); do printf 'insert into t values (%d, "x%d");\n' $((i * 37 % 101)) "$i"; done >>stdin
printf 'commit;\nselect a, count(*) from t group by a order by 2, 1;\n' >>stdin
tree_is_callgrind "sqlite3" "$by_nature" /usr/bin/sqlite3 -batch :memory:
rm stdin
printf '[user]\n\tname = A\n\temail = a@example.org\n' >"$HOME/.gitconfig"
real_setup() {
	export GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'
	git init -q . && for i in $(seq 30); do echo "$i" >>a && git add a && git commit -qm "number $i" || return; done
}
tree_is_callgrind "git log" "$by_nature" /usr/bin/git --no-pager log --stat
if [ -n "${SPI_SOAK:-}" ]; then
	# Programs of millions of calls.
	tree_compact
	tree_is_callgrind "git grep" "$by_nature" /usr/bin/git -c grep.threads=1 grep -n -E '[0-9]+' HEAD~20 HEAD~10 HEAD -- a
	real_setup() { :; }
	echo 'import json, re; print(json.dumps({"a": [1, 2, 3]}), re.sub("a+", "b", "caat"))' >small.py
	export PYTHONHASHSEED=0
	tree_is_callgrind "python3" "$by_nature" /usr/bin/python3 -S -E ../small.py
	# It asks iconv for its names, which callgrind does not follow.
	mount --bind /usr/bin/true /usr/bin/iconv
	# what returns twice and what unwinds is not instrumented, which is named: 0.03 % of gdb's calls
	tree_is_callgrind "gdb" "$by_nature" /usr/bin/gdb -nx -iex "maint set worker-threads 0" -batch -ex "print 1+1" \
		-ex "info line main" /usr/bin/true
fi
tap_done
