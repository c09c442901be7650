/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What can be read of another process without stopping it: files of /proc, its memory map and
 * memory, the dynamic symbols of what it has loaded, and the names that people know it by.
 *
 * Any thread may call these functions. Nothing that is read is believed: the process owns its
 * memory and its names. Files of /proc that show a process's memory may make the reader wait for
 * that process; timed-reader.h has those with a deadline.
 */
#ifndef SPI_INJECTOR_PROCFS_H
#define SPI_INJECTOR_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- proc.c: files of /proc ---- */

/* A whole /proc file, NUL-terminated, from malloc(); NULL with errno. `name` is relative to /proc. */
char *spi_proc_read(size_t *size, const char *name, ...) __attribute__((format(printf, 2, 3)));

/* The value of "Key:" in a /proc status text, as a string at its first character that is no blank; NULL: absent. */
const char *spi_status_value(const char *status, const char *key);

/* The four numbers of the Uid or Gid line: real, effective, saved, file system. False, and nothing set, when there are fewer. */
bool spi_status_ids(const char *status, const char *key, unsigned int ids[4]);

/* The last number of the NSpid line: the id in the innermost namespace; `otherwise` when the kernel shows none. */
pid_t spi_status_inner_pid(const char *status, pid_t otherwise);

/* Field `number` (from 3, the state) of a stat text; the command name may contain anything. NULL when short. */
const char *spi_stat_field(const char *stat, unsigned int number);

bool spi_thread_has_ended(pid_t pid, pid_t tid);

/*
 * A thread by whose id /proc, and what reads memory, show the process: its first one, or one of the others when that
 * has ended and they go on. `pid` also when there is none.
 */
pid_t spi_living_thread(pid_t pid);

/* The start time of a process or thread, 0 when it is gone. */
uint64_t spi_process_start_time(pid_t pid);

/* ---- maps.c: mappings, and the memory in them; program.c: which of them is the program, and its names ---- */

struct spi_mapping {
	uint64_t start, end, offset;
	uint64_t inode;
	dev_t device;
	bool read, write, exec;
	bool span_known;	/* procfs/image.c has asked the target: */
	uint64_t span;		/* bytes that the object takes which begins here; 0: none does */
	const char *path;	/* "" when anonymous; as the kernel shows it, "(deleted)" included, but for newlines */
};

struct spi_maps {
	struct spi_mapping *all;
	size_t count;
	char *text;		/* what the paths point into */
};

int spi_maps_read(struct spi_maps *maps, pid_t pid);
void spi_maps_free(struct spi_maps *maps);
const struct spi_mapping *spi_maps_find(const struct spi_maps *maps, uint64_t address);
/* First mapping whose file name (without directories, "(deleted)" and "/memfd:") starts with `prefix`. */
const struct spi_mapping *spi_maps_find_file(const struct spi_maps *maps, const char *prefix);
/*
 * The first mapping of the program: of the file that was executed, or in `ld.so PROGRAM`, where that is the dynamic linker,
 * of what the linker has loaded first. NULL when that is not to be seen.
 */
const struct spi_mapping *spi_maps_find_program(const struct spi_maps *maps, pid_t pid);
/* Is a file of this name the dynamic linker? */
bool spi_name_is_linker(const char *name);
/* Where PROGRAM stands among the words of `ld.so [OPTION]... PROGRAM`. 0: no program is to be run. */
int spi_linker_program(char *const *argv);
/*
 * The names beside its file's that people, and ps, know a process by. "": there is none, or it cannot be read. To read
 * may take as long as the process makes that take, as some of it lies in the process's memory: only where names are looked for.
 */
