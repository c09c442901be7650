/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A program with functions of libc's names, which every library would call; it prints how often they were. */
#include <stddef.h>
#include <stdio.h>

static unsigned long calls[4];

void *memcpy(void *to, const void *from, size_t n)
{
	__atomic_fetch_add(&calls[0], 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < n; i++)
		((volatile char *) to)[i] = ((const volatile char *) from)[i];
	return to;
}

void *memset(void *to, int c, size_t n)
{
	__atomic_fetch_add(&calls[1], 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < n; i++)
		((volatile char *) to)[i] = (char) c;
	return to;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	__atomic_fetch_add(&calls[2], 1, __ATOMIC_RELAXED);
	while (((const volatile char *) s)[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	__atomic_fetch_add(&calls[3], 1, __ATOMIC_RELAXED);
	for (; *(const volatile char *) a && *a == *b; a++, b++)
		;
	return (unsigned char) *a - (unsigned char) *b;
}

__attribute__((noinline)) int work(const char *text)
{
	return strcmp(text, "text") + (int) strlen(text);
}

int main(void)
{
	unsigned long before[4], sum = 0;

	memcpy(before, calls, sizeof(before));
	for (int i = 0; i < 5000; i++)
		sum += (unsigned long) work("text");
	printf("%lu: %lu %lu %lu %lu\n", sum, calls[0] - before[0], calls[1] - before[1], calls[2] - before[2], calls[3] - before[3]);
	return 0;
}
