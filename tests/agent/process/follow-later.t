#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 60
#
# A library that a process loads when it is attached to already: what it executes is followed, and when it ends the process
# by _exit() the calls that are under way have their exits. Calls of _exit() go through the library's own pointers, which the agent sets
# once the dynamic linker has: that they are is what is waited for.
. "${SPI_TOP_SRCDIR:?}/tests/lib/follow.sh"
spi_private "$@"
spi_daemon
tree_tools
cat >late.c <<'C'
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noipa)) static void leave(int status) { _exit(status); }
int late_run(void)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		execl("./second", "second", (char *) 0);
		leave(9);
	}
	return waitpid(child, &status, 0) == child && status == 0x700 ? 3 : 4;
}
int late_end(int status) { leave(status); return 0; }
C
cat >loads.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
__attribute__((noipa)) static int call(void *library, const char *name, int a)
{
	return ((int (*)(int)) dlsym(library, name))(a);
}
static void next(const char *said)
{
	puts(said);
	fflush(stdout);
	getchar();
}
int main(void)
{
	void *library;
	next("ready");
	library = dlopen("./late.so", RTLD_MODE);
	next(library ? "loaded" : dlerror());
	return call(library, "late_end", call(library, "late_run", 0));
}
C
echo 'int t(int a) { return a * 2; } int u(int a) { return t(a) + 1; } int main(void) { return u(3); }' >second.c
spi_cc second second.c -O0

# is_set PID OBJECT FUNCTION - the object's pointer to it leads neither into it, to be bound, nor into libc
cat >is_set.py <<'PYTHON'
import re, struct, subprocess, sys
pid, path, name = sys.argv[1:]
at = [int(l.split()[0], 16) for l in subprocess.run(["readelf", "-rW", path], capture_output=True, text=True).stdout.splitlines()
	if re.search(r" R_X86_64_(JUMP_SLO|GLOB_DAT)\S* .* %s@" % name, l)]
maps = [(*(int(x, 16) for x in l.split()[0].split("-")), l.split()[-1]) for l in open(f"/proc/{pid}/maps")]
base = min(m[0] for m in maps if m[2].endswith("/" + path))
with open(f"/proc/{pid}/mem", "rb") as mem:
	mem.seek(base + at[0])
	to, = struct.unpack("Q", mem.read(8))
sys.exit(not any(low <= to < high and "liblttng-spi" in file for low, high, file in maps))
PYTHON
pointers_set() {
	python3 is_set.py "$1" late.so _exit
} 2>/dev/null

for mode in LAZY NOW; do
	spi_cc late.so late.c -O1 -shared -fPIC "-Wl,-z,${mode,,}"
	spi_cc loads loads.c -O1 -DRTLD_MODE=RTLD_$mode
	rm -rf t in traced.err && mkfifo in
	./loads <in >out 2>err & target=$!
	exec {to}>in
	spi_wait 10 file_has out ready
	"$SPI_LTTNG" trace --tree --lib loads --lib late.so --lib second -p "$target" -o t 2>traced.err {to}>&- &
	tracer=$!
	spi_wait 20 file_has traced.err 'Trace directory'
	echo >&"$to"
	spi_wait 10 file_has out loaded
	check "$mode: the late library's pointers are the agent's" spi_wait 10 pointers_set "$target"
	echo >&"$to"
	exec {to}>&-
	wait "$target"
	is "$?/$(tr '\n' ' ' <out)$(cat err)" "3/ready loaded " "$mode: it runs as ever"
	wait "$tracer"
	tree_balanced t "$mode: balanced, and nothing is open" --counts t.counts
	is "$(awk -F '\t' '/\/second\+/ { n += $1 } END { print n + 0 }' t.counts)" 3 "$mode: the calls of the program that it executed"
done
tap_done
