#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 60
#
# A program of lttng-ust's, recorded for a while, loads a library, then comes under a tree, then unloads it and loads another: the
# trace says where both were, though nothing stands before its dlopen().
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree.sh"
spi_private "$@"
tree_tools
printf 'int one_inner(int a) { return a + 1; }\nint one_call(int a) { return one_inner(a) * 2; }\n' >one.c
# at other addresses: babeltrace2 keeps what it has once found for one
{ echo 'int other_first(int a) { return a % 7 + a % 11; }'; sed s/one_/other_/g one.c; } >other.c
cat >loads.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
static void *library;
__attribute__((noipa)) static int work(const char *name)
{
	return ((int (*)(int)) dlsym(library, name))(1);
}
static void next(const char *said)
{
	puts(said);
	fflush(stdout);
	getchar();
}
int main(void)
{
	int sum;
	next("ready");
	library = dlopen("./one.so", RTLD_NOW);
	next("loaded");
	sum = work("one_call");
	dlclose(library);
	library = dlopen("./other.so", RTLD_NOW);
	printf("%d\n", sum + work("other_call"));
	next("done");
	return 0;
}
C
for l in one other; do spi_cc $l.so $l.c -O1 -shared -fPIC; done
spi_cc loads loads.c -O1 -Wl,--no-as-needed -llttng-ust
spi_sessiond
quiet lttng create s -o "$PWD/t"
quiet lttng add-context -u -s s -t vpid -t vtid -t ip
quiet lttng enable-event -u -s s 'lttng_ust_statedump:*,lttng_ust_lib:*'
quiet lttng start s
mkfifo in
./loads <in >out 2>err & target=$!
exec {to}>in
spi_wait 10 file_has out ready
registered() { lttng list -u | grep -q loads; }
spi_wait 10 registered
echo >&"$to"
spi_wait 10 file_has out loaded
quiet "$SPI_LTTNG" enable-event --spi -s s --tree=work
spi_wait 10 spi_status_has '^applied\t.*active\t'
echo >&"$to"
spi_wait 10 file_has out 'done'
echo >&"$to"
exec {to}>&-
wait $target
is "$?/$(cat err)/$(tr '\n' ' ' <out)" "0//ready loaded 8 done " "it runs as ever"
quiet lttng destroy s
for l in one other; do
	babeltrace2 --debug-info t 2>/dev/null | grep -c "func_entry.*bin = \"$l.so[+@].*func = \"${l}_\(call\|inner\)" >n
	is "$(cat n)" 2 "$l.so: its calls are known"
done
tap_done
