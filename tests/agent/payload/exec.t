#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng trace --exec NAME --payload`: programs of that name, whoever starts them, get the payload from their start, and
# their output stays as it is. Those that cannot have it run without, and are named. There is no session daemon.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc calls payload-calls.c -O1 -fno-optimize-sibling-calls
payload_cc says.so payload-says.c
cp calls other
./calls 5 >plain.out
chmod 755 .

has_begun() { [ -e err ] && file_has err 'get the payload until'; }
# follow ARGS... - `lttng trace ARGS` has looked for what runs; what is said is in ./err
follow() {
	rm -f err
	"$SPI_LTTNG" trace "$@" 2>err >out &
	tracer=$!
	spi_wait 20 has_begun || diag "$(cat err)"
}
# over STATUS NAME - ^C ends it so
over() {
	kill -INT "$tracer"
	wait "$tracer"
	is $? "$1" "$2: status" || diag "$(cat err)"
}
# count PATTERN - lines of ./err
count() { grep -Ec "$1" err; }
# started NAME COMMAND... - the output is that of ./calls 5, and the status 0
started() {
	local name=$1
	shift
	"$@" >started.out 2>started.err
	is $? 0 "$name: its status"
	same_file started.out plain.out "$name: it prints what it prints" || diag "$(cat started.err)"
}

follow --exec calls -f leaf -f scale --payload ./says.so
started 'a program' ./calls 5
started 'the same again' ./calls 5
started 'one of another name' ./other 5
over 0 'functions'
is "$(count '^enter leaf')" 18 'each call of both, from the start, and none of the other program' || diag "$(cat err)"
is "$(count '^enter scale\(2, 1.25, abc\)')" 2 'with their arguments'
is "$(count '^fini')" 2 "each has its payload's end"
is "$(count 'runs without')" 0 'none is refused'

follow --exec calls --lib calls --payload ./says.so
started 'in a tree' ./calls 5
over 0 'a tree'
is "$(count '^enter main')" 1 'the tree begins with main()' || diag "$(cat err)"
is "$(count '^enter middle')" 1 'it goes on below'
is "$(count '^enter leaf')" 9 'and into the thread'

gcc -O1 -g -o parent -x c - <<-'END'
	#include <sys/wait.h>
	#include <unistd.h>
	__attribute__((noinline, noipa)) int leaf(int x) { return 2 * x; }
	int main(void)
	{
		int status = 1;

		if (fork() == 0)
			_exit(leaf(3));
		wait(&status);
		return leaf(1) + WEXITSTATUS(status) - 8;
	}
END
follow --exec parent -f leaf --payload ./says.so
./parent
is $? 0 'a program that forks: its status'
over 0 'a program that forks'
is "$(count '^enter leaf\(3\)')" 1 'its child' || diag "$(cat err)"
is "$(count '^enter leaf\(1\)')" 1 'and itself'

# ---- one that runs, and --duration ----
mkfifo in
./calls 5 wait <in >running.out &
running=$!
exec {input}>in
spi_wait 20 file_has running.out ready
follow --exec 'cal*' -f leaf --payload ./says.so --duration 2
echo go >&"$input"
exec {input}>&-
wait "$running"
wait "$tracer"
is $? 0 'one that runs already, --duration: status' || diag "$(cat err)"
is "$(count '^enter leaf')" 9 'its calls' || diag "$(cat err)"

# ---- several that run, by -p ----
python3 - >pids <<-'END' &
	import subprocess, sys, time
	program = ['./calls', '5', 'wait']
	both = [subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(2)]
	print(*(p.pid for p in both), flush=True)
	while 'go' not in open('say').read():
	    time.sleep(0.02)
	for p in both:
	    p.communicate(b'go\n')
