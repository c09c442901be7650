#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# Each way to execute another program brings it into the call tree, and leaves the
# program that does it with balanced calls: its own end where it is replaced, and
# its own calls only where a child borrows its memory.
. "${SPI_TOP_SRCDIR:?}/tests/lib/follow.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc follow follow.c -O1
cat >target.c <<'EOF_C'
#include <stdio.h>
__attribute__((noipa)) int t_target(int a) { return a * 2; }
int main(void) { printf("target %d\n", t_target(3)); return t_target(2); }
EOF_C
gcc -O1 -o target target.c

for compact in "" --compact; do
	for way in execve execv execvp execvpe execl execlp execle fexecve execveat syscall syscall-at vfork spawn spawnp system popen clone; do
		followed "$way${compact:+, compact}" "$compact" ./follow "$way" ./target
		is "$(calls_of target)" 3 "$way: the calls of what it executes"
	done
	followed "exec${compact:+, compact}" "$compact" ./follow exec ./target
	is "$(calls_of target)" 3 "exec: the calls of what it executes"
done

# What a borrowing child calls before it executes something is not its parent's.
t_leaf=$(nm follow | awk '$3 == "t_leaf" { sub(/^0*/, "", $1); print $1 }')
for way in vfork clone; do
	followed "$way" "" ./follow "$way" ./target
	case $way in vfork) expected=2 ;; clone) expected=1 ;; esac
	is "$(awk -F '\t' -v f="/follow+0x$t_leaf" 'index($2, f) { print $1 }' t.counts)" "$expected" "$way: the parent's calls alone"
done
tap_done
