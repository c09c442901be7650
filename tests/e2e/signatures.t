#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Values: 150 signatures of all types in registers and on the stack, C and C++,
# against what the functions themselves print. DWARF 4 and 5, optimised or not.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon

# signatures NAME LANGUAGE SEED COUNT OPTION... - generate, build, run traced, compare
signatures() {
	local name=$1 language=$2 seed=$3 count=$4 suffix=c out
	shift 4
	[ "$language" = c ] || suffix=cc
	python3 "$SPI_TOP_SRCDIR/tests/lib/gen-signatures.py" "$language" "$seed" "$count" >"$name.$suffix"
	spi_cc "$name" "./$name.$suffix" -w "$@"
	spi_trace_ok "$name: traced" -f "$name:sig*" -o "$name.d" "./$name" || return
	cp trace.out "$name.record"
	spi_read "$name.d"
	out=$(events compare "$name.d.txt" "$name.record" 2>&1)
	ok $? "$name: $(grep -c _entry "$name.record") signatures, every value as the program saw it"
	diag "$name: $(head -n 30 <<<"$out" | cut -c1-300)"
}

signatures optimised c 1 80 -O2 -gdwarf-5
signatures plain c 2 40 -O0 -gdwarf-4
signatures cplusplus c++ 3 60 -O2 -gdwarf-5
signatures cplusplus4 c++ 4 30 -O0 -gdwarf-4
tap_done
