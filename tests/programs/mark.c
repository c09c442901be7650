/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The library that tests inject. Its constructor allocates memory, uses vector
 * registers and sets errno, as any library may, and appends one byte to the file
 * that SPI_MARKS names.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void leave_mark(void)
{
	const char *path = getenv("SPI_MARKS");
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
	char *memory = malloc(100000);

	memset(memory, 'x', 100000);
	__asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n movdqa %%xmm0, %%xmm1\n movdqa %%xmm0, %%xmm8\n"
			 "movdqa %%xmm0, %%xmm15\n"
			 "std\n cld\n" ::: "xmm0", "xmm1", "xmm8", "xmm15");
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vzeroall" ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
				 "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
	if (fd >= 0 && write(fd, memory, 1) == 1)
		close(fd);
	free(memory);
	errno = 4711;
}
