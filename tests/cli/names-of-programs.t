#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# A program is known by its file's name, by the one that it was started by, however long, by its first thread's, and by what
# it has written over its first argument: `-p NAME`, `--exec NAME` and NAME:FUNC take each of them.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_daemon
cat >program.c <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
__attribute__((noipa)) int serve(int a) { return a + 1; }
int main(int argc, char **argv)
{
	struct timespec t = { 0, 1000000 };

	if (argc > 1) {
		size_t room = (size_t) (argv[argc - 1] + strlen(argv[argc - 1]) - argv[0]);

		memset(argv[0], 0, room);
		memcpy(argv[0], "pool: worker 2", 14);
		prctl(PR_SET_NAME, "handler");
	}
	puts("ready");
	fflush(stdout);
	for (int i = 0;; i++) {
		serve(i);
		nanosleep(&t, NULL);
	}
}
C
spi_cc file-name "$PWD/program.c"
ln -s file-name started-by-quite-a-long-name
background ./started-by-quite-a-long-name rewrites its arguments
one=$target

# traced NAME HOW... - the calls are recorded
traced() {
	local name=$1
	shift
	rm -rf t t.txt
	spi_trace "$@" --duration 0.3 -o t
	is $? 0 "$name: status" || diag "$(cat trace.err)"
	[ "$(spi_count t serve_entry)" -gt 5 ]
	ok $? "$name: traced" || diag "$(cat trace.err)"
}
for name in file-name started-by-quite-a-long-name handler pool 'pool: worker 2' 'pool: *'; do
	traced "-p $name" -f serve -p "$name"
	traced "--exec $name" -f serve --exec "$name"
done
for name in file-name started-by-quite-a-long-name handler; do
	traced "$name:FUNC" -f "$name:serve" -p "$one"
	traced "$name:FUNC, --exec" -f "$name:serve" --exec handler
done
traced "a pattern before FUNC" -f 'hand*:serve' -p "$one"

# All of a name; one that ends does not end the others' tracing.
background ./file-name
two=$target
rm -rf t t.txt
spi_trace_ok "several of a name" -f serve -p file-name --duration 0.3 -o t
spi_read t
is "$(grep -a ' spi:serve_entry: ' t.txt | grep -o 'vpid = [0-9]*' | sort -u | wc -l)" 2 "both are traced"
# One of them has nothing of it.
cat >idle.c <<'C'
#include <stdio.h>
#include <unistd.h>
int main(void) { puts("ready"); fflush(stdout); for (;;) pause(); }
C
mkdir other
spi_cc other/file-name "$PWD/idle.c"
background other/file-name
rm -rf t t.txt
spi_trace_ok "one of a name has no such function" -f serve -p file-name --duration 0.3 -o t
like "$(cat trace.err)" "Warning: file-name \($target\): has none of these functions" "said"
spi_read t
is "$(grep -a ' spi:serve_entry: ' t.txt | grep -o 'vpid = [0-9]*' | sort -u | wc -l)" 2 "the others are traced"
gcc -static -o third idle.c && mkdir static && mv third static/file-name
background static/file-name
rm -rf t t.txt
spi_trace -f serve -p file-name --duration 0.3 -o t
is $? 1 "one of a name cannot be traced: status"
like "$(cat trace.err)" "file-name.*statically linked" "the reason is said"
[ "$(spi_count t serve_entry)" -gt 5 ]
ok $? "and the others are traced"

spi_trace -f serve -p nosuchname -o u
[ $? != 0 ] && [ "$(wc -l <trace.err)" = 1 ]
ok $? "-p: a name that no process has: one line" || diag "$(cat trace.err)"
like "$(cat trace.err)" 'nosuchname: no process of this name' "says so"
spi_trace -f serve --exec nosuchname --duration 0.2 -o v
is $? 1 "--exec: a name that no process has had: status"
like "$(cat trace.err)" 'Error: --exec nosuchname: no process of this name was traced' "says so"

background bash -c 'exec -a "unfit: x" static/file-name'
spi_trace -f serve --exec unfit --duration 0.2 -o x
is $? 1 "--exec: one that cannot be traced, by another name: status"
like "$(cat trace.err)" "file-name \($target\).*statically linked" "the reason is said"

# A process to come is found under the name that it has only after it was executed, too.
rm -f trace.err
"$SPI_LTTNG" trace -f serve --exec handler --exec 'later: name' -o w 2>trace.err &
tracer=$!
spi_wait 20 file_has trace.err 'Trace directory'
spi_wait 10 status_like "^applied.$one.*serve.*active"
background ./file-name rewrites its arguments
check "by what it calls its thread" spi_wait 20 status_like "^applied.$target.*serve.*active"
background bash -c 'exec -a "later: name" ./file-name'
check "by the first argument that it is given" spi_wait 20 status_like "^applied.$target.*serve.*active"
kill -INT "$tracer"
wait "$tracer"
tap_done
