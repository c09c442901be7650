#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program that the daemon brought in, and whose _exit() is therefore libc's, ends by it in the middle of its calls, as
# forked children do: these have their exits, those of other threads, too.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
. "$SPI_TOP_SRCDIR/tests/broker/lib.sh"
spi_private "$@"
tree_tools
broker_daemon
tree_cc last last.c -O1 -fno-optimize-sibling-calls -Wl,--no-as-needed -llttng-ust
cat >child.c <<'EOF_C'
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noipa)) void t_child(void) { _exit(3); }
int main(void)
{
	int status = 0;

	if (!fork())
		t_child();
	wait(&status);
	return WEXITSTATUS(status);
}
EOF_C
spi_cc child child.c -Wl,--no-as-needed -llttng-ust

# begin SESSION ARGS... - a session that records all of what the arguments name
begin() {
	local session=$1
	shift
	lttng_ok create "$session" --output="$SPI_TMP/$session"
	lttng_ok enable-channel -u -s "$session" c --subbuf-size=1M --num-subbuf=8 --blocking-timeout=inf
	lttng_ok add-context -u -s "$session" -c c -t vpid -t vtid
	"$SPI_LTTNG" -q enable-event --spi -s "$session" -c c "$@"
	lttng_ok start "$session"
}
export LTTNG_UST_ALLOW_BLOCKING=1

begin funcs -f 't_*'
./last _exit 4
is $? 7 "functions: the program's status"
./child
is $? 3 "functions: a child's status"
recorded funcs
balanced "$SPI_TMP/funcs" "functions: every entry has its exit"
is "$(spi_count "$SPI_TMP/funcs" t_end_exit)/$(spi_count "$SPI_TMP/funcs" t_child_exit)" 1/1 "functions: that in which it ends, too"

begin tree --tree=main --lib last --lib child --exec last --exec child
./last _exit 4
is $? 7 "tree: the program's status"
./child
is $? 3 "tree: a child's status"
lttng_ok destroy tree
tree_balanced "$SPI_TMP/tree" "tree: every entry has its exit, in its thread"
tap_done
