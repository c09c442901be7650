/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The names of events and of fields: which are in use in this process, and which are one to a reader. */
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "tp/ust/ust.h"

struct used_name {
	struct spi_hash_link link;
	const char *provider, *event;
};
static struct spi_hash_link *buckets[4096];		/* LTTng carries about 20 000 events */
static struct spi_hash names = SPI_HASH_OVER(buckets);	/* agent thread only */

static uint64_t name_hash(const char *provider, const char *event)
{
	return spi_hash_text(spi_hash_text(spi_hash_text(SPI_HASH_SEED, provider), ":"), event);
}

int tp_event_name_is_used(const char *provider, const char *event)
{
	const struct used_name *n = spi_hash_find(&names, name_hash(provider, event));

	while (n && (strcmp(n->event, event) || strcmp(n->provider, provider)))
		n = spi_hash_again(&n->link);
	return n != NULL;
}

int tp_event_name_use(const char *provider, const char *event)
{
	struct used_name *n = tp_event_name_is_used(provider, event) ? NULL : tp_alloc(sizeof(*n));

	if (!n)
		return -1;
	n->provider = provider;
	n->event = event;
	spi_hash_add(&names, &n->link, name_hash(provider, event));
	return 0;
}

int tp_names_clash(const char *a, const char *b)
{
	return !strcmp(a, b) || (*a == '_' && !strcmp(a + 1, b)) || (*b == '_' && !strcmp(a, b + 1));
}
