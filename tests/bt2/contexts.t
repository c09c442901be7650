#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A batch may be written by the agent's own thread in place of one that rests, and has that one's name then. Expanded
# calls have the contexts that are every thread's, and their own thread's number; not who wrote them.
. "${SPI_TOP_SRCDIR:?}/tests/lib/expand.sh"
spi_private "$@"
spi_daemon
cat >rests.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
static volatile long sink;
__attribute__((noipa)) void leaf(void) { sink++; }
__attribute__((noipa)) void root(void) { leaf(); usleep(150000); leaf(); }
int main(void)
{
	pthread_setname_np(pthread_self(), "resting");
	for (int i = 0; i < 4; i++)
		root();
	return 0;
}
C
spi_cc rests ./rests.c -fno-optimize-sibling-calls
lttng -q create rests --output="$SPI_TMP/rests.trace"
lttng -q enable-channel -u -s rests c --subbuf-size=1M --num-subbuf=8
lttng -q enable-event -u -s rests -c c 'spi_tree:*'
lttng -q add-context -u -s rests -c c -t vpid -t vtid -t procname -t pthread_id -t vuid
lttng -q start rests
"${SPI_ALONE[@]}" LTTNG_SPI_RULES='tree(root;lib=rests;compact)' ./rests
is $? 0 "the program ends as ever"
lttng -q destroy rests
babeltrace2 --plugin-path="$SPI_TOP_BUILDDIR/bt2/.libs" rests.trace --component=x:filter.lttng-spi.expand >expanded 2>expanded.err
is "$(grep -c ' func_entry: \|:func_entry: ' expanded)" 12 "all calls are there"
is "$(grep ':func_e' expanded | grep -c 'procname\|pthread_id')" 0 "without the contexts of a thread"
is "$(grep ':func_e' expanded | grep -cE 'vpid = [0-9]+.*vtid = [0-9]+.*vuid = [0-9]+')" 24 "with those of the process, and the thread's number"
tap_done
