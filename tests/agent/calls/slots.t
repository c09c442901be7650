#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Return slots, thunks and unwinding by themselves.
set -e
src=${SPI_TOP_SRCDIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
objects=()
for file in base/{mode,lend,participants,thread,payload,trees,tracer-threads,status,memory,sys,proc} \
	calls/{threads,slots,slot-arena,nesting} ledger/close process/last-thread unwind/unwind cfi/find objects/{symbols,tables} \
	arch/x86-64/{calls/words,thunks,slots,thunk-set,slot-code,jumps,context,unwind/landing}; do
	objects+=("${SPI_TOP_BUILDDIR:?}/liblttng-spi/${file%/*}/.libs/${file##*/}.o")
done
flags="-I$src -D_GNU_SOURCE -O2 -g -fPIC -fvisibility=hidden -fno-stack-protector -ftls-model=initial-exec"
gcc $flags -mgeneral-regs-only -c "$src/tests/programs/units/calls/slots-payload.c" -o "$work/payload.o"
gcc $flags -c "$src/tests/programs/units/base/format.c" -o "$work/format.o"
# The arena is part of an executable here: its addresses must stay within reach.
g++ -O2 -g -no-pie -o "$work/slots" "$src/tests/programs/units/calls/slots.cc" "$work"/*.o "${objects[@]}" -lpthread
SPI_TOP_SRCDIR=$src timeout 100 "$work/slots"
