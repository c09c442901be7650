/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * made-code - calls that go through code of no file: nested functions of a library (-DLIBRARY), of which two share a place on the
 * stack, a closure as libffi makes them, by way of the stack, and a few bytes that lead nowhere.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline, noipa))
int library_work(int n);
int apply(int (*function)(int), int n);

#ifdef LIBRARY
NOINLINE int apply(int (*function)(int), int n) { return function(n) + 1; }
NOINLINE static int leaf_first(int n) { return n + 1; }
NOINLINE static int leaf_second(int n) { return n + 2; }
NOINLINE static int leaf_closure(int n) { return n + 3; }

NOINLINE static int by_first(int n)
{
	int sum = n;
	int first(int a) { sum += leaf_first(a); return a; }

	for (int i = 0; i < 5; i++)
		apply(first, i);
	return sum;
}

NOINLINE static int by_second(int n)
{
	int sum = n;
	int second(int a) { sum += leaf_second(a); return a; }

	for (int i = 0; i < 5; i++)
		apply(second, i);
	return sum;
}

__attribute__((used, aligned(16))) NOINLINE static int called_closure(int n) { return leaf_closure(n); }
void closure_alternative(void);
__asm__(".text\n.type closure_alternative, @function\nclosure_alternative:\n"
	"	endbr64; mov 8(%rsp), %r10; add $16, %rsp; jmp called_closure\n.size closure_alternative, . - closure_alternative\n");

int library_work(int n)
{
	/* endbr64; sub $16,%rsp; mov %r10,(%rsp); mov 32(code),%r10; mov %r10,8(%rsp); mov 40(code),%r10; jmp *%r10 */
	static const unsigned char code[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x10, 0x4c, 0x89, 0x14, 0x24,
		0x4c, 0x8b, 0x15, 0x2d, 0, 0, 0, 0x4c, 0x89, 0x54, 0x24, 8, 0x4c, 0x8b, 0x15, 0x29, 0, 0, 0, 0x41, 0xff, 0xe2 };
	unsigned char *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t target = (uint64_t) closure_alternative;

	memcpy(made, code, sizeof(code));
	memcpy(made + 64, &target, 8);
	memcpy(made + 72, &target, 8);
	n = by_first(n) + by_second(n) + by_first(n);
	for (int i = 0; i < 5; i++)
		n += apply((int (*)(int)) made, i);
	return n;
}
#else
NOINLINE static int by_bytes(int n)
{
	static const unsigned char code[] = { 0x8d, 0x47, 0x07, 0xc3 };	/* lea 7(%rdi), %eax; ret, at the end of its page */
	unsigned char *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int (*volatile function)(int) = (int (*)(int)) (made + 4096 - sizeof(code));

	memcpy(made + 4096 - sizeof(code), code, sizeof(code));
	return function(n) + function(n);
}

int main(void)
{
	printf("%d %d\n", library_work(1), by_bytes(1));
	return 0;
}
#endif
