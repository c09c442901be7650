#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng-spi top`: the hottest functions of a running process, and their calls, as far as counting these costs little.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
PATH=$SPI_TOP_BUILDDIR/reader:$PATH
spi_cc busy views-busy.c -O1
./busy 60 </dev/null >busy.out 2>&1 &
busy=$!

timeout 60 lttng-spi top -p "$busy" --no-calls --interval 3 >samples 2>err
is "$? $(wc -c <err)" '0 0' 'samples alone: status' || diag "$(cat err)"
is "$(sed -n '3p' samples | awk '{ print $NF, $(NF - 1), $3 }')" '[busy] spin -' 'the hottest function comes first'
check 'its share is what the source makes it' awk '$5 == "spin" { share = $1 + 0 }
	END { exit !(share > 70 && share < 99) }' samples || diag "$(cat samples)"
timeout 60 lttng-spi top -p "$busy" --no-calls --count 3 --interval 0.5 >samples 2>err
is "$(grep -c '^process' samples)" 3 'so many tables as are asked for'
rm -f tables
timeout 100 lttng-spi top -p "$busy" --count 1000 --interval 1 >tables 2>err &
top=$!
check 'calls of the hottest function are counted, with their time' spi_wait 60 \
	grep -Eq ' [1-9][0-9]+ +[0-9.]+ [mu]s  spin ' tables || diag "$(tail -n 9 tables)"
check 'what is called too often is given up, and says how often' spi_wait 60 grep -Eq '>[0-9]+ .* tiny ' tables ||
	diag "$(tail -n 9 tables)"
kill -INT "$top"
wait "$top"
is "$? $(wc -c <err)" '0 0' 'an interrupt ends it' || diag "$(cat err)"
check 'the process goes on' kill -0 "$busy"
is "$(pgrep -P $$ -f 'trace -p' | wc -l)" 0 'nothing of it is left'

# ---- the order, and what stands for a thread's time in the kernel ----
cat >split.c <<'END'
	#include <time.h>
	#include <unistd.h>
	#define PART(name, times) __attribute__((noipa)) void name(void) \
		{ for (int i = 0; i < (times) * 100000; i++) __asm__ volatile(""); }
	PART(least, 1) PART(more, 3) PART(most, 9)
	int main(void) { for (;;) { least(); most(); more(); } }
END
spi_cc split split.c -O1
./split & split=$!
timeout 60 lttng-spi top -p "$split" --no-calls --interval 6 >order 2>err
seen=$(awk '/split]/ { print $5 }' order | head -n 3 | xargs)
is "$seen" 'most more least' 'functions stand in the order of their time' ||
	diag "$(cat order err)"
kill "$split"
wait "$split" 2>/dev/null
dd if=/dev/zero of=/dev/null bs=4M count=1000000 status=none &
copier=$!
timeout 60 lttng-spi top -p "$copier" --no-calls --interval 2 >kernel 2>err
check 'time in system calls is that of the functions that make them, and is named' awk 'NR == 3 {
	found = $1 + 0 > 50 && $2 + 0 > 50 && $5 ~ /read/ && $6 == "[libc.so.6]" } END { exit !found }' kernel ||
	diag "$(cat kernel err)"
kill "$copier"
wait "$copier" 2>/dev/null

# ---- another user's process ----
if [ "$(id -u)" = 0 ]; then
	chmod 755 .
	setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/ timeout 20 lttng-spi top -p "$busy" >out 2>err
	is "$? $(wc -l <err)" '1 1' "another user's process is refused in one line" || diag "$(cat out err)"
	unlike "$(cat err)" 'has ended' 'and is not said to have ended'
fi

# ---- keys ----
{ spi_wait 20 grep -q spin keys; printf 'xq'; spi_wait 20 grep -q '1049l' keys; } 2>/dev/null |
	timeout $((60 * SPI_PATIENCE)) script -qec "lttng-spi top -p $busy --no-calls --interval 1" keys >/dev/null
is $? 0 'q ends it'
check 'x excludes the chosen function' awk -v RS='\033\\[H' 'END { exit /spin/ }' keys
check 'the screen is given back' grep -q $'\x1b\\[?1049l' keys

finish() { kill -KILL "$busy" 2>/dev/null; wait "$busy" 2>/dev/null; }
{ spi_wait 20 grep -q . ended; finish; } &
timeout 60 lttng-spi top -p "$busy" --count 100 --interval 1 >ended 2>err
is "$? $(cat err)" "0 process $busy has ended" 'the process ends: so does top'
finish
timeout 20 lttng-spi top -p 999999 >out 2>err
is "$? $(cat err)" '1 Error: 999999: no such process' 'no such process'
timeout 20 lttng-spi top >out 2>err
is "$? $(wc -l <err)" '1 1' 'no process is named'
tap_done
