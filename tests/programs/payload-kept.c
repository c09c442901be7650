/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls leaf() eight times with known values in all registers that a call keeps, and says how many of the values were
 * others behind it.
 */
#include <stdio.h>

__attribute__((noipa)) int leaf(int x)
{
	return 3 * x;
}

int kept(void);		/* how many registers were others behind the call */

__asm__(
	".text\n"
	".set number, 0\n"
	".type kept, @function\n"
	"kept:\n"
	"	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n	sub $8, %rsp\n"
	"	mov $0x1001, %ebx\n	mov $0x1002, %ebp\n	mov $0x1003, %r12d\n"
	"	mov $0x1004, %r13d\n	mov $0x1005, %r14d\n	mov $0x1006, %r15d\n"
	"	mov $5, %edi\n"
	"	call leaf\n"
	"	cmp $15, %eax\n	setne %al\n	movzbl %al, %eax\n"
	".irp reg, rbx, rbp, r12, r13, r14, r15\n"
	"	xor %ecx, %ecx\n"
	"	sub $0x1001 + number, %\\reg\n"
	"	setne %cl\n"
	"	add %ecx, %eax\n"
	"	.set number, number + 1\n"
	".endr\n"
	"	add $8, %rsp\n	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbp\n	pop %rbx\n	ret\n"
	".size kept, . - kept\n");

int main(void)
{
	int wrong = 0;

	for (int i = 0; i < 8; i++)
		wrong += kept();
	printf("%d wrong\n", wrong);
	return 0;
}
