#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Events of functions (-f) say once, in the metadata, of which object they are: --object, --by object and --lines.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi=$SPI_TOP_BUILDDIR/reader/lttng-spi

# Three functions work(), of which a process has two; in a directory whose name would end a string of the metadata.
mkdir 'a "b\n%3f?'
cat >lib.c <<'END'
__attribute__((noipa)) int work(int a) { return a + 1; }
int first(int a) { return work(a) + 1; }
END
cat >main.c <<'END'
#include <stdlib.h>
#include <unistd.h>
int first(int a);
__attribute__((noipa)) static int work(int a) { return a; }
int main(int argc, char **argv)
{
	for (int i = 0; i < CALLS; i++)
		work(first(i));
	return argc > 1 ? execv(argv[1], argv + 1) : 0;
}
END
cc() { gcc -g -O1 -Wl,--build-id "$@"; }
cc -shared -fPIC -Wl,-Bsymbolic lib.c -o 'a "b\n%3f?/libone.so'
cc -DCALLS=3 main.c -o one 'a "b\n%3f?/libone.so'
cc -DCALLS=5 main.c -o two 'a "b\n%3f?/libone.so'

# rows DIR OPTION... - calls by name, object and, with --lines, file and line
rows() {
	"$spi" report --format json "${@:2}" "$1" 2>&1 | python3 -c '
import json, sys
for r in sorted((r["name"], r.get("object", ""), r["calls"], r.get("line", 0)) for r in json.load(sys.stdin)["rows"]):
    print(*r)'
}

for form in "" --one-event --backtrace; do
	# shellcheck disable=SC2086
	spi_trace_ok "two programs, each with a function of the name of its library's $form" -f work -f libone.so:first $form \
		-o trace$form ./one ./two
	is "$(rows trace$form --lines)" "$(printf '%s\n' 'first libone.so 8 2' 'work one 3 4' 'work two 5 4' 'work@2 libone.so 8 1')" \
		"each has its object, and its line"
	is "$(rows trace$form --by object)" "$(printf '%s\n' 'libone.so  16 0' 'one  3 0' 'two  5 0')" "a row an object"
	is "$(rows trace$form --object two)" 'work two 5 0' "one object's"
done
is "$("$spi" calls --object 'lib*' --format json trace | grep -c '"kind":"entry"')" 16 "calls of one object"
like "$("$spi" calls --lines trace | grep -m 1 ' work(')" 'work\(a = .*\) at main.c:4' "and where they are"
is "$("$spi" info --format json trace | python3 -c '
import json, sys
print(sorted((o["path"].split("/")[-1], o["calls"]) for o in json.load(sys.stdin)["objects"] if o["calls"]))')" \
	"[('libone.so', 16), ('one', 3), ('two', 5)]" "lttng-spi info counts them, each object once"
is "$("$spi" info --format json trace | python3 -c '
import json, sys
print([o["build_id"] for o in json.load(sys.stdin)["objects"] if o["path"] == sys.argv[1]])' "$PWD/a \"b\\n%3f?/libone.so")" \
	"['$(readelf -n 'a "b\n%3f?/libone.so' | sed -n 's/.*Build ID: //p')']" "under its path and build-id"
is "$(babeltrace2 trace | grep -c ' spi:work_entry: ')" 8 "babeltrace2 reads the same events"

# What the code map gives for a tree is told apart from what the rule by name gives.
spi_trace_ok "a tree, and one of its functions by name" --tree=main -f one:work -o both ./one
is "$(rows both --object one)" "$(printf '%s\n' 'main one 1 0' 'work one 3 0' 'work one 3 0')" "each call is counted once a record"
tap_done