struct spi_names {
	char comm[16];		/* its first thread's: the kernel begins with what was executed, a link or a script, cut to 15 bytes */
	char run_as[64];	/* file name of what was executed; in `ld.so PROGRAM` PROGRAM's */
	char title[256];	/* its first argument, as the process has written it by now; in `ld.so PROGRAM` PROGRAM */
};
void spi_names_comm(struct spi_names *names, pid_t pid);	/* that alone: the others are of its memory, and may have to wait for it */
/* `file`: the name of its executable's file. */
void spi_names_read(struct spi_names *names, pid_t pid, const char *file);
bool spi_names_match(const struct spi_names *names, const char *pattern);
/* Which processes, but for our own, are known by that name, their executable's among them? How many in *pids, from malloc(). */
int spi_names_find(const char *pattern, pid_t **pids);
/* The file name in a path, without the "(deleted)" that the kernel appends; cut to size. */
void spi_file_name(char *to, size_t size, const char *path);
/* The file name of the executable; "": it has ended, is a kernel thread, or may not be looked at. */
void spi_executable_name(char *to, size_t size, pid_t pid);
/* The file name of a mapping in that sense: pointer into its path. */
const char *spi_mapping_name(const struct spi_mapping *mapping);
/* From the first mapping of an object on: where its last segment ends, as its program headers say. */
uint64_t spi_maps_object_end(pid_t pid, const struct spi_mapping *first);
/* Is this the first mapping of a loaded ELF object? */
bool spi_mapping_is_object(pid_t pid, const struct spi_mapping *mapping);
/* Open the mapped file, read-only, whatever root the target lives in: a descriptor or a negative errno. */
int spi_mapping_open(pid_t pid, const struct spi_mapping *mapping);
/* The same by a thread of the process that has not ended: makes nothing but system calls. */
int spi_mapping_open_of(pid_t living, const struct spi_mapping *mapping);
/* One line of /proc/PID/maps, which is cut up: the path is in it. 0 or -EINVAL. */
int spi_mapping_parse(struct spi_mapping *mapping, char *line);

/* Read the process's memory: 0 or a negative errno. All or nothing. */
int spi_memory_read(pid_t pid, uint64_t address, void *buffer, size_t size);

/* ---- image.c: dynamic symbols ---- */

/*
 * The part of a loaded object that holds its dynamic symbols, copied out of the
 * target's memory: that works for deleted files, memfds and other roots alike,
 * and what is mapped is what will be called.
 */
struct spi_image {
	uint64_t base;		/* load bias */
	uint64_t low, high;	/* addresses it covers */
	uint8_t *copy;		/* of [low, low + copy_size) */
	size_t copy_size;
	const void *symbols;	/* Elf64_Sym[] */
	size_t symbol_count;
	const char *strings;
	size_t strings_size;
	uint64_t gnu_hash;	/* the table that finds symbols by name; 0: there is none */
	uint64_t entry;		/* where it begins, when it is a program or the loader */
};

/* `code`: copy the object's code, too, not only the tables in front of it. */
int spi_image_read(struct spi_image *image, pid_t pid, const struct spi_maps *maps, const struct spi_mapping *first,
		   bool code);
void spi_image_free(struct spi_image *image);
/* The address of an exported function or variable (0: none) and, when size is not NULL, its size in bytes. */
uint64_t spi_image_symbol(const struct spi_image *image, const char *name, uint64_t *size);
/* The end of the last exported function that ends at or before `address`, and the start of the first at or after it. */
uint64_t spi_image_end_before(const struct spi_image *image, uint64_t address);
uint64_t spi_image_start_after(const struct spi_image *image, uint64_t address);

/* ---- port.c, root.c ---- */

/*
 * The processes that have a TCP or UDP port open, of any address family and any network
 * namespace that this user may see. *pids is an array from malloc(), ascending. Returns how
 * many, or a negative errno; 0 when there is none.
 */
int spi_port_processes(unsigned int port, pid_t **pids);

/* The process's root directory when it is not ours; fd -1 when it is. Asks no file system. 0 or -EIO. */
struct spi_root {
	int fd;
	uint64_t name_space, device, inode;
};
int spi_root_open(struct spi_root *root, pid_t pid);

#endif /* SPI_INJECTOR_PROCFS_H */
