#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# All ways to name a function have its calls recorded: linkage names, addresses, C++
# operators, and libraries that only the programs have which COMMAND executes.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >ways.cc <<'EOF_CC'
#include <cstdio>
namespace ns {
struct K {
	int v;
	__attribute__((noipa)) int f(int) { return v; }
	__attribute__((noipa)) int f(double) { return v + 1; }
	__attribute__((noipa)) K operator+(const K &o) const { return K{v + o.v}; }
	__attribute__((noipa)) operator bool() const { return v; }
};
template <class T> __attribute__((noipa)) T twice(T x) { return x + x; }
}
extern "C" __attribute__((noipa)) int plain(int a) { return a + 1; }
extern "C" __attribute__((noipa)) int named(int a) { return a + 3; }
extern "C" int alias(int) __attribute__((alias("named")));
int main()
{
	ns::K a{1}, b = a + a;
	printf("%d\n", b.f(1) + b.f(1.5) + (b ? 1 : 0) + ns::twice(3) + plain(2) + named(2));
}
EOF_CC
spi_cc ways "$PWD/ways.cc"
address() { printf '0x%x' "0x$(nm ways | awk -v name="$1" '$3 == name { print $1 }')"; }

# recorded FUNC EVENT - `-f FUNC` records one call, as EVENT
recorded() {
	rm -rf t t.txt t.warn
	spi_trace -f "$1" -o t ./ways >trace.out
	is "$?/$(spi_count t "$2_entry")/$(spi_count t "$2_exit")" 0/1/1 "-f $1" || diag "$(cat trace.err)"
}
recorded ns::K::f\(int\) ns::K::f
recorded _ZN2ns1K1fEi ns::K::f
recorded ways:_ZN2ns1K1fEd ns::K::f@2
recorded 'ns::K::operator+' 'ns::K::operator+'
recorded 'ns::K::operator bool' 'ns::K::operator bool'
recorded 'ns::twice<int>' 'ns::twice<int>'
recorded "$(address plain)" plain
recorded "ways:$(address plain)" plain
recorded "$(address _ZN2ns1K1fEi)" ns::K::f
recorded alias alias
spi_trace -f named -f alias -o two ./ways >trace.out
is "$(spi_count two named_entry)/$(spi_count two alias_entry)" 1/0 "a function by two of its names is recorded once"
like "$(cat trace.err)" 'Note: alias: its events are called spi:named, another name of the same function' "and the name is told"
spi_trace -f ns::K::f -f 'ns::K::f(double)' -f named -f 'nam*' -o more ./ways >trace.out
unlike "$(cat trace.err)" 'are called' "but not of what has one name only"
spi_trace -f 0x3 -o u ./ways
is $? 1 "an address where no function begins"
like "$(cat trace.err)" '^Error: 0x3: no such function in ./ways and its [0-9]+ libraries$' "is said in one line"

echo 'int deep(int a) { return a + 1; }' >deep.c
gcc -O1 -g -shared -fPIC -o libdeep.so.1 deep.c
echo 'int deep(int); int main(int argc, char **argv) { return deep(argc) - 2; }' >deeper.c
spi_cc deeper "$PWD/deeper.c" -L. -l:libdeep.so.1 -Wl,-rpath,"$PWD"
spi_trace -f libdeep.so.1:deep -o d sh -c './deeper; :'
is $? 0 "a library that COMMAND has not"
like "$(head -n 1 trace.err)" '^Warning: libdeep.so.1:deep: sh has no libdeep.so.1 at its start' "a warning"
is "$(spi_count d deep_entry)" 1 "a program that it executes has it"

printf '#!/bin/sh\necho script\n' >script
is "$("$SPI_LTTNG" trace -l script 2>&1)" "Error: script: a script: list the functions of its interpreter (/bin/sh)" \
	"-l of a script says what to list"
tap_done
