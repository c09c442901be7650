#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# Workers of one program, several FUNCs: each file is analysed once, however many processes have it and however many FUNCs there
# are, for functions and for a call tree. One that cannot be attached to does not end the others' recording, and is in the
# summary. What could be instrumented nowhere is a status; what was not called is said.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
for lib in one two three; do
	echo "namespace $lib { __attribute__((noipa)) int deep(int a) { return a * 3; } } extern \"C\" int in_$lib(int a) { return $lib::deep(a); }" >"$lib.cc"
	spi_cc "lib$lib.so" "$PWD/$lib.cc" -shared -fPIC
done
cat >worker.c <<'C'
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int in_one(int), in_two(int), in_three(int);
__attribute__((noipa)) int begin_work(int a) { return a + 1; }
__attribute__((noipa)) int end_work(int a) { return a - 1; }
__attribute__((noipa)) int never_called(int a) { return a + 5; }
int main(int argc, char **argv)
{
	puts("ready");
	fflush(stdout);
	if (argc == 2 && vfork() == 0) {	/* meanwhile it waits in the kernel, where nothing stops it */
		pause();
		_exit(0);
	}
	for (int i = 0;; i++) {
		struct timespec t = { 0, 2000000 };

		end_work(in_three(in_two(in_one(begin_work(i)))));
		nanosleep(&t, NULL);
		if (argc > 20)
			never_called(i);
	}
}
C
spi_cc worker "$PWD/worker.c" -L. -Wl,-rpath,"$PWD" -lone -ltwo -lthree
# What is run instead of spi-codemap counts, and becomes it
cat >counted.c <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int fd = open(getenv("COUNTED"), O_WRONLY | O_APPEND | O_CREAT, 0600);

	if (dprintf(fd, "%s\n", argv[argc - 1]) < 0)
		return 9;
	close(fd);
	execv(getenv("REAL"), argv);
	return 9;
}
C
gcc -O1 -o counted counted.c
export COUNTED=$PWD/runs REAL=$SPI_CODEMAP
workers=() pids=()
for i in 1 2 3 4 5; do
	background ./worker
	workers+=("$target")
	pids+=(-p "$target")
done

# runs NAME ARGS... - trace that, and leave in $runs how often spi-codemap was run for it, with an empty cache
runs() {
	local name=$1
	shift
	rm -rf t t.txt cache
	: >"$COUNTED"
	LTTNG_SPI_CODEMAP=$PWD/counted XDG_CACHE_HOME=$PWD/cache spi_trace_ok "$name" "$@" --duration 0.3 -o t
	runs=$(wc -l <"$COUNTED")
}
# recorded FUNCTION... - how many processes recorded all of them
recorded() {
	local f
	spi_read t
	for f; do grep -a " spi:${f}_entry: " t.txt | grep -o 'vpid = [0-9]*' | sort -u; done | sort | uniq -c | awk -v n=$# '$1 == n' | wc -l
}
all=(-f begin_work -f end_work -f 'in_*' -f 'two::deep' -f libthree.so:in_three)
runs "one function, one process" -f begin_work -p "${workers[0]}"
is "$(recorded begin_work)" 1 "is recorded"
runs "five FUNCs, five processes" "${all[@]}" "${pids[@]}"
is "$(recorded begin_work end_work in_one in_two in_three two::deep)" 5 "all of them in all"
is "$(sort "$COUNTED" | uniq -d)" '' "and each file is analysed once"
runs "a call tree, five processes" --tree --lib 'worker' --lib 'lib*.so' "${pids[@]}"
# four files; the program is looked at by itself, too
[ "$runs" -le 8 ]
ok $? "is made of each file's map once" || diag "$runs runs"

# One that cannot be stopped is not attached to.
background ./worker stuck
stuck=$target
rm -rf t t.txt
spi_trace_ok "one of six cannot be stopped" -f begin_work "${pids[@]}" -p "$stuck" --duration 0.3 -o t
is "$(recorded begin_work)" 5 "the others are recorded"
like "$(cat trace.err)" "Processes not recorded: 1.*  process $stuck \(worker\): no safe moment" "it is named, with the reason"
spi_trace -f begin_work -p "$stuck" --duration 0.3 -o v
is $? 1 "that one alone: status"
kill -KILL "$(pgrep -P "$stuck")" "$stuck"

spi_trace_ok "a function that is not called" -f never_called "${pids[@]}" --duration 0.3 -o n
like "$(cat trace.err)" 'Functions instrumented: 5; not instrumented: 0.*No instrumented function was called' "is said"
spi_trace -f later.so:f -p "${workers[0]}" --duration 0.3 -o l
is $? 1 "a library that does not come: status"
like "$(cat trace.err)" 'Error: nothing was instrumented' "and said"
for pid in "${workers[@]}"; do finish "$pid" 2>/dev/null; done
tap_done
