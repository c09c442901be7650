#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 300
# long
#
# Each command that README.md, the user guide, the man pages and rules.md show is run as it is written. It succeeds, and
# prints what is shown below it. A few words stand for what a reader puts there (FUNC, PID); the process that the
# documents call 1234 has that number here.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
spi_patient
guide=$SPI_TOP_SRCDIR/tests/cli/user-guide.py

# The programs of the documents.
cat >prog.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) { return strcmp(*(char *const *) a, *(char *const *) b); }
__attribute__((noinline)) void sort(char **list, int n) { qsort(list, n, sizeof(*list), compare); __asm__(""); }
int main(int argc, char **argv)
{
	sort(argv + 1, argc - 1);
	for (int i = 1; i < argc; i++)
		puts(argv[i]);
	return 0;
}
C
cat >leaf.c <<'C'
__attribute__((noinline)) long leaf(long a) { __asm__(""); return a + 1; }
int main(void)
{
	long a = 0;

	for (int i = 0; i < 500000000; i++)
		a += leaf(i);
	return a == 1;
}
C
cat >server.c <<'C'
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) int parse_header(const char *line) { __asm__(""); return line[0]; }
__attribute__((noinline)) int handle_request(int id)
{
	char *line = malloc(64);
	int sum;

	snprintf(line, 64, "request %d", id);
	sum = parse_header(line);
	free(line);
	return sum;
}
/* server SECONDS PORT */
int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(argc > 2 ? atoi(argv[2]) : 0) };
	int s = socket(AF_INET, SOCK_STREAM, 0), id = 0;

	if (bind(s, (struct sockaddr *) &address, sizeof(address)) || listen(s, 1))
		return 1;
	puts("ready");
	fflush(stdout);
	for (time_t end = time(NULL) + atoi(argv[1]); time(NULL) < end; usleep(1000))
		handle_request(id++);
	return 0;
}
C
cat >busy.cc <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <thread>
#include <unistd.h>

static volatile long worked;
struct Work {
	long steps;
	__attribute__((noipa)) long step(long a, long b, const char *s)
	{
		if (++steps % 100 == 0)
			throw 1;
		return a + b + (s[0] == 0);
	}
} work;
int main(int, char **argv)
{
	puts("ready");
	fflush(stdout);
	std::thread([] {
		for (long a = 1; ; a += 2, usleep(100)) {
			try {
				worked += work.step(a, a / 2, "hello");
			} catch (int) {
			}
		}
	}).detach();
	sleep(atoi(argv[1]));
	_exit(0);
}
C
cat >shop.c <<'C'
int pay(void *basket, const char *who, int way) { return way; }
C
cat >shop-main.c <<'C'
int pay(void *basket, const char *who, int way);
int main(void) { return pay(0, "ann", 2) != 2; }
C
spi_cc libshop.so shop.c -shared -fPIC -s
spi_cc shop.prog shop-main.c -L. -lshop -Wl,-rpath,"$PWD"
sed -n '/^    \/\/ what libshop.so exports/,/^$/{s/^    //p;}; /^    library libshop.so/,/^$/{s/^    //p;}' "$SPI_TOP_SRCDIR/doc/user-guide.md" >shop.txt
spi_cc sort.prog prog.c -fno-optimize-sibling-calls
spi_cc leaf.prog leaf.c
spi_cc server server.c
spi_cc busy busy.cc
spi_cc lib.so server.c -shared -fPIC -Dmain=foo
cp server app
echo vm >hostname
echo hello >notes.txt
mkdir shown bin
for program in cli/lttng reader/lttng-spi injector/spi-inject spi-sessiond-plugin/spi-sessiond; do
	ln -s "$SPI_TOP_BUILDDIR/$program" bin/
done
export PATH=$PWD/bin:$PATH

