/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * By which way calls came (LTTNG_SPI_TEST_SHARE): at the process's end one note for
 * each way with its sites and their recorded calls, and one for each of the sites
 * that trapped most. What stops short of counting is what points count anyway.
 */
#include "liblttng-spi/tree/sites/site.h"
#include "liblttng-spi/tree/rule.h"

#define TRAPS_MOST	40u

struct trapped {
	const struct spi_site *site;
	uint64_t calls;
};

static uint64_t site_calls(const struct spi_site *s)
{
	uint64_t calls = s->point.hits;

	for (const struct spi_child *c = s->children; c; c = c->next)
		calls += c->point.hits;
	if (s->twin)
		calls += s->twin->hits;
	return calls;
}

static void trapped_add(struct trapped most[TRAPS_MOST], struct trapped this)
{
	for (uint32_t i = 0; i < TRAPS_MOST && this.calls; i++)
		if (this.calls > most[i].calls) {
			struct trapped was = most[i];

			most[i] = this;
			this = was;
		}
}

static void trapped_tell(const struct trapped *trapped)
{
	const struct spi_tree_object *to = trapped->site->owner;
	uint64_t address = trapped->site->map->vaddr + to->object->bias;
	int64_t func = spi_tree_func_around(to, address);

	spi_note("share: trap at %s 0x%lx, in %s: %lu calls", to->object->name, trapped->site->map->vaddr,
		func < 0 ? "?" : spi_tree_func_name(to, (uint64_t) func), trapped->calls);
}

void spi_site_share_tell(void)
{
	static const char *const names[SPI_SITE_WORKERS] = SPI_SITE_WORKER_NAMES;
	uint64_t calls[SPI_SITE_WORKERS] = { 0 }, sites[SPI_SITE_WORKERS] = { 0 };
	struct trapped most[TRAPS_MOST] = { { NULL, 0 } };

	if (!spi_env.test_share)
		return;
	for (const struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		for (uint32_t i = 0; !to->gone && to->is_met && i < to->map.head->sites.count; i++) {
			struct trapped this = { to->sites[i], 0 };

			if (!this.site)
				continue;
			this.calls = site_calls(this.site);
			calls[this.site->worker] += this.calls;
			sites[this.site->worker]++;
			if (this.site->worker == SPI_SITE_WORKER_TRAP)
				trapped_add(most, this);
		}
	for (uint32_t w = SPI_SITE_WORKER_CALL; w < SPI_SITE_WORKERS; w++)
		spi_note("share: %s: %lu calls of %lu sites", names[w], calls[w], sites[w]);
	for (uint32_t i = 0; i < TRAPS_MOST && most[i].calls; i++)
		trapped_tell(&most[i]);
}
