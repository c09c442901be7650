/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The executable and the libraries whose functions a FUNC may name: of a program
 * that is about to start, from its dynamic loader; of a process, from its maps.
 */
#ifndef SPI_CLI_FUNCTIONS_OBJECTS_H
#define SPI_CLI_FUNCTIONS_OBJECTS_H

#include <sys/stat.h>
#include <sys/types.h>

struct program;

struct object {
	char *path;	/* as its process sees it */
	char *open;	/* as we can open it: the same, or below /proc/PID/root */
	char *name;	/* file name as the dynamic linker knows it: libz.so.1 */
	char *real;	/* file name behind symbolic links: libz.so.1.2.13 */
	struct spi_names *names;	/* the executable's other names; NULL of a library */
	char *has;	/* for each FUNC: '1' functions of this one, '-' parts of functions alone, '0' none; "" when not known (funcs_look()) */
	struct stat st;	/* of which this is known */
};

struct objects {
	struct object *list;	/* [0] is the executable */
	unsigned int count;
	int executes;	/* a program that is about to start, and that may execute others: a script, a shell, a wrapper */
	char *root;		/* prefix for debug files of another mount namespace, or NULL */
};

/*
 * objects_of_program() - ask the program's own loader (--list). Returns 0; -EINTR
 * when stop_fd became readable; or the positive exit status after one line was said
 * (a library is missing: the program could not start either).
 */
int objects_of_program(struct objects *objects, const struct program *program, int stop_fd);

/* objects_of_process() - what process `pid` has mapped executable. Returns 0 or a negative errno. */
int objects_of_process(struct objects *objects, pid_t pid);

void objects_free(struct objects *objects);

/* object_matches() - does the file name pattern of an `OBJECT:` prefix mean this object? */
int object_matches(const struct object *object, const char *pattern);

#endif /* SPI_CLI_FUNCTIONS_OBJECTS_H */