# at PID SECONDS PROGRAM [PORT] - the program runs for this time, and is ready: as the process PID, which the command
# names, or as another one where a thread of a daemon has this number
at() {
	local i
	kill -KILL "${running:-$$a}" 2>/dev/null && wait "$running" 2>/dev/null
	for ((i = 0; i < 20; i++)); do
		: >ready
		echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid || break
		"./$3" "$2" "${4:-0}" >ready 2>/dev/null &
		running=$!
		[ "$running" != "$1" ] || break
		[ "$i" = 19 ] || { kill -KILL "$running"; wait "$running" 2>/dev/null; }
	done
	spi_wait 10 test -s ready
	is_at=$1
	[ "$running" = "$1" ] || command=${command//"$1"/$running}
}
# session - a session of its own, in which nothing was recorded yet
session() { quiet lttng destroy --all; quiet lttng create "guide$number"; session_of=$block; }
daemon_ends() {
	local pid
	pid=$(cat /run/lttng/lttng-sessiond.pid 2>/dev/null || cat "$LTTNG_HOME/.lttng/lttng-sessiond.pid")
	kill "$pid" 2>/dev/null
	spi_wait 10 pid_gone "$pid"
}

# needs COMMAND - what must be there before it
#
# `command`: what is run for it; `skipped`: why it is not run; `is_ended`: the process ends when it is recorded.
needs() {
	command=$1 skipped= is_ended=
	case $1 in
	babeltrace2*--output=OUT|'lttng-spi export --ctf'*) rm -rf OUT ;;
	*'--diff OLD NEW') for r in OLD NEW; do [ -d "$r" ] || quiet lttng trace -f sort -o "$r" ./sort.prog pear apple; done ;;
	babeltrace2*|lttng-spi*) [ -d DIR ] || quiet lttng trace -f sort -o DIR ./sort.prog pear apple ;;
	*' DIR'*|*'-o d1'*|*/tmp/t*) rm -rf DIR d1 tmp-t ;;
	esac
	# words that stand for others
	case $1 in
	./*|make*) skipped='builds' ;;
	'lttng trace -f FUNC ./prog') skipped='a picture' ;;
	'lttng trace -l BINARY') command='lttng trace -l sqlite3' ;;
	'lttng trace -f FUNC [-f FUNC]... COMMAND') command='lttng trace -f sort -f main ./prog pear apple fig' ;;
	'lttng trace -f FUNC -p NAME') command='lttng trace -f handle_request -p app' ;;
	'lttng trace -f FUNC --exec NAME') 
		command='timeout --preserve-status -s INT 2 lttng trace -f handle_request --exec app' ;;
	'lttng trace --tree COMMAND') command='lttng trace --tree ./prog pear apple fig' ;;
	'lttng trace --tree --ipc COMMAND') command='lttng trace --tree --ipc ./prog pear apple fig' ;;
	'lttng trace --tree --payload count COMMAND') command='lttng trace --tree --payload count ./prog pear apple fig' ;;
	'lttng trace --payload gprof COMMAND') command='lttng trace --payload gprof ./prog pear apple fig' ;;
	'lttng trace -f FUNC --payload hist COMMAND') command='lttng trace -f sort --payload hist ./prog pear apple fig' ;;
	'lttng trace --memory COMMAND') command='lttng trace --memory ./prog pear apple fig' ;;
	'lttng trace --process-events COMMAND') command='lttng trace --process-events ./prog pear apple fig' ;;
	'lttng trace --report ... COMMAND') command='lttng trace --report -f sort ./prog pear apple fig' ;;
	'lttng-spi top -p PID') command='lttng-spi top -p 1234 --count 2' ;;
	'lttng-spi top -p 1234') command='lttng-spi top -p 1234 --count 2' ;;
	'lttng-spi calls|report|graph DIR') command='for c in calls report graph; do lttng-spi $c DIR; done' ;;
	'lttng-spi timeline|flame DIR >F.html') command='lttng-spi timeline DIR >F.html' ;;
	'lttng-spi flame -o flame.html DIR')
		lttng-spi flame DIR 2>&1 >/dev/null | grep -q 'make pages' && skipped='npm was not there' ;;
	'lttng-spi export --FORMAT -o FILE DIR') command='lttng-spi export --chrome -o FILE DIR' ;;
	'lttng-spi prototypes FILE') command='lttng-spi prototypes shop.txt' ;;
	'lttng trace --prototypes shop.txt '*) command="${command/.\/prog/./shop.prog} | grep -F 'who = \"ann\", way = ( \"CARD\"'" ;;
	'lttng trace ... -o DIR') command='lttng trace -f sort -o DIR ./prog pear apple fig' ;;
	'lttng trace ... --backtrace') command='lttng trace -f sort --backtrace ./prog pear apple fig' ;;
	'lttng trace ... --one-event') command='lttng trace -f sort --one-event ./prog pear apple fig' ;;
	'spi-inject '*LIB*) command=${command/'[LIB]'/$PWD/lib.so} ;;
	esac
	command=${command//'[--duration S]'/--duration 0.5} command=${command//PID/1234} command=${command//PORT/80}
	command=${command//FUNC/handle_request} command=${command//ROOT/handle_request}
	command=${command//\/usr\/lib\/libfoo.so/$PWD/lib.so}
	command=${command//\/tmp\/t/$PWD/tmp-t}
	command=${command//--root \/srv\/target/--root /} command=${command//~\/symbols/$HOME}
	# none of the minute is waited away; the times are of the day of the trace
	case $command in
	*'--duration '[25]*) command=$(sed 's/--duration [0-9.]*/--duration 1/' <<<"$command") ;;
	*'--begin='*) command=${command/10:15:00.5/00:00:00.5} command=${command/10:15:01/23:59:59} ;;
	esac
	# processes and programs
	case $command in
	*' -p 8 '*) at 8 20 busy ;;
	*' port 80'*) at 1234 20 server 80 ;;
	*'--lib server'*) at 1234 20 server ;;
	*'--duration'*|*'lttng-spi top'*|*'lttng trace -l -p 1234'*|*--pid*|*'pid 1234'*) at 1234 20 app ;;
	*1234*|*'-p app'*) at 1234 20 app; is_ended=1 ;;	# the command ends with the process
	*'--exec app'*) at 1234 20 app ;;
	esac
	case $command in
	*--budget*) cp leaf.prog prog ;;
	*./prog*) cp sort.prog prog ;;
	esac
	# daemons and sessions
	case $command in
	'spi-sessiond --daemonize'|*LTTNG_SESSIOND_PATH*) daemon_ends ;;
	'spi-sessiond --attach') daemon_ends; spi_daemon ;;
	'lttng create') quiet lttng destroy --all; session_of=$block ;;
	'lttng enable-'*) [ "$block" = "$session_of" ] || session ;;
	'spi-inject '*|'lttng trace '*) quiet lttng destroy --all; session_of= ;;	# none of its rules is for the same processes
	esac
}

