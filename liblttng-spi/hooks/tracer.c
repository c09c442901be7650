/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What lttng-ust is to call of libc's own, whoever else has functions of these names: got.c says why. Rows
 * whose replacement is the agent's are with their subjects (unwind/cancel.c, objects/phdr.c).
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/hooks/hooks.h"

#define LIBC_OWN(name)	{ name, .ways = SPI_HOOK_TRACER }

const struct spi_hook spi_tracer_hooks[] = {
	LIBC_OWN("fcntl"),
	LIBC_OWN("dup"),
	LIBC_OWN("memcpy"),
	LIBC_OWN("memmove"),
	LIBC_OWN("memset"),
	LIBC_OWN("memcmp"),
	LIBC_OWN("memchr"),
	LIBC_OWN("strlen"),
	LIBC_OWN("strnlen"),
	LIBC_OWN("strcmp"),
	LIBC_OWN("strncmp"),
	LIBC_OWN("strchr"),
	LIBC_OWN("strrchr"),
	LIBC_OWN("strstr"),
	LIBC_OWN("strcpy"),
	LIBC_OWN("strncpy"),
	LIBC_OWN("strpbrk"),
	LIBC_OWN("strspn"),
	LIBC_OWN("strcspn"),
	{ NULL },
};
