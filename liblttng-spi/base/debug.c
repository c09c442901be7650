/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What parts of the agent do, for whoever asks for it by LTTNG_SPI_DEBUG: spi_debug(). */
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/internal.h"

uint32_t spi_debug_parts;
static const char *const part_names[SPI_DEBUG_PARTS] = {
	[SPI_DEBUG_AGENT] = "agent", [SPI_DEBUG_RULES] = "rules", [SPI_DEBUG_TREE] = "tree",
	[SPI_DEBUG_WORKER] = "worker", [SPI_DEBUG_PATCH] = "patch", [SPI_DEBUG_PAYLOAD] = "payload",
	[SPI_DEBUG_OBJECTS] = "objects",
	[SPI_DEBUG_PROCESS] = "process", [SPI_DEBUG_SIGNALS] = "signals",
};

static void note_copy(const char *line)
{
	spi_debug(SPI_DEBUG_AGENT, "%s", line);
}

/* The name of a file, as ever; else parts, with commas between them. A directory alone: all parts. */
void spi_debug_begin(void)
{
	const char *at = spi_env.debug ? spi_env.debug : spi_env.debug_dir ? "all" : NULL;

	if (!at || strchr(at, '/'))
		return;
	spi_env.debug = NULL;
	spi_note_copy = note_copy;
	while (*at) {
		size_t n = strcspn(at, ",");

		if ((n == 1 && *at == '1') || (n == 3 && !memcmp(at, "all", 3)))
			spi_debug_parts = (1u << SPI_DEBUG_PARTS) - 1;
		for (uint32_t i = 0; i < SPI_DEBUG_PARTS; i++)
			if (strlen(part_names[i]) == n && !memcmp(at, part_names[i], n))
				spi_debug_parts |= 1u << i;
		at += n + (at[n] != 0);
	}
}

static void parts_write(const char *line, size_t size)
{
	char path[512];
	long fd;

	if (!spi_env.debug_dir) {
		spi_sys(SYS_write, 2L, line, size);
		return;
	}
	spi_format(path, sizeof(path), "%s/lttng-spi.%d.log", spi_env.debug_dir, (int) spi_sys(SYS_getpid));
	fd = spi_sys(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600L);
	if (fd < 0)
		return;
	spi_sys(SYS_write, fd, line, size);
	spi_sys(SYS_close, fd);
}

void spi_debug_line(enum spi_debug_part part, const char *format, ...)
{
	char line[640];
	va_list args;
	int n = 0;

	if (!spi_may(SPI_MAY_ACT))
		return;
	if (spi_env.debug_times) {
		const uint64_t us = spi_now_ns() / 1000, rest = us % 1000000;

		n = spi_format(line, sizeof(line), "[%lu.", us / 1000000);
		for (uint64_t digit = 100000; digit; digit /= 10)
			line[n++] = (char) ('0' + rest / digit % 10);
		line[n++] = ']';
		line[n++] = ' ';
	}
	n += spi_format(line + n, sizeof(line) - (size_t) n, "%s %d: ", part_names[part], (int) spi_sys(SYS_gettid));
	va_start(args, format);
	spi_vformat(line + n, sizeof(line) - 1 - (size_t) n, format, args);
	va_end(args);
	n = (int) strlen(line);
	line[n] = '\n';
	parts_write(line, (size_t) n + 1);
}
