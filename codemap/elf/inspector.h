/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What a sandboxed child tells of a file before the debug files of that file can be opened. */
#ifndef CODEMAP_ELF_INSPECTOR_H
#define CODEMAP_ELF_INSPECTOR_H

#include <stdint.h>

struct look {
	char why[160];			/* not "": it cannot be used */
	uint32_t build_id_size, alt_id_size, link_crc, has_debug_info;
	uint8_t build_id[32], alt_id[32];
	char link[256];			/* file name in .gnu_debuglink, no path; "": none */
	char alt[1024];			/* path in .gnu_debugaltlink */
};

/* look_at() - look at what `fd` is open on, `size` bytes. `main_object`: it is to be a program or a library. Ends the process when the one that looks has died. */
void look_at(int fd, uint64_t size, int main_object, struct look *look);

/* look_end() - the process that looks ends, and is reaped; another look starts another one. */
void look_end(void);

#endif /* CODEMAP_ELF_INSPECTOR_H */
