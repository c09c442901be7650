/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What signals.c and masks.c share: how they reach the next definition of a
 * function that they stand before, and sets of signals as the kernel has them.
 */
#ifndef SPI_INTERPOSE_H
#define SPI_INTERPOSE_H

#include <dlfcn.h>
#include <signal.h>
#include "liblttng-spi/patch-internal.h"

/*
 * A file lists its functions in EACH_NEXT(X), X(type, name, arguments). NEXT(name)
 * is the next definition, found beforehand by spi_signals_init(). A call that
 * comes before that, or into a library that was loaded later, where RTLD_NEXT may
 * not mean anything, goes straight to libc.
 */
#define NEXT_DECLARE(type, name, arguments) static type (*next_##name) arguments;
#define NEXT_FIND(type, name, arguments) *(void **) &next_##name = dlsym(RTLD_NEXT, #name);
#define NEXT(name) ({ \
	if (spi_unlikely(!next_##name)) \
		*(void **) &next_##name = spi_find_in_libc(#name); \
	next_##name; \
})
void *spi_find_in_libc(const char *name) SPI_HIDDEN;	/* symbols.c */
void *spi_find_in_libc_resolved(const char *name) SPI_HIDDEN;	/* of functions of which libc has several, too */
void spi_masks_init(void) SPI_HIDDEN;			/* masks.c; called by spi_signals_init() */

/*
 * The agent's own definition of `name`, whatever the symbol means to others, which
 * from now on goes to `next`; NULL: it has none.
 */
#define NEXT_OWN(type, name, arguments) \
	extern __typeof__(name) own_##name __attribute__((alias(#name), visibility("hidden"), copy(name)));
#define NEXT_REPLACE(type, name, arguments) \
	if (!strcmp(wanted, #name)) { \
		*(void **) &next_##name = next; \
		return (void *) own_##name; \
	}
void *spi_signals_replace(const char *wanted, void *next) SPI_HIDDEN;	/* signals.c */
void *spi_notify_replace(const char *wanted, void *next) SPI_HIDDEN;	/* notify.c */
void spi_notify_init(void) SPI_HIDDEN;
void spi_altstack_init(void) SPI_HIDDEN;		/* altstack.c */
void spi_backtrace_init(void) SPI_HIDDEN;		/* backtrace.c; a preloaded agent's */
void *spi_masks_replace(const char *wanted, void *next) SPI_HIDDEN;	/* masks.c */

/*
 * An injected agent (watch.c): called before there is int3; 0, or -1 and *reason.
 * NULL where symbols are in the agent's favour, and in tests of the patcher alone.
 */
extern int (*spi_trap_watch)(const char **reason) SPI_HIDDEN;	/* trap.c */
void spi_trap_unwatched(void) SPI_HIDDEN;		/* the program is on its own again: no int3 is left */

SPI_INLINE uint64_t mask_of(const sigset_t *set)
{
	uint64_t mask;

	spi_bytes_copy(&mask, set, sizeof(mask));
	return mask;
}

SPI_INLINE void mask_put(sigset_t *set, uint64_t mask)
{
	spi_bytes_copy(set, &mask, sizeof(mask));
}

SPI_INLINE int is_virtual(void)
{
	return __atomic_load_n(&spi_mask_virtual, __ATOMIC_ACQUIRE);
}

/* What the program is to see of the kernel's set. */
SPI_INLINE void set_to_program(sigset_t *set)
{
	if (set && is_virtual() && (mask_of(set) & SPI_MASK_PAIR))
		mask_put(set, mask_of(set) | SPI_MASK_PAIR);
}

#endif /* SPI_INTERPOSE_H */
