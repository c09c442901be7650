/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* How the target gets at the library: by a path that it can open, or by a copy in memory. Internal to the injector. */
#ifndef SPI_INJECTOR_INJECT_CARRY_H
#define SPI_INJECTOR_INJECT_CARRY_H

#include <sys/stat.h>

#include "injector/inject/target.h"

struct spi_carry {
	char path[1024];	/* what dlopen() gets; for a copy, made by spi_carry_memfd_path() */
	bool in_memory;		/* the target cannot open the file: hand it a memfd */
	uint8_t *copy;		/* the file, when in_memory */
	size_t copy_size;
	char name[64];		/* of the memfd */
	dev_t device;		/* of the file here; 0 when there is none */
	ino_t inode;
};

/* 0 or a negative errno with target->result->text set. spi_carry_free() in both cases. */
int spi_carry_plan(struct spi_carry *carry, const struct spi_target *target, const char *library);
void spi_carry_free(struct spi_carry *carry);

/* Leave out of the copy what is never mapped: debug information, section headers. */
void spi_carry_trim(struct spi_carry *carry);

/* The path of descriptor `fd` in the target, spelt as it never was before: ld.so knows libraries by name. */
void spi_carry_memfd_path(struct spi_carry *carry, pid_t pid, int fd);

/* Write the copy into the target's descriptor `fd`. 0 or a negative errno. */
int spi_carry_fill(const struct spi_carry *carry, pid_t pid, int fd);

/*
 * Before the caller becomes a user who perhaps may not read the library: from then on, in this process, that path means the file that it means now.
 */
void spi_carry_keep_open(const char *library);
int spi_carry_library_open(const char *library);			/* as open() and stat() */
int spi_carry_library_stat(const char *library, struct stat *st);
/* The link-time address of a function that an ELF file here exports; 0: none. `name` is a constant. */
uint64_t spi_file_symbol(const char *path, const char *name);

#endif /* SPI_INJECTOR_INJECT_CARRY_H */
