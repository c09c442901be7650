/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * System calls made directly, and the few helpers on top of them. The call side
 * of the agent runs between any two instructions of the program, errno's
 * included, and libc's wrappers may themselves be instrumented: neither is
 * touched here.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include "liblttng-spi/base/internal.h"

long spi_sys(long number, ...)
{
	va_list ap;
	uint64_t a[6];

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, uint64_t);
	va_end(ap);
	return spi_raw6(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

void spi_sleep_us(uint64_t us)
{
	uint64_t time[2] = { us / 1000000, us % 1000000 * 1000 };

	spi_sys(SYS_nanosleep, time, NULL);
}

void *spi_map_pages(size_t size)
{
	long p = spi_sys(SYS_mmap, 0L, (size + 4095) & ~(size_t) 4095, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1L,
		0L);

	return p < 0 && p > -4096 ? NULL : (void *) p;
}

/* Decimal, or hexadecimal after 0x. */
uint64_t spi_parse_number(const char *s, const char **end)
{
	uint64_t value = 0;
	unsigned int base = 10;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
	}
	for (;; s++) {
		unsigned int digit;

		if (*s >= '0' && *s <= '9')
			digit = (unsigned int) (*s - '0');
		else if (base == 16 && (*s | 32) >= 'a' && (*s | 32) <= 'f')
			digit = (unsigned int) ((*s | 32) - 'a') + 10;
		else
			break;
		value = value * base + digit;
	}
	if (end)
		*end = s;
	return value;
}

long spi_fd_table_size(void)
{
	char text[1024], path[SPI_PROC_PATH];
	const char *at = NULL;

	if (spi_proc_text(spi_proc_path(path, "status"), text, sizeof(text)) == 0)
		at = strstr(text, "FDSize:");
	return at ? (long) spi_parse_number(at + 7 + strspn(at + 7, "\t "), NULL) : 0;
}

/*
 * Programs number their own descriptors from 3 on and some print them; ours go
 * to the upper part of what the limit allows. Where that means a larger table,
 * the kernel makes a process with threads wait 10 ms and more (an RCU grace
 * period): our own thread, which is never alone, stays inside the one there is.
 */
int spi_fd_high(int fd)
{
	struct rlimit limit;
	long high;

	if (fd < 0)
		return fd;
	if (spi_sys(SYS_prlimit64, 0L, RLIMIT_NOFILE, NULL, &limit) < 0)
		limit.rlim_cur = 256;
	high = limit.rlim_cur >= 1024 ? 900 : (long) limit.rlim_cur / 2;
	if (spi_sys(SYS_gettid) != spi_sys(SYS_getpid)) {
		long size = spi_fd_table_size();

		if (size >= 64 && high >= size)
			high = size - 24;
	}
	high = spi_sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, high);
	if (high < 0)
		return fd;
	spi_sys(SYS_close, fd);
	return (int) high;
}

#define SIGCHLD_BIT	(UINT64_C(1) << (SIGCHLD - 1))

/*
 * Around a child of our own: every signal waits, and the child's SIGCHLD, if none
 * was pending before, is taken when they are let in again. *old keeps the mask,
 * and in SIGKILL's bit, which no mask has, whether one was pending.
 */
void spi_child_signals_block(uint64_t *old)
{
	uint64_t all = ~UINT64_C(0), pending = 0;

	spi_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, old, 8L);
	spi_sys(SYS_rt_sigpending, &pending, 8L);
	*old &= ~(UINT64_C(1) << (SIGKILL - 1));
	if (pending & SIGCHLD_BIT)
		*old |= UINT64_C(1) << (SIGKILL - 1);
}

void spi_child_signals_restore(const uint64_t *old)
{
	uint64_t child = SIGCHLD_BIT;
	struct timespec none = { 0, 0 };

	if (!(*old & UINT64_C(1) << (SIGKILL - 1)))
		spi_sys(SYS_rt_sigtimedwait, &child, NULL, &none, 8L);
	spi_sys(SYS_rt_sigprocmask, SIG_SETMASK, old, NULL, 8L);
}

uint64_t spi_process_start_time(void)
{
	char text[1024];
	const char *p = spi_proc_text("/proc/self/stat", text, sizeof(text)) == 0 ? strrchr(text, ')') : NULL;

	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? spi_parse_number(p + 1, NULL) : 0;
}
