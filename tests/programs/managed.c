/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Code as two runtimes have it that look up return addresses: a unit of OCaml's,
 * and V8's builtins. Whoever calls a function that looks, or is on the way to
 * it, must lie in such code, or the program aborts.
 */
#include <stdio.h>
#include <stdlib.h>

#define HERE __attribute__((noipa))

static volatile long sink;
extern const char camlUnit__code_begin[], camlUnit__code_end[];

static void look_up(const char *ra, const char *low, const char *high)
{
	if (ra < low || ra >= high)
		abort();
}

/* ordinary functions, to be recorded */
HERE long usual_leaf(long x) { return x + 1; }
HERE long usual(long x) { return usual_leaf(x) + usual_leaf(x); }

__asm__(".text\n.globl camlEmpty__code_begin, camlEmpty__code_end\ncamlEmpty__code_begin:\ncamlEmpty__code_end:\n"
	".globl camlUnit__code_begin\ncamlUnit__code_begin:\nnop");
HERE long camlUnit__collect_3(long x)
{
	look_up(__builtin_return_address(0), camlUnit__code_begin, camlUnit__code_end);
	return x + 1;
}
HERE long camlUnit__step_2(long x)
{
	look_up(__builtin_return_address(0), camlUnit__code_begin, camlUnit__code_end);
	sink++;
	return camlUnit__collect_3(x) + 1;
}
HERE long camlUnit__entry_1(long x)
{
	long (*volatile step)(long) = camlUnit__step_2;

	sink++;
	return camlUnit__step_2(x) + step(x) + 1;
}
__asm__(".text\nnop\n.globl camlUnit__code_end\ncamlUnit__code_end:");

HERE long Builtins_CEntry(long x);
extern const char Builtins_low[] __asm__("Builtins_CEntry");
long builtin(int argc, unsigned long *args, void *isolate) __asm__("_ZN2v88internal12Builtin_LookEiPmPNS0_7IsolateE");
HERE long builtin(int argc, unsigned long *args, void *isolate)
{
	look_up(__builtin_return_address(0), Builtins_low, Builtins_low + 256);
	return argc + (args == isolate) + usual(argc);
}
HERE long Builtins_CEntry(long x)
{
	long (*volatile call)(int, unsigned long *, void *) = builtin;

	return call((int) x, NULL, NULL) + call((int) x + 1, NULL, NULL);
}

HERE long after(long x) { return usual_leaf(x) + 2; }

int main(void)
{
	long sum = 0;
	long (*volatile entry)(long) = camlUnit__entry_1;

	for (long i = 0; i < 100; i++)
		sum += usual(i) + camlUnit__entry_1(i) + entry(i) + Builtins_CEntry(i) + after(i);
	printf("%ld %ld\n", sum, sink);
	return 0;
}
