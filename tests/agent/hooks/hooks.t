#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The functions that the agent stands before: each name of libc's that the agent exports has a row of the hook
# table. One that the agent cannot have is named, with what is lost, and the rest goes on.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
agent=$SPI_TOP_SRCDIR/liblttng-spi

nm -D --defined-only "$SPI_TOP_BUILDDIR/liblttng-spi/.libs/liblttng-spi.so.0" |
	awk '$3 !~ /^(lttng_)?spi_|@|^LTTNG_SPI_/ { print $3 }' | sort >exported
find "$agent" -name "*.c" -exec cat {} + | grep -oE '^	\{ "[A-Za-z_0-9]+"|(SPI_HOOK_ROW|EACH|X)\(.*' |
	grep -oE '[A-Za-z_0-9]{2,}' | sort -u >rows
is "$(comm -23 exported rows | xargs)" "" "each exported function of libc's has a row"
is "$(uniq -d exported | xargs)" "" "and is exported once"

# Another's code stands at a function's entry, which this program never calls.
cat >taken.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int t_tiny(int x);
int t_tiny2(int x);
__asm__(".text\n.globl t_tiny, t_tiny2\n.type t_tiny, @function\n.type t_tiny2, @function\n"
	"t_tiny: lea 1(%rdi), %eax\n ret\n.size t_tiny, . - t_tiny\n"
	"t_tiny2: lea 2(%rdi), %eax\n ret\n.size t_tiny2, . - t_tiny2\n");

__attribute__((noinline, noclone)) int work(int x)
{
	return system("true") + t_tiny(x);
}

int main(int argc, char **argv)
{
	char *f = argc > 1 ? dlsym(RTLD_DEFAULT, argv[1]) : NULL, *page = (char *) ((uintptr_t) f & -4096);

	if (!f || mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
		return 1;
	memset(f, 0xf4, 4);
	mprotect(page, 8192, PROT_READ | PROT_EXEC);
	puts("ready");
	fflush(stdout);
	for (;;)
		usleep(work(argc > 2 ? 20000 : 1000) + t_tiny2(1));
}
C
spi_cc taken ./taken.c -no-pie

background ./taken ppoll
spi_trace -f t_tiny -f t_tiny2 -p "$target" --duration 0.2 -o refused >/dev/null
like "$(cat trace.err)" "only a breakpoint \(int3\) fits, and libc's functions for signals cannot be watched" \
	"libc's ppoll() cannot be watched: there is no int3 in a program that runs, and the reason is said"
kill "$target"

background ./taken fexecve
spi_trace --tree -p "$target" --duration 1 -o tree >/dev/null
like "$(cat trace.err)" \
	"libc's fexecve\(\) cannot be watched, so programs that it executes are not traced: its code in memory" \
	"libc's fexecve() cannot be watched: what is lost is said"
is "$(babeltrace2 tree | grep -om 1 dash | head -n 1)" "dash" "and the programs that it executes otherwise are followed"
kill "$target"
tap_done
