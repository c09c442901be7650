/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The rows of all rooms, and what their replacements go on to.
 *
 * A preloaded agent asks for the next definition in the order of symbols at once, before main(): later that
 * may not mean anything. An injected agent has no place in that order, and its replacements go on to libc's
 * functions: these are found on the control side, as a thread of the program waits while the agent begins.
 */
#include <dlfcn.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/hooks/internal.h"

struct spi_hook_state spi_hook_states[SPI_HOOKS_MOST];
uint32_t spi_hooks_count;

static void *following_of(const struct spi_hook *hook)
{
	if (spi_env.preloaded && (hook->ways & SPI_HOOK_ORDER))
		return dlsym(RTLD_NEXT, hook->name);
	return spi_find_in_libc(hook->name);
}

void spi_hooks_find_next(void)
{
	static int is_done;

	for (uint32_t i = 0; !is_done && i < spi_hooks_count; i++) {
		struct spi_hook_state *s = &spi_hook_states[i];

		if (!s->hook->next)
			continue;
		s->following = following_of(s->hook);
		if (s->following)
			__atomic_store_n(s->hook->next, s->following, __ATOMIC_RELEASE);
	}
	is_done = 1;
}

int spi_hooks_replace(uint64_t address)
{
	for (uint32_t i = 0; spi_env.preloaded && i < spi_hooks_count; i++) {
		const struct spi_hook *hook = spi_hook_states[i].hook;

		if ((hook->ways & SPI_HOOK_ORDER) && !hook->with && (uint64_t) spi_find_in_libc(hook->name) == address)
			return 1;
	}
	return 0;
}

int spi_hooks_need(uint64_t address)
{
	spi_hooks_find_next();
	for (uint32_t i = 0; i < spi_hooks_count; i++) {
		const struct spi_hook *hook = spi_hook_states[i].hook;

		if ((hook->ways & SPI_HOOK_ENTRY) && (hook->set == SPI_HOOKS_PROGRAMS || hook->set == SPI_HOOKS_SIGNALS) &&
				(uint64_t) spi_hook_states[i].following == address)
			return 1;
	}
	return 0;
}

void spi_hooks_begin(const struct spi_hook *const *lists)
{
	for (; *lists; lists++)
		for (const struct spi_hook *hook = *lists; hook->name; hook++)
			if (spi_hooks_count < SPI_HOOKS_MOST)
				spi_hook_states[spi_hooks_count++].hook = hook;
			else
				spi_note("%s() is left to libc: SPI_HOOKS_MOST is too small", hook->name);
	if (!spi_env.preloaded)
		return;
	spi_hooks_find_next();
	dlerror();	/* what libc has not is no error of the program's */
}

void spi_hook_note_lost(const struct spi_hook *hook, const char *object, const char *reason)
{
	if (hook->lost)
		spi_note("%s's %s() cannot be watched, so %s: %s", object, hook->name, hook->lost, reason);
}