END
: >say
spi_wait 20 file_has pids '^[0-9]+ [0-9]+$'
read -r one two <pids
rm -f err
"$SPI_LTTNG" trace -p "$one" -p "$two" -f leaf --payload ./says.so 2>err >out &
tracer=$!
instrumented() { ! python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$1" calls >/dev/null 2>&1; }
spi_wait 20 instrumented "$one"
spi_wait 20 instrumented "$two"
echo go >say
wait "$tracer"
is $? 0 'several processes: status' || diag "$(cat err)"
is "$(count '^enter leaf')" 18 'each has the payload' || diag "$(cat err)"

# ---- a child that has its parent's rules, and gets the same ones by itself ----
gcc -O1 -g -o serves -x c - <<-'END'
	#include <stdio.h>
	#include <sys/wait.h>
	#include <unistd.h>
	__attribute__((noinline, noipa)) int leaf(int x) { return x + 1; }
	int main(void)
	{
		char line[8];

		puts("ready");
		fflush(stdout);
		if (read(0, line, sizeof(line)) > 0 && fork() == 0) {
			printf("child %d\n", (int) getpid());
			fflush(stdout);
			for (int n = 1; read(0, line, sizeof(line)) > 0; n++)
				leaf(n);
			_exit(0);
		}
		wait(NULL);
		return 0;
	}
END
rm -f in
mkfifo in
./serves <in >running.out &
running=$!
exec {input}>in
spi_wait 20 file_has running.out ready
rm -f err err2
"$SPI_LTTNG" trace -p "$running" -f leaf --payload ./says.so 2>err >out {input}>&- &
tracer=$!
has_agent_at_work() { ! python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$running" serves >/dev/null 2>&1; }
spi_wait 20 has_agent_at_work
echo one >&"$input"
spi_wait 20 file_has running.out child
"$SPI_LTTNG" trace -p "$(sed -n 's/child //p' running.out)" -f leaf --payload ./says.so --verbose 2>err2 >out2 {input}>&- &
again=$!
spi_wait 20 file_has err2 'agent is there'
exec {input}>&-
wait "$running"
wait "$again"
is $? 0 "the rules of a child's parent: status" || diag "$(cat err2)"
wait "$tracer"

# ---- what cannot be ----
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent)
chmod 600 says.so
follow --exec calls -f leaf --payload ./says.so
"${as_nobody[@]}" ./calls 5 wait <in >running.out &
running=$!
exec {input}>in
spi_wait 20 file_has err 'runs without' || diag "$(cat err)"
echo go >&"$input"
exec {input}>&-
wait "$running"
is $? 0 'one whose user may not read the file: its status'
same_file <(grep -v ready running.out) plain.out 'one whose user may not read the file: it prints what it prints'
over 1 'a file that may not be read'
without='^Warning: calls \([0-9]+\) runs without: '
is "$(count "$without.*says.so: it cannot be read with the rights of this process")" 1 'it is named, with the reason' ||
	diag "$(cat err)"
chmod 644 says.so
cp says.so theirs.so
chown 2001 theirs.so
follow --exec calls -f leaf --payload ./theirs.so
started "one whose file is another user's" ./calls 5
over 1 "another user's file"
is "$(count "$without.*theirs.so: it belongs to another user than root and this one")" 1 'it is named' || diag "$(cat err)"
follow --exec calls -f absent -f none_either --payload ./says.so
started 'one without the function' ./calls 5
over 1 'a function that it does not have'
is "$(count '^Warning: calls \([0-9]+\) runs without: absent: no loaded function')" 1 'it is named' || diag "$(cat err)"
follow --exec nothing -f leaf --payload ./says.so
over 1 'no such program'
like "$(cat err)" 'Error: --exec nothing: no process of this name was traced' 'that is said'

./calls 5 wait <in >running.out &
running=$!
exec {input}>in
spi_wait 20 file_has running.out ready
"${as_nobody[@]}" "$SPI_LTTNG" trace --exec calls -f leaf --payload "$PWD/says.so" --duration 0.2 2>err
is $? 1 "a user without rights, a process of root's: status"
like "$(cat err)" "what runs by this name is another user's" 'the reason' || diag "$(cat err)"
exec {input}>&-
wait "$running"
rm -f err
"${as_nobody[@]}" "$SPI_LTTNG" trace --exec calls -f leaf --payload "$PWD/says.so" 2>err &
tracer=$!
spi_wait 20 has_begun
rm -f running.out
"${as_nobody[@]}" ./calls 5 wait <in >running.out 2>/dev/null &
running=$!
exec {input}>in
spi_wait 20 file_has running.out ready
spi_wait 20 instrumented "$running" || diag "$(cat err)"
echo go >&"$input"
exec {input}>&-
wait "$running"
over 0 "a user's own program"
is "$(count '^enter leaf')" 9 "a user's own program: its calls" || diag "$(cat err)"

"$SPI_LTTNG" trace --exec calls --payload ./says.so ./calls 5 2>err
is $? 2 'with a COMMAND as well'
"$SPI_LTTNG" trace --exec '*' --payload ./says.so 2>err
is $? 1 'every program of the machine'
like "$(cat err)" 'means the calls of every program' 'which is refused'
is "$(pgrep -c spi-broker) $(pgrep -c lttng-sessiond)" '0 0' 'no daemon is left, and none was started'

# ---- recorded as well ----
spi_daemon
follow --exec calls -f leaf --payload ./says.so -o t
started 'with -o' ./calls 5
started 'with -o, once more' ./calls 5
over 0 'with -o'
spi_read t
is "$(count '^enter leaf')" 18 'with -o: the payload has each call' || diag "$(cat err)"
is "$(grep -c ' spi:leaf_entry: ' t.txt)" 18 'with -o: and so has the trace' || diag "$(cat err)"
tap_done
