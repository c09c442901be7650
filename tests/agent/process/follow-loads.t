#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Libraries that are loaded while the tree runs, and used without dlsym(): their
# constructors and what these hand out, threads that begin there, destructors at
# dlclose() and at exit(). As many calls as the library itself counts. What
# dlmopen() loads apart is named, and runs as without.
. "${SPI_TOP_SRCDIR:?}/tests/lib/follow.sh"
spi_private "$@"
spi_daemon
tree_tools
g++ -O1 -g -shared -fPIC -o plugin.so "$SPI_PROGRAMS/loads-library.cc"
g++ -O1 -g -shared -fPIC -Wl,-z,pack-relative-relocs -o packed.so "$SPI_PROGRAMS/loads-library.cc" 2>/dev/null || cp plugin.so packed.so
tree_cc loads loads.c -O1 -rdynamic
counter=$(nm loads | awk '$3 == "plugin_count" { sub(/^0*/, "", $1); print $1 }')

# counted - the tree has as many calls of the program's counter as that has counted; none comes after it was printed
counted() {
	is "$(awk -F '\t' -v f="/loads+0x$counter" 'index($2, f) { print $1 }' t.counts)" "$(awk '/calls$/ { print $1 }' plain.out)" "$1"
}
# resolved NAME [--component=...] - who reads the addresses of trace t knows of each what it was in, constructors included
resolved() {
	local name=$1
	shift
	babeltrace2 --plugin-path="$SPI_TOP_BUILDDIR/bt2/.libs" t "$@" --component=names:filter.lttng-utils.debug-info 2>/dev/null |
		grep -E 'cyg_profile:func_(entry|exit)' >names
	check "$name: there are some" grep -q 'bin = "plugin.so+' names
	is "$(grep -vc 'bin = "\(plugin.so\|loads\)[+@]' names)" 0 "$name"
}
for compact in "" --compact; do
	followed "loaded${compact:+, compact}" "$compact --lib loads --lib plugin.so" ./loads 4 ./plugin.so
	counted "every call of the library, from its first constructor on"
	resolved "the library of each call is known${compact:+, compact}" ${compact:+--component=expand:filter.lttng-spi.expand}
done
followed "all libraries" "" ./loads 2 ./plugin.so
counted "the same in a tree of everything"
followed "packed relocations" "--lib loads --lib packed.so" ./loads 2 ./packed.so
counted "the same where relocations are packed"
followed "main() returns" "--lib loads --lib plugin.so" ./loads -r 3 ./plugin.so
is "$(awk -F '\t' -v f="/loads+0x$counter" 'index($2, f) { print $1 }' t.counts)" $((4 * 10 + 3 * 4 + 2)) "after main() an object's destructor, which libc was given, and what it calls; not the library's own"

followed "a namespace of its own" "" ./loads -m 2 "$PWD/plugin.so"
like "$(tr '\n' ' ' <traced.err)" 'dlmopen\(\) has loaded it into a namespace of its own[^0-9]*libc.so.6[^:]*:.* plugin.so:' "named"

# Many of them: large libraries of C++ have one for each of their files.
for i in $(seq 150); do
	echo "static volatile int n$i; __attribute__((noinline)) static void in$i(void) { n$i++; }"
	echo "__attribute__((constructor)) static void begin$i(void) { in$i(); in$i(); } __attribute__((destructor)) static void end$i(void) { in$i(); n$i++; }"
done >many.c
echo 'extern int puts(const char *); void *dlopen(const char *, int); int dlclose(void *);
int main(void) { void *h = dlopen("./many.so", 2); return !h || dlclose(h); }' >many-main.c
gcc -O1 -g -shared -fPIC -o many.so many.c && gcc -O1 -g -o many many-main.c || { echo "Bail out! gcc"; exit 1; }
followed "150 constructors" "" ./many
is "$(awk -F '\t' '/many.so/ { n += $1; functions++ } END { print functions, n }' t.counts)" "450 750" "each of them is recorded, each destructor, and what they call"

# In a process that runs.
rm -rf t traced.err out && mkfifo in
./loads -w 2 ./plugin.so <in >out & target=$!
exec {to}>in
spi_wait 10 file_has out ready
"$SPI_LTTNG" trace --tree --lib loads --lib plugin.so -p "$target" -o t 2>traced.err {to}>&- &
tracer=$!
spi_wait 20 file_has traced.err 'Trace directory'
echo >&"$to"
exec {to}>&-
wait "$target"
is $? 5 "running: its status"
wait "$tracer"
tree_balanced t "running: balanced" --counts t.counts
mv out plain.out
counted "running: every call"
resolved "running: the library of each call is known"
tap_done
