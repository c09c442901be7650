#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A library that is loaded after a rule for functions was made: what the rule names in it is traced from its first
# instruction on, each time that it is loaded; a rule that nothing matches yet waits.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >late.c <<'C'
static int state;
static __attribute__((noinline)) int work_hidden(int a) { __asm__ volatile("" : "+r"(a)); return a + 1 + state; }
__attribute__((constructor)) static void begin_late(void) { state = work_hidden(-1); }
int work_late(int a) { return work_hidden(a); }
int other_late(int a) { return a; }
C
cat >main.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
#include <stdlib.h>
__attribute__((noinline)) int work_first(int a) { __asm__ volatile("" : "+r"(a)); return a; }
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, sum = 0;

	while (argc > 2 && access(argv[2], F_OK))
		usleep(1000);
	while (n--) {
		void *h = dlopen("./late.so", RTLD_NOW);
		int (*late)(int) = (int (*)(int)) dlsym(h, "work_late");
		sum += work_first(1) + late(1);
		dlclose(h);
	}
	printf("%d\n", sum);
	fflush(stdout);
	while (argc > 3 && access(argv[3], F_OK))
		usleep(1000);
	return 0;
}
C
gcc -g -O1 -shared -fPIC late.c -o late.so && gcc -g -O1 main.c -o main || { echo "Bail out! gcc"; exit 1; }
is "$(spi_trace -f 'work_*' -o t ./main)" 3 "the output is as ever"
like "$(cat trace.err)" 'Functions instrumented: 3; not instrumented: 0' "all are instrumented"
is "$(spi_count t work_first_entry)/$(spi_count t work_late_entry)" 1/1 "what the library exports is traced"
is "$(spi_count t work_hidden_entry)" 2 "and what it does not, and its constructor calls"

is "$(spi_trace -f 'work_*' -f no_such_thing_but_late.so:nothing -o often ./main 20)" 60 "loaded and unloaded 20 times: the output is as ever"
is "$(spi_count often work_late_entry)/$(spi_count often work_late_exit)/$(spi_count often work_hidden_exit)" 20/20/40 \
	"each time its calls are recorded"

is "$(spi_trace -f late.so:work_late -o waits ./main 2)" 6 "a rule that nothing matches at first: the program runs"
like "$(cat trace.err)" 'has no late.so at its start: it is traced from when it is loaded' "that is said"
is "$(spi_count waits work_late_entry)" 2 "and it is traced once it is there"

./main 1 go end >attached.out &
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
is "$(spi_count attached work_late_entry)/$(spi_count attached work_hidden_entry)" 1/2 "attached: it is traced"
touch end
wait "$pid"

# More functions than LTTng has event types for: by address, from the first call on, and another rule beside it.
{
	for ((i = 0; i < 8100; i++)); do echo "__attribute__((noinline)) int f$i(int a) { return a + $i; }"; done
	echo '__attribute__((constructor)) static void begin(void) { f1(1); } int work_late(int a) { return f1(a) + f8099(a); }'
} >many.c
check "8 100 functions" gcc -O1 -fPIC -shared -fno-ipa-icf -o many.so many.c
sed 's/late\.so/many.so/' main.c >many-main.c
check "who loads them" gcc -O2 -o many-main many-main.c
"$SPI_LTTNG" trace -f 'many.so:*' -f 'many-main:work_first' -o many ./many-main 1 >many.out 2>trace.err </dev/null
is "$?/$(tail -n 1 many.out)" 0/8103 "8 100 functions loaded later: the program is as ever"
spi_read many
entries=$(grep -c " lttng_ust_cyg_profile:func_entry: " many.txt)
check "they are recorded by address: $entries calls" [ "$entries" -ge 4 ] || diag "$(tail -n 5 trace.err)"
is "$(spi_count many work_first_entry)" 1 "and so is what another rule names"

# A front end that is stopped answers nothing: who loads libraries waits for it once.
rm -f go end
./main 30 go end >stopped.out &
pid=$!
spi_wait 10 test "/proc/$pid/exe" -ef ./main
"$SPI_LTTNG" trace -f 'work_*' -o stopped -p "$pid" 2>trace.err >/dev/null </dev/null &
tracer=$!
check "attached once more" spi_wait 20 attached
kill -STOP "$tracer"
touch go
check "30 loads with the front end stopped" spi_wait 20 test -s stopped.out
kill -CONT "$tracer"
kill -INT "$tracer"
wait "$tracer"
touch end
wait "$pid"
is "$?/$(cat stopped.out)" 0/90 "the program is as ever"
tap_done
