/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which files of prototypes a user has, and their bytes. spi-codemap and the controllers compile this: a controller
 * hands its user's files to an spi-codemap that runs with another user's rights, as one descriptor, a bundle. Nothing
 * here looks at what is in a file.
 */
#ifndef CODEMAP_PROTOTYPES_COLLECT_H
#define CODEMAP_PROTOTYPES_COLLECT_H

#include <stddef.h>
#include <stdint.h>

#define SPI_PROTOTYPES_FILE_MAX		(1u << 20)	/* bytes */
#define SPI_PROTOTYPES_FILES_MAX	64u		/* of a directory; a further one is named as not read */

/* One file. */
struct spi_prototypes_text {
	char *text;		/* from malloc(), not NUL-terminated; NULL: it cannot be read */
	size_t size;
	const char *why;	/* then: why */
};
void spi_prototypes_read(const char *path, struct spi_prototypes_text *to);

/* Call `add` for each *.txt of the directory, by name. */
void spi_prototypes_directory(const char *path, void (*add)(void *context, const char *path), void *context);

/*
 * Where this process's user has files: $XDG_CONFIG_HOME/lttng-spi/prototypes, or the like below ~/.config. 0 when the
 * environment does not say it, or may be another user's.
 */
int spi_prototypes_users_directory(char *path, size_t size);

/* In a bundle, before each file's name and text; the next one follows without padding. */
struct spi_prototypes_head {
	uint32_t name_size;	/* with its NUL */
	uint32_t text_size;
	uint32_t is_unread;	/* the text is the reason why the file cannot be read, with its NUL */
	uint32_t reserved;
};
#define SPI_PROTOTYPES_BUNDLE_MAX	(16u << 20)	/* bytes */

#endif /* CODEMAP_PROTOTYPES_COLLECT_H */
