/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The functions of libc and of the dynamic linker that the agent stands before: one row each.
 *
 * A room that stands before a function has a list of rows, `const struct spi_hook NAME[]`, whose last row has
 * no name. control/init.c names all lists. A further function is a row and its replacement, and, where a preloaded
 * agent comes before it, a line in liblttng-spi.sym.
 *
 * A program reaches a replacement in these ways:
 *
 *	SPI_HOOK_ORDER		a preloaded agent exports the name, and the dynamic linker finds the agent before libc
 *	SPI_HOOK_POINTERS	an injected agent sets the pointers (GOT) of all other objects: got.c
 *	SPI_HOOK_ENTRY		a jump at the function's entry, for as long as its set is wanted: entries.c. Calls from
 *				within libc come by it, too
 *	SPI_HOOK_LINKER		the same in the dynamic linker's empty function for debuggers: linker.c
 *	SPI_HOOK_TRACER		lttng-ust's pointers, and those of its libraries, and no others: got.c
 *
 * The next function. A replacement goes on by the row's `next` pointer alone, in C by SPI_NEXT(). That leads
 * to the moved beginning of libc's function while a jump to the replacement stands at its entry; else to the
 * next definition in the order of symbols, or, where no order leads to the agent, to libc's. All are valid
 * for ever: a thread may hold an old one.
 *
 * Threads. A replacement runs in any thread of the program, in any state, in signal handlers and vforked
 * children too.
 */
#ifndef SPI_BASE_HOOK_H
#define SPI_BASE_HOOK_H

#include <stdint.h>
#include "liblttng-spi/base/point.h"

enum {
	SPI_HOOK_ORDER = 1,
	SPI_HOOK_POINTERS = 2,
	SPI_HOOK_ENTRY = 4,
	SPI_HOOK_LINKER = 8,
	SPI_HOOK_TRACER = 16,
};

/* What is particular about a row. */
enum {
	SPI_HOOK_VITAL = 1,		/* its set stands with this one, or not at all */
	SPI_HOOK_NO_TRAP = 2,		/* it is called too often for int3 at its entry */
	SPI_HOOK_SHARED = 4,		/* pointers are left where another library than libc has the function, too */
	SPI_HOOK_IN_RUNTIME = 8,	/* the entry is that of a sanitizer's runtime, which stands before libc's */
};

/* Entries that are taken together, for as long as they are needed. */
enum spi_hook_set {
	SPI_HOOKS_NONE,
	SPI_HOOKS_SIGNALS,	/* int3, or a handler of SIGTRAP that the agent shares, in an injected program */
	SPI_HOOKS_PROGRAMS,	/* executed programs are followed */
	SPI_HOOKS_TREES,	/* a call tree follows threads or libraries */
	SPI_HOOKS_LOADS,	/* libraries are seen when they are loaded */
	SPI_HOOKS_IPC,		/* a call tree follows messages to other processes */
	SPI_HOOKS_IPC_FILES,	/* likewise, and a payload's worker knows channels that are no pipes and sockets */
	SPI_HOOKS_OBSERVER,	/* a payload's observer is told of the process's end */
	SPI_HOOK_SETS,
};

struct spi_hook {
	const char *name;	/* NULL: the list ends */
	void *with;		/* the replacement; NULL: of the tracer's pointers libc's own, of entries none */
	void **next;		/* what the replacement goes on to; NULL: nothing, or what another row's does */
	spi_entry_fn before;	/* at the entry: called before the function, which is not replaced there */
	int (*fits)(void);	/* pointers: 0, they are left for now. NULL: they never are */
	const char *lost;	/* where there can be no jump at the entry, for a note to the user; NULL: no note */
	uint8_t ways, flags, set;	/* SPI_HOOK_*; SPI_HOOK_*; enum spi_hook_set */
};

/*
 * Of a function NAME that a header of libc's declares, before the agent's own definition: next_NAME, and
 * own_NAME, which is that definition whatever the symbol means to others.
 */
#define SPI_HOOK_DECLARE(name) \
	static __typeof__(&name) next_##name; \
	extern __typeof__(name) own_##name __attribute__((alias(#name), visibility("hidden"), copy(name)));

#define SPI_HOOK_ROW(name)	#name, (void *) own_##name, (void **) &next_##name

#endif /* SPI_BASE_HOOK_H */
