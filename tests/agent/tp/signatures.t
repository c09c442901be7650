#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Values: 210 signatures of all types in registers and on the stack, C and C++, gcc
# and clang, vectors by value of up to 64 bytes,
# against what the functions themselves print. DWARF 4 and 5, optimised or not.
# Then Fortran's, by reference, with lengths and descriptors.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon

# compared NAME - run it traced, compare
compared() {
	local name=$1 out
	spi_trace_ok "$name: traced" -f "$name:sig*" -o "$name.d" "./$name" || return
	cp trace.out "$name.record"
	spi_read "$name.d"
	out=$(events compare "$name.d.txt" "$name.record" 2>&1)
	ok $? "$name: $(grep -c _entry "$name.record") signatures, every value as the program saw it"
	diag "$name: $(head -n 30 <<<"$out" | cut -c1-300)"
}

# signatures NAME LANGUAGE SEED COUNT OPTION... - generate, build, compare
signatures() {
	local name=$1 language=$2 seed=$3 count=$4 suffix=c
	shift 4
	[ "$language" = c ] || suffix=cc
	python3 "$SPI_TOP_SRCDIR/tests/lib/gen-signatures.py" "$language" "$seed" "$count" >"$name.$suffix"
	spi_cc "$name" "./$name.$suffix" -w "$@"
	compared "$name"
}

# vectors NAME COMPILER SEED COUNT BYTES OPTION... - the same with vectors by value of up to so many bytes
vectors() {
	local name=$1 compiler=$2 seed=$3 count=$4 bytes=$5 language=c suffix=c feature=avx2
	shift 5
	case $compiler in *++) language=c++ suffix=cc ;; esac
	[ "$bytes" = 32 ] || feature=avx512f
	if ! grep -qw "$feature" /proc/cpuinfo || ! command -v "$compiler" >/dev/null; then
		skip 2 "$name: no $compiler, or a CPU without $feature"
		return
	fi
	python3 "$SPI_TOP_SRCDIR/tests/lib/gen-signatures.py" "$language" "$seed" "$count" "$bytes" >"$name.$suffix"
	"$compiler" -g -w -m"$feature" -o "$name" "$name.$suffix" "$@" 2>cc.log || { fail "$name: builds"; diag "$(head cc.log)"; return; }
	compared "$name"
}

signatures optimised c 1 80 -O2 -gdwarf-5
signatures plain c 2 40 -O0 -gdwarf-4
signatures cplusplus c++ 3 60 -O2 -gdwarf-5
signatures cplusplus4 c++ 4 30 -O0 -gdwarf-4

# fortran NAME OPTION... - the same of a program in Fortran
fortran() {
	local name=$1 out function
	local -a functions=()
	shift
	gfortran -w -o "$name" -J "$SPI_TMP" "$@" "$SPI_TOP_SRCDIR/tests/programs/fortran.f90" ||
		{ ok 1 "$name: builds"; return; }
	for function in $("./$name" | sed -n 's/_entry.*//p' | sort -u); do functions+=(-f "$name:$function"); done
	spi_trace_ok "$name: traced" "${functions[@]}" -o "$name.d" "./$name" || return
	cp trace.out "$name.record"
	spi_read "$name.d"
	out=$(events compare "$name.d.txt" "$name.record" 2>&1)
	ok $? "$name: ${#functions[@]} of Fortran's signatures, every value as the program saw it" ||
		diag "$(head -n 30 <<<"$out" | cut -c1-300)"
}

if command -v gfortran >/dev/null; then
	fortran fortran0 -O0 -g
	fortran fortran2 -O2 -g -fno-inline -fno-ipa-cp -fno-ipa-sra
	fortran fortran4 -O2 -gdwarf-4 -fno-inline -fno-ipa-cp -fno-ipa-sra
else
	skip 'signatures of Fortran' 'gfortran is not installed: make soak installs it'
fi
vectors simd gcc 5 12 32 -O2
vectors simd_plain gcc 6 12 64 -O0 -gdwarf-4
vectors simd_cplusplus g++ 7 12 64 -O2
vectors simd_clang clang 8 12 64 -O2
vectors simd_clang_plain clang++ 9 12 32 -O0
tap_done
