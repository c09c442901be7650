#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng ANYTHING-ELSE` is the real lttng: the same output, on the same
# descriptor, the same status. And how the real one is found.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
real=$(command -v lttng)
mkdir bin && ln -s "$SPI_LTTNG" bin/lttng

# same ARGS... - called as `lttng` through PATH, first the real one, then ours
same() {
	lttng "$@" >real.out 2>real.err </dev/null
	local status=$?
	PATH=$PWD/bin:$PATH lttng "$@" >ours.out 2>ours.err </dev/null
	is $? "$status" "lttng $*: status $status"
	cmp -s real.out ours.out && cmp -s real.err ours.err
	ok $? "lttng $*: output" || diag "$(diff real.out ours.out; diff real.err ours.err)"
}

same
same --version
same --help
same version
same list
same --list-commands
same --list-options
same nosuchcommand
same --nosuchoption
same create --nosuchoption
same -n list
same -q list nosuchsession
same --mi xml list
same --mi=xml version
same -g
same --group nosuchgroup version
same -vv version
same add-trigger
same list-triggers
same tracer
same -- version

# State made through ours is there for the real one.
check "create through the front end" "$SPI_LTTNG" create one --output="$PWD/one"
check "enable-event through it" "$SPI_LTTNG" enable-event -u 'a:*' --filter 'x == 1 && y == "a b"'
same list one
check "destroy through it" "$SPI_LTTNG" destroy one

# Each command passes through it, and pays for what it loads.
if [ -z "${SPI_SANITIZED:-}" ]; then
	is "$(readelf -dW "$SPI_LTTNG" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')" libc.so.6 "it needs libc alone"
fi

# Called by path it behaves as the real one called by path.
is "$("$SPI_LTTNG" --version | head -n 1)" "$("$real" --version | head -n 1)" "called by path"

cat >other <<'EOF'
#!/bin/sh
echo "other: $*"
exit 42
EOF
chmod +x other
is "$(LTTNG_SPI_REAL_LTTNG=$PWD/other "$SPI_LTTNG" list 'a b')" "other: list a b" "LTTNG_SPI_REAL_LTTNG"
LTTNG_SPI_REAL_LTTNG=$PWD/other "$SPI_LTTNG" list >/dev/null
is $? 42 "its status"
mkdir first && cp other first/lttng
is "$(PATH=$PWD/bin:$PWD/first:$PATH lttng x)" "other: x" "the next lttng in PATH"
is "$(PATH=/nonexistent "$SPI_LTTNG" version | head -n 1)" "$("$real" version | head -n 1)" "without PATH: /usr/bin/lttng"

out=$(LTTNG_SPI_REAL_LTTNG=/nonexistent/lttng "$SPI_LTTNG" list 2>&1)
is $? 127 "no real lttng: status"
like "$out" '^Error: /nonexistent/lttng: .*LTTNG_SPI_REAL_LTTNG$' "no real lttng: one line"
LTTNG_SPI_REAL_LTTNG=$SPI_LTTNG "$SPI_LTTNG" list >/dev/null 2>&1
is $? 127 "never itself"
# A wrapper that leads back is found out instead of going round for ever.
printf '#!/bin/sh\nexec "%s" "$@"\n' "$SPI_LTTNG" >wrapper && chmod +x wrapper
out=$(LTTNG_SPI_REAL_LTTNG=$PWD/wrapper timeout $((10 * SPI_PATIENCE)) "$SPI_LTTNG" list 2>&1)
is $? 127 "a wrapper around itself: status" || diag "$out"
tap_done
