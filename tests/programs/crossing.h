/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Functions whose entry is hard to put a jump into, which crossing.c and crossing-life.c call. Each of these has a leaf() of its own.
 */
#ifndef CROSSING_H
#define CROSSING_H

#define STAY	__attribute__((noipa))

/* Calls among the first instructions, a loop back to the first byte, and no room for a jump. */
int early(int a);
int first(int a);
int again(int a);
int tiny(int a);
int tiny2(int a);
__asm__(".text\n"
	".globl early\n.type early, @function\n"
	"early:\n	push %rbp\n	mov %rsp, %rbp\n	call leaf\n	pop %rbp\n	ret\n	.size early, . - early\n"
	".globl first\n.type first, @function\n"
	"first:\n	sub $8, %rsp\n	call leaf\n	call early\n	add $8, %rsp\n	ret\n	.size first, . - first\n"
	".globl again\n.type again, @function\n"
	"again:\n	test %edi, %edi\n	je 1f\n	dec %edi\n	jmp again\n1:	push %rbx\n	call leaf\n	pop %rbx\n	ret\n"
	"	.size again, . - again\n"
	".globl tiny\n.type tiny, @function\n"
	"tiny:\n	lea 1(%rdi), %eax\n	ret\n	.size tiny, . - tiny\n"
	".globl tiny2\n.type tiny2, @function\n"
	"tiny2:\n	lea 2(%rdi), %eax\n	ret\n	.size tiny2, . - tiny2\n");

#endif /* CROSSING_H */
