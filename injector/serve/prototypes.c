/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A bundle of files of prototypes. The files are the controller's user's own, or were named by that user, so the
 * controller opens them; a target's user has neither the right to, nor a say in it. They are read anew for each question:
 * they are few and small, and a change is seen at once, as the hash is part of the key under which a map is kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codemap/base/hash.h"
#include "codemap/prototypes/collect.h"
#include "injector/control/internal.h"
#include "injector/serve/map-job.h"
#include "injector/serve/prototypes.h"

static void bytes_add(struct spi_prototypes *p, const void *bytes, size_t size)
{
	if (p->size + size > p->room) {
		size_t room = 2 * (p->size + size);
		char *more = realloc(p->bytes, room);

		if (!more)
			return;
		p->bytes = more;
		p->room = room;
	}
	memcpy(p->bytes + p->size, bytes, size);
	p->size += size;
}

static void file_add(void *context, const char *path)
{
	struct spi_prototypes *p = context;
	struct spi_prototypes_text text;
	struct spi_prototypes_head head = { .name_size = (uint32_t) strlen(path) + 1 };

	spi_prototypes_read(path, &text);
	head.is_unread = !text.text;
	head.text_size = (uint32_t) (text.text ? text.size : strlen(text.why) + 1);
	if (p->size + sizeof(head) + head.name_size + head.text_size <= SPI_PROTOTYPES_BUNDLE_MAX) {
		size_t before = p->size, whole = sizeof(head) + head.name_size + head.text_size;

		bytes_add(p, &head, sizeof(head));
		bytes_add(p, path, head.name_size);
		bytes_add(p, text.text ? text.text : text.why, head.text_size);
		if (p->size != before + whole)
			p->size = before;	/* no memory for it */
	}
	free(text.text);
}

void spi_prototypes_take(const struct spi_control *control, struct spi_prototypes *p)
{
	char path[PATH_MAX];

	*p = (struct spi_prototypes) { NULL, 0, 0, 0 };
	if (control->prototypes)
		for (char **file = control->prototypes; *file; file++)
			file_add(p, *file);
	else if (spi_prototypes_users_directory(path, sizeof(path)))
		spi_prototypes_directory(path, file_add, p);
	if (p->size)
		p->hash = spi_hash_bytes(0, p->bytes, p->size);
}

int spi_prototypes_bundle(const struct spi_prototypes *p)
{
	int fd = p->size ? memfd_create("spi-prototypes", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;

	if (fd >= 0 && (write(fd, p->bytes, p->size) != (ssize_t) p->size || fcntl(fd, F_ADD_SEALS, ALL_SEALS))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void spi_prototypes_drop(struct spi_prototypes *p)
{
	free(p->bytes);
	p->bytes = NULL;
}

void spi_prototypes_free(struct spi_control *control)
{
	for (char **file = control->prototypes; file && *file; file++)
		free(*file);
	free(control->prototypes);
	control->prototypes = NULL;
}

int spi_control_prototypes(struct spi_control *control, const char *const *paths, unsigned int count)
{
	spi_prototypes_free(control);
	control->prototypes = calloc(count + 1, sizeof(*control->prototypes));
	for (unsigned int i = 0; control->prototypes && i < count; i++)
		if (!(control->prototypes[i] = strdup(paths[i])))
			spi_prototypes_free(control);
	return control->prototypes ? 0 : -ENOMEM;
}
