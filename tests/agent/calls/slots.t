#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Return slots, thunks and unwinding by themselves.
set -e
src=${SPI_TOP_SRCDIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
core="-I$src -D_GNU_SOURCE -O2 -g -fPIC -fvisibility=hidden -fno-stack-protector -mgeneral-regs-only -ftls-model=initial-exec"
for f in base/mode base/lend base/participants base/thread base/payload base/trees calls/threads ledger/close base/tracer-threads process/last-thread calls/slots calls/slot-arena calls/nesting unwind/unwind cfi/find base/status objects/symbols base/sys base/proc; do
	gcc $core -c "$src/liblttng-spi/$f.c" -o "$work/c-$(basename "$f").o"
done
gcc $core -c "$src/tests/programs/units/calls/slots-payload.c" -o "$work/payload.o"
gcc ${core/-mgeneral-regs-only/} -c "$src/tests/programs/units/base/format.c" -o "$work/format.o"
for f in arch/x86-64/calls/words.S arch/x86-64/{thunks.S,slots.S,thunk-set.c,slot-code.c,jumps.c,context.c,steps.S,unwind/landing.S}; do
	gcc $core -c "$src/liblttng-spi/$f" -o "$work/a-$(basename "$f").o"
done
# The arena is part of an executable here: its addresses must stay within reach.
g++ -O2 -g -no-pie -o "$work/slots" "$src/tests/programs/units/calls/slots.cc" "$work"/*.o -lpthread
SPI_TOP_SRCDIR=$src timeout 100 "$work/slots"
