/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Functions of the plugin that stand before functions which lttng-sessiond imports. */
#ifndef SPI_SESSIOND_HOOKS_H
#define SPI_SESSIOND_HOOKS_H

#include <stdbool.h>

/* ---- got-slots.c: the main program's imports ---- */

struct got_hook {
	const char *name, *old_name;	/* as imported; old_name: before 2.13, or NULL */
	void *hook;
	void **real;			/* where to keep what the slot held */
	unsigned int slots;		/* found */
};

/* Count the slots of each hook in the main program, and fill *real. */
void got_find(struct got_hook *hooks, unsigned int nr);
/* Put the hooks in. 0 or a negative errno; what was put in already stays. */
int got_patch(const struct got_hook *hooks, unsigned int nr);

/* ---- hooks.c ---- */

extern struct got_hook plugin_hooks[];
extern const unsigned int plugin_nr_hooks;

/* Is this lttng-sessiond? After got_find(). */
bool hooks_wanted(void);

#endif /* SPI_SESSIOND_HOOKS_H */
