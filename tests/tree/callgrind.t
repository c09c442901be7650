#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# timeout: 110
#
# Unmodified programs: each function below main() has as many calls in the tree as
# callgrind counts, in the program and in all libraries but the loader. What
# differs by nature is named here: time is read in another way where there is no
# vdso; what the agent stands before is called past libc's PLT.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
by_nature='libc.so.6:(__GI_)?(clock_gettime|time|gettimeofday|__vdso.*)|:__cyg_'
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
	git init -q . && echo one >a && git add a && git commit -qm first && echo two >>a && git commit -qam second
}
tree_is_callgrind "git log" "$by_nature" /usr/bin/git --no-pager log --stat
tap_done
