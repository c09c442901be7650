#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Outside of liblttng-spi/arch/ nothing in agent and event module knows a processor.
src=${SPI_TOP_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$src/tests/lib/tap.sh"

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
