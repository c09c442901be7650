#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# timeout: 110
# soak-timeout: 900
#
# Unmodified programs with every call below main() traced, all libraries but the
# default exclusions: stdout, stderr and status as without, and balanced. With SPI_SOAK again with each worker
# forced alone.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
real_setup() { seq 300 | awk '{ print ($1 * 7919) % 307 " line " $1 }' >numbers; mkdir d; echo a >d/a; echo b >d/b; ln -s a d/l; }
cat >commands <<'C'
/usr/bin/ls -laR --time-style=+x --color=always d
/usr/bin/sort -k2,2 -k1n numbers
/usr/bin/tar cf - --mtime=@0 --sort=name d
/usr/bin/find . -name "*a*" -printf "%p %s\n"
/usr/bin/grep -nE "(1|2)+ l.*3$" numbers
/usr/bin/awk "{ s[$1 % 7] += $3 } END { for (i = 0; i < 7; i++) print i, s[i] }" numbers
/usr/bin/sed -n "s/line/&&/p" numbers
/usr/bin/perl -e "print join(q(,), map { $_ * 2 } grep { /3/ } 1..50), sprintf(q(%.3f), 3.14159)"
/usr/bin/bash -c "for i in 1 2 3; do echo $i; done; x=$(echo sub); echo $x; exit 4"
/usr/bin/xz -c numbers
/usr/bin/gdb -nx -batch -ex "print 1+1" -ex "info files" /usr/bin/true
C
# each WORKER - traced by that one alone ('': as ever)
each() {
	local command
	while read -r -u 3 command; do
		eval "tree_real '${1:+$1 alone, }${command:9:40}' $command"
	done 3<"$SPI_TMP/commands"
}
each ''
if [ -n "${SPI_SOAK:-}" ]; then
	for worker in call block trap; do
		TREE_ENV=LTTNG_SPI_TEST_WORKER=$worker each "$worker"
	done
fi
tap_done
