#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Attached to a process that unloads then what it had loaded before, and loads others: their functions, which are bound
# when they are called first, are found without a look at what has gone.
. "${SPI_TOP_SRCDIR:?}/tests/lib/follow.sh"
spi_private "$@"
spi_daemon
tree_tools
# Large, so that what comes to its place leaves a part of it free: the part with its tables.
printf 'char space[8 << 20];\nint large_one(int a) { space[a] = 1; return space[a] + a; }\n' >large.c
printf 'int small_inner(int a) { return a + 1; }\nint small_outer(int a) { return small_inner(a) * 2; }\n' >small.c
cat >reloads.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
static int round_of(const char *file, const char *name, int a, int is_closed)
{
	void *object = dlopen(file, RTLD_LAZY);
	int result = ((int (*)(int)) dlsym(object, name))(a);
	if (is_closed)
		dlclose(object);
	return result;
}
__attribute__((noinline)) int rounds(void)
{
	int sum = 0;
	for (int i = 0; i < 5; i++)
		sum += round_of("./small.so", "small_outer", i, 1) + round_of("./large.so", "large_one", i, i % 2);
	return sum;
}
int main(void)
{
	void *object = dlopen("./large.so", RTLD_LAZY);
	((int (*)(int)) dlsym(object, "large_one"))(1);
	puts("ready");
	fflush(stdout);
	getchar();
	dlclose(object);
	printf("%d\n", rounds());
	return 5;
}
C
gcc -O1 -shared -fPIC -o large.so large.c && gcc -O1 -shared -fPIC -Wl,-z,lazy -o small.so small.c && gcc -O1 -g -o reloads reloads.c ||
	{ echo "Bail out! no programs"; exit 1; }
inner=$(nm small.so | sed -n 's/.*\(...\) T small_inner/\1/p') outer=$(nm small.so | sed -n 's/.*\(...\) T small_outer/\1/p')
for compact in "" --compact; do
	TREE_COMPACT=${compact:+1}
	rm -rf t traced.err out in && mkfifo in
	./reloads <in >out & target=$!
	exec {to}>in
	spi_wait 10 file_has out ready
	"$SPI_LTTNG" trace --tree $compact -p "$target" -o t 2>traced.err {to}>&- &
	tracer=$!
	spi_wait 20 file_has traced.err 'Trace directory'
	echo >&"$to"
	exec {to}>&-
	wait "$target"
	is $? 5 "it ends as without${compact:+, compact}"
	is "$(cat out)" $'ready\n45' "its output${compact:+, compact}"
	wait "$tracer"
	tree_balanced t "balanced${compact:+, compact}" --counts t.counts
	is "$(sed -nE "s/^([0-9]+)[[:space:]].*\/small.so\+0x0*1?($inner|$outer)$/\\1/p" t.counts |
		awk '{ n += $1 } END { print n + 0 }')" 10 "every call in what was loaded${compact:+, compact}" || diag "$(cat t.counts)"
done
tap_done
