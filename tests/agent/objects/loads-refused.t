#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A library of which there is no code map is asked for once for as long as it is loaded, whatever is loaded beside it, and named
# once; what comes anew is asked for anew, and so is all by a new rule.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
cat >main.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	if (!library)
		exit(9);
	return library;
}
int main(int argc, char **argv)
{
	void *refused = load("./librefused.so");

	for (int i = 0; i < 30; i++)
		dlclose(load("./libx.so"));
	if (argc > 1) {
		puts("ready");
		fflush(stdout);
		while (access(argv[1], F_OK)) {
			dlclose(load("./libx.so"));
			usleep(1000);
		}
		return 0;
	}
	dlclose(refused);
	dlclose(load("./libx.so"));
	load("./librefused.so");
	for (int i = 0; i < 30; i++)
		dlclose(load("./libx.so"));
	return 0;
}
C
echo 'static volatile int n; __attribute__((noinline)) static void in(void) { n++; } __attribute__((constructor)) void begin(void) { in(); }' >x.c
echo 'int never(int a) { return a + 1; }' >refused.c
gcc -O1 -shared -fPIC -o libx.so x.c && gcc -O1 -shared -fPIC -o librefused.so refused.c && gcc -O1 -o main main.c || { echo "Bail out! gcc"; exit 1; }

# No controller: the agent runs this.
printf '#!/bin/sh\necho "$*" >>%q\ncase "$*" in *librefused*) exit 1 ;; esac\nexec %q "$@"\n' "$PWD/asked" "$SPI_CODEMAP" >codemap
chmod +x codemap
SPI_CODEMAP=$PWD/codemap tree_record t 'tree(main)' ./main
is $? 0 "status"
is "$(grep -c librefused asked)" 2 "asked for once each time that it is loaded" || diag "$(head -n 5 tree.debug)"
is "$(grep -c 'not instrumented: librefused' tree.debug)" 2 "and named once"
tree_balanced t "balanced" --counts t.counts
like "$(awk -F '\t' '/libx.so/ { n += $1 } END { print n }' t.counts)" '^122$' "what is loaded beside it is recorded each time"

# In a process that runs: its file has been replaced since. Two rules, one after the other.
background ./main end
gcc -O1 -DX -shared -fPIC -o new.so x.c && mv new.so librefused.so
for round in 1 2; do
	rm -rf t
	timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" -v trace --tree -p "$target" --duration 0.5 -o t >trace.log 2>&1
	ok $? "round $round: traced" || diag "$(tail -n 3 trace.log)"
	like "$(tr '\n' ' ' <trace.log)" 'librefused.so' "round $round: it is named"
done
touch end
wait "$target"
is $? 0 "it goes on to its end"
tap_done
