#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A library that is loaded after the rule was made is not looked through: what it
# exports under the rule's names is told as not instrumented.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >late.c <<'C'
static int hidden(int a) { return a + 1; }
int work_late(int a) { return hidden(a); }
int other_late(int a) { return a; }
C
cat >main.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int work_first(int a) { __asm__ volatile("" : "+r"(a)); return a; }
int main(int argc, char **argv)
{
	void *h;
	while (argc > 1 && access(argv[1], F_OK))
		usleep(1000);
	h = dlopen("./late.so", RTLD_NOW);
	int (*late)(int) = (int (*)(int)) dlsym(h, "work_late");
	printf("%d\n", work_first(1) + late(1));
	fflush(stdout);
	while (argc > 1 && access(argv[2], F_OK))
		usleep(1000);
	return 0;
}
C
gcc -g -O1 -shared -fPIC late.c -o late.so && gcc -g -O1 main.c -o main || { echo "Bail out! gcc"; exit 1; }
is "$(spi_trace -f 'work_*' -o t ./main)" 3 "the output is as ever"
like "$(cat trace.err)" '; not instrumented: 1' "one function is not instrumented"
like "$(cat trace.err)" 'its library was loaded after the rule' "and why"
like "$(cat trace.err)" 'late.so:work_late' "it is named"
is "$(spi_count t work_first_entry)" 1 "what was there is traced"
spi_trace -f work_first -o exact ./main >/dev/null
unlike "$(cat trace.err)" 'loaded after' "a rule that names nothing there: nothing is said"

./main go end >attached.out &
pid=$!
spi_wait 10 test "/proc/$pid/exe" -ef ./main	# no longer the shell
"$SPI_LTTNG" trace -f 'work_*' -o attached -p "$pid" 2>trace.err >/dev/null </dev/null &
tracer=$!
attached() { grep -q 'Trace directory' trace.err && grep -qx lttng-spi /proc/"$pid"/task/*/comm; }
check "attached" spi_wait 20 attached
touch go
check "the library is loaded" spi_wait 20 test -s attached.out
kill -INT "$tracer"
wait "$tracer"
like "$(cat trace.err)" 'late.so:work_late' "attached: it is named when the trace ends"
touch end
wait "$pid"
tap_done
