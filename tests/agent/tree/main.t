#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# Where main() is in programs that have no symbols: it is what the first function gives
# to libc, in whichever way a linker or a compiler's own start files have it done.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
cat >main.c <<'E_C'
#include <stdio.h>
static __attribute__((noinline, noipa)) int thrice(int a) { return a * 3; }
int main(int argc, char **argv)
{
	(void) argv;
	return printf("%d\n", thrice(argc));
}
E_C
# found NAME COMMAND... - main() and what it calls are in the trace, and the output is as without
found() {
	local name=$1
	shift
	"$@" >plain.out
	tree_record "$SPI_TMP/found" "tree(main)" "$@" >traced.out
	is "$?" 2 "$name: status"
	same_file traced.out plain.out "$name: output"
	tree_balanced "$SPI_TMP/found" "$name: balanced" --counts "$SPI_TMP/counts"
	[ "$(grep -c '/main-' counts)" -ge 2 ]
	ok $? "$name: main() and its callee were recorded" || diag "$(cat counts)"
}
gcc -O1 -s -o main-pie main.c
gcc -O1 -s -no-pie -o main-nopie main.c
gcc -O1 -s -Wl,--no-relax -o main-got main.c
found "lea" ./main-pie
found "mov of its address" ./main-nopie
found "mov from the GOT" ./main-got

# As Free Pascal's start files do: movabs, and a function that pops its return address first.
cat >start.s <<'E_S'
	.globl _start
	.type _start, @function
_start:	xor %ebp, %ebp
	mov %rdx, %r9
	pop %rsi
	mov %rsp, %rdx
	lea saved(%rip), %rcx
	mov %esi, 8(%rcx)
	mov %rsp, 16(%rcx)
	and $-16, %rsp
	push %rax
	push %rsp
	movabs $0, %r8
	movabs $0, %rcx
	movabs $begin, %rdi
	call __libc_start_main
	hlt
	.size _start, . - _start
	.type begin, @function
begin:	.cfi_startproc
	pop %rax
	push %rax
	mov %rax, saved(%rip)
	push %rax
	call main
	add $8, %rsp
	ret
	.cfi_endproc
	.size begin, . - begin
	.comm saved, 32
	.section .note.GNU-stack, "", @progbits
E_S
gcc -O1 -no-pie -nostartfiles -o main-begin start.s main.c
found "movabs, behind a function that pops its return address" ./main-begin
tap_done
