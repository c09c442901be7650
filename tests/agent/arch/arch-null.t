#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# The contract with a processor (liblttng-spi/arch/arch.h) is complete: agent and event module, compiled for no
# processor and linked with arch/null, lack nothing. And outside of arch/ nothing knows a processor.
src=${SPI_TOP_SRCDIR:?}
. "$src/tests/lib/tap.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/spi-null.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
flags="-O0 -std=gnu11 -D_GNU_SOURCE -D_LGPL_SOURCE -DSPI_ARCH_NULL -DSPI_CODEMAP_PATH=\"spi-codemap\" -DSPI_INJECT_PATH=\"spi-inject\" -I$src
	-fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector -Wall -Wextra -Wno-unused-parameter
	$(pkg-config --cflags lttng-ust liburcu)"

# sources DIRECTORY - the C files that its library is made of, but those that are written for a processor
sources() {
	(cd "$src/$1" && find . -path ./arch -prune -o -name '*.c' -printf "$src/$1/%P\n" | sort)
	grep -ohE '\.\./[^ ]+\.c\b' "$src/$1/Makefile.am" | sort -u | sed "s|^|$src/$1/|"
}

# compile DIRECTORY FILE... - an object each, into $work/DIRECTORY; what the compiler says goes to the log
compile() {
	local directory=$1

	mkdir "$work/$directory"
	shift
	printf '%s\n' "$@" | (cd "$work/$directory" && flags=$flags xargs -P 2 -I FILE sh -c \
		'gcc $flags -c FILE -o "$(echo FILE | tr / -).o" 2>&1 || echo failed') >"$work/$directory.log"
	[ ! -s "$work/$directory.log" ] || { diag "$(head -40 "$work/$directory.log")"; false; }
}

mapfile -t agent < <(sources liblttng-spi)
compile liblttng-spi "${agent[@]}" "$src/liblttng-spi/arch/null/null.c"
ok $? "the agent compiles for no processor, without a warning"
gcc -shared -Wl,--no-undefined -o "$work/liblttng-spi.so" "$work"/liblttng-spi/*.o "$SPI_TOP_BUILDDIR/rules/.libs/libspi-rules-guest.a" 2>"$work/link.log"
ok $? "and lack nothing" || diag "$(head -40 "$work/link.log")"

mapfile -t module < <(sources tp)
compile tp "${module[@]}"
ok $? "the event module does, too"
gcc -shared -Wl,--no-undefined -o "$work/tp.so" "$work"/tp/*.o "$work/liblttng-spi.so" -llttng-ust -llttng-ust-common \
	-llttng-ust-tracepoint 2>"$work/link.log"
ok $? "and lack nothing" || diag "$(head -40 "$work/link.log")"

# Registers, instructions and opcodes, where they are no comment: all but the compiler's own barrier.
words='rsp|rbp|rip|rax|rbx|rcx|rdx|rsi|rdi|r1[0-5]|[xyz]mm[0-9]*|0xe8|0xe9|0xcc|rdtsc|cmpxchg[0-9b]*|xaddl?'
words+='|__asm__|asm|__builtin_ia32_\w+|__builtin_thread_pointer|REG_(R[A-Z0-9]+|EFL)|gregs'
words+='|R_X86_64_\w+|EM_X86_64|AUDIT_ARCH_\w+|CPU_FEATURE_\w+'
# known FILE - where its code has one
known() {
	gcc -fpreprocessed -dD -E -P "$1" 2>/dev/null | grep -wE "$words" | grep -v '^#define spi_barrier()' | sed "s|^|$1: |"
}
found=$(cd "$src" && find liblttng-spi tp -path liblttng-spi/arch -prune -o -name '*.[ch]' -print | sort |
	while read -r file; do known "$file"; done)
is "$found" '' "outside of arch/ there is no register, no opcode and no assembly"
tap_done
