/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The tracer's own functions of libc's names for text, memory, environment and sets of signals, for agent and event
 * module alike.
 *
 * A program, or a library that it preloads, may define strlen() or memcpy() itself and export it: to count, to check, or
 * since it is traced. What the tracer copies and compares is no matter of such a function. These are hidden, so the static
 * linker binds the tracer's calls to them, also those that the compiler makes. They use general registers only, and may
 * be called in any state. They see short strings and a few words at a time, which are not worth vector instructions.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "liblttng-spi/arch/arch.h"

struct word {
	uint64_t value;
} __attribute__((packed, may_alias));

SPI_HIDDEN void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	for (; n >= 16; n -= 16, t += 16, f += 16) {
		uint64_t low = ((const struct word *) f)[0].value, high = ((const struct word *) f)[1].value;

		((struct word *) t)[0].value = low;
		((struct word *) t)[1].value = high;
	}
	if (n & 8) {
		((struct word *) t)->value = ((const struct word *) f)->value;
		t += 8;
		f += 8;
	}
	for (n &= 7; n; n--)
		*t++ = *f++;
	return to;
}

SPI_HIDDEN void *memmove(void *to, const void *from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if (t < f)
		while (n--)
			*t++ = *f++;
	else
		while (n--)
			t[n] = f[n];
	return to;
}

SPI_HIDDEN void *memset(void *to, int value, size_t n)
{
	unsigned char *t = to;
	uint64_t word = (unsigned char) value * UINT64_C(0x0101010101010101);

	for (; n >= 8; n -= 8, t += 8)
		((struct word *) t)->value = word;
	while (n--)
		*t++ = (unsigned char) value;
	return to;
}

SPI_HIDDEN int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	while (n && *x == *y) {
		n--;
		x++;
		y++;
	}
	return n ? *x - *y : 0;
}

SPI_HIDDEN void *memchr(const void *text, int c, size_t n)
{
	const unsigned char *s = text;

	while (n && *s != (unsigned char) c) {
		n--;
		s++;
	}
	return n ? (void *) s : NULL;
}

SPI_HIDDEN size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

SPI_HIDDEN int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char) *a - (unsigned char) *b;
}

SPI_HIDDEN int strncmp(const char *a, const char *b, size_t n)
{
	while (n && *a && *a == *b) {
		n--;
		a++;
		b++;
	}
	return n ? (unsigned char) *a - (unsigned char) *b : 0;
}

SPI_HIDDEN char *strcpy(char *restrict to, const char *restrict from)
{
	size_t i = 0;

	do
		to[i] = from[i];
	while (from[i++]);
	return to;
}

SPI_HIDDEN char *strchrnul(const char *s, int c)
{
	while (*s && *s != (char) c)
		s++;
	return (char *) s;
}

SPI_HIDDEN char *strchr(const char *s, int c)
{
	s = strchrnul(s, c);
	return *s == (char) c ? (char *) s : NULL;
}

SPI_HIDDEN char *strrchr(const char *s, int c)
{
	const char *last = NULL;

	for (; *s; s++)
		if (*s == (char) c)
			last = s;
	return (char *) (c ? last : s);
}

SPI_HIDDEN size_t strcspn(const char *s, const char *reject)
{
	size_t n = 0;

	while (s[n] && !strchr(reject, s[n]))
		n++;
	return n;
}

SPI_HIDDEN size_t strspn(const char *s, const char *accept)
{
	size_t n = 0;

	while (s[n] && strchr(accept, s[n]))
		n++;
	return n;
}

SPI_HIDDEN char *strpbrk(const char *s, const char *accept)
{
	s += strcspn(s, accept);
	return *s ? (char *) s : NULL;
}

SPI_HIDDEN char *strstr(const char *s, const char *part)
{
	size_t n = strlen(part);

	while (*s && strncmp(s, part, n))
		s++;
	return *s || !n ? (char *) s : NULL;
}

SPI_HIDDEN char *getenv(const char *name)
{
	size_t n = strlen(name);

	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, name, n) && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}

/* ---- sets of signals: one word is all that the kernel knows of them ---- */

SPI_HIDDEN int sigemptyset(sigset_t *set)
{
	memset(set, 0, sizeof(*set));
	return 0;
}

static int signal_exists(int signal)
{
	if (signal >= 1 && signal <= 64)
		return 1;
	errno = EINVAL;
	return 0;
}

SPI_HIDDEN int sigaddset(sigset_t *set, int signal)
{
	if (!signal_exists(signal))
		return -1;
	*(uint64_t *) set |= UINT64_C(1) << (signal - 1);
	return 0;
}

SPI_HIDDEN int sigdelset(sigset_t *set, int signal)
{
	if (!signal_exists(signal))
		return -1;
	*(uint64_t *) set &= ~(UINT64_C(1) << (signal - 1));
	return 0;
}

SPI_HIDDEN int sigismember(const sigset_t *set, int signal)
{
	return signal_exists(signal) ? (int) (*(const uint64_t *) set >> (signal - 1) & 1) : -1;
}
