/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A library for uses-library.c: called, calling back, calling through its own PLT; also loaded with dlopen(). */
#define FN __attribute__((noipa))

static int constructed;

FN int lib_leaf(int a)
{
	return a + 2;
}

static FN int inner(int a)
{
	return lib_leaf(a) + 1; /* through the PLT: lib_leaf can be interposed */
}

__attribute__((constructor)) FN void lib_begin(void)
{
	constructed = inner(40);
}

FN int lib_constructed(void)
{
	return constructed;
}

FN int lib_call(int (*f)(int), int a)
{
	return f(inner(a)) + f(a);
}
