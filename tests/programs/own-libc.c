/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program with functions of its own under libc's names, which it exports: each notes from which object it is called,
 * and the program says at its end which of the tracer's called them. The work is a few calls with text.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOTED 4096
#define SHOWN __attribute__((visibility("default"), noinline, optimize("no-tree-loop-distribute-patterns")))
static struct noted {
	const char *name;
	void *caller;
} noted[NOTED];
static unsigned int count;

#define NOTE() note(__func__, __builtin_return_address(0))
static void note(const char *name, void *caller)
{
	for (unsigned int i = 0; i < count && i < NOTED; i++)
		if (noted[i].caller == caller)
			return;
	unsigned int at = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);

	if (at < NOTED)
		noted[at] = (struct noted) { name, caller };
}

#define TEXT(type, name, params, ...) SHOWN type name params { NOTE(); __VA_ARGS__ }
TEXT(unsigned long, strlen, (const char *s), unsigned long n = 0; while (s[n]) n++; return n;)
TEXT(int, strcmp, (const char *a, const char *b),
	while (*a && *a == *b) a++, b++; return (unsigned char) *a - (unsigned char) *b;)
TEXT(int, strncmp, (const char *a, const char *b, unsigned long n),
	while (n && *a && *a == *b) a++, b++, n--; return n ? (unsigned char) *a - (unsigned char) *b : 0;)
TEXT(void *, memcpy, (void *to, const void *from, unsigned long n),
	char *t = to; const char *f = from; while (n--) *t++ = *f++; return to;)
TEXT(void *, memset, (void *to, int c, unsigned long n), char *t = to; while (n--) *t++ = (char) c; return to;)
TEXT(int, memcmp, (const void *a, const void *b, unsigned long n), const unsigned char *x = a; const unsigned char *y = b;
	while (n && *x == *y) x++, y++, n--; return n ? *x - *y : 0;)
TEXT(char *, strchr, (const char *s, int c), while (*s && *s != (char) c) s++; return *s == (char) c ? (char *) s : 0;)
TEXT(char *, strrchr, (const char *s, int c),
	const char *last = 0; do if (*s == (char) c) last = s; while (*s++); return (char *) last;)
TEXT(char *, getenv, (const char *name), extern char **environ; unsigned long n = 0; while (name[n]) n++;
	for (char **e = environ; *e; e++) { unsigned long i = 0; while (i < n && (*e)[i] == name[i]) i++;
		if (i == n && (*e)[n] == '=') return *e + n + 1; } return 0;)
TEXT(int, open, (const char *path, int flags, ...), va_list l; va_start(l, flags); int mode = va_arg(l, int); va_end(l);
	return (int) syscall(SYS_openat, AT_FDCWD, path, flags, mode);)
TEXT(long, read, (int fd, void *to, unsigned long n), return syscall(SYS_read, fd, to, n);)
TEXT(int, getpid, (void), return (int) syscall(SYS_getpid);)

__attribute__((noinline, noipa)) int work(const char *text, int n) { return (int) strlen(text) + n; }

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += work("some text", i);
	printf("work %d\n", sum);
	for (unsigned int i = 0; i < count && i < NOTED; i++) {
		const char *base = NULL;
		Dl_info info;

		if (!dladdr(noted[i].caller, &info) || !info.dli_fname)
			continue;
		for (const char *c = base = info.dli_fname; *c; c++)
			if (*c == '/')
				base = c + 1;
		printf("%s: %s\n", base, noted[i].name);
	}
	fflush(stdout);
	return 0;
}