session_of= is_at=0
while IFS=$'\t' read -r number block place written <&7; do
	name="$place: $written"
	case $written in
	'babeltrace2 d1') babeltrace2 d1 >left 2>&1 ;;	# for what is shown without a command
	'lttng trace --tree -o DIR ./prog') babeltrace2 DIR >budget 2>&1 ;;
	esac
	needs "$written"
	[ -z "$skipped" ] || { diag "$name: not run: $skipped"; continue; }
	: >out
	[ -z "$is_ended" ] || { spi_wait 20 file_has out 'Trace directory'; kill "$running"; } 7<&- &
	begun=${EPOCHREALTIME/.}
	BABELTRACE_PLUGIN_PATH=$SPI_TOP_BUILDDIR/bt2/.libs timeout 30 bash -c "$command" >out 2>&1 </dev/null 7<&-
	is $? 0 "$name" || diag "$(tail -n 5 out)"
	sed -i "s/\\b$(hostname)\\b/vm/g; s|$PWD|/tmp|g; s/\\b${running:-0}\\b/$is_at/g" out
	lacks=$(python3 "$guide" lacks "shown/$number" out)
	ran=$(((${EPOCHREALTIME/.} - begun) / 1000))
	[ "$ran" -lt 3000 ] || diag "$name: $ran ms"
	[ ! -s "shown/$number" ] || is "$lacks" '' "$name: prints what is shown" || diag "$(head -n 30 out)"
done 7< <(cd "$SPI_TOP_SRCDIR" &&
	python3 "$guide" commands "$SPI_TMP/shown" README.md doc/user-guide.md doc/*.1 doc/rules.md)

# What the guide shows without a command.
shows() { check "user-guide.md: shows '$1'" grep -qF -- "$1" "$SPI_TOP_SRCDIR/doc/user-guide.md"; }
shows 'prog: no types: split debug info, prog.dwo'
spi_cc prog prog.c -gsplit-dwarf -dumpdir ./ -dumpbase prog -dumpbase-ext .c
check "and it is said of such a program" \
	sh -c "lttng trace -f sort -o split ./prog 2>&1 | grep -x '.*prog: no types: split debug info, .*prog.dwo'"
shows 'spi_call:left: {'
shows 'how = ( "unwound" : container = 1 )'
check "and it is in the trace of a function that is left by an exception" \
	grep -E 'spi_call:left: .*how = \( "unwound" : container = 1 \)' left
shows 'call_site = 0x0, calls ='
check "and it is in the trace with a budget" \
	grep -E 'spi_tree:budget: .*calls = [0-9]+, .*budget = 50, state = \( "left_out" : .*, function = "leaf"' budget
diag "$SECONDS s"
tap_done
