/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Workers of a user's own (struct spi_worker). Each is asked before the agent's own ones, in the order of their coming.
 * The site has its stub by then, which is entered by a jump and pushes the return address itself: the worker has to
 * lead a thread that reaches the call instruction there. What the worker has done is judged by the text: where the
 * program's bytes still stand, the site is not in place; where they do not stand again at the end, the agent puts them
 * back. Under the patch lock.
 */
#include <errno.h>
#include <string.h>
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/tree/sites/internal.h"

#define CUSTOMS_MAX	4u

struct spi_custom {
	struct spi_client *client;
	struct spi_worker worker;
	char failed[80];		/* why a site is not in place */
};

uint32_t spi_site_customs;
static struct spi_custom customs[CUSTOMS_MAX];
static struct spi_site *writing;	/* whose text a worker may write now; NULL: no one's */

int spi_site_custom_add(struct spi_client *client, const struct spi_worker *worker)
{
	struct spi_custom *c = &customs[spi_site_customs];

	if (spi_site_customs == CUSTOMS_MAX)
		return -ENOSPC;
	c->client = client;
	c->worker = *worker;
	spi_format(c->failed, sizeof(c->failed), "the worker %s has not changed it", worker->name ? worker->name : "");
	__atomic_store_n(&spi_site_customs, spi_site_customs + 1, __ATOMIC_RELEASE);
	return 0;
}

/* ---- the user's functions ---- */

struct asked {
	int (*function)(struct spi_site *site, void *data);
	void *data;
	struct spi_site *site;
};

static uint64_t ask(const struct asked *asked, void *unused)
{
	(void) unused;
	return asked->function(asked->site, asked->data) > 0;
}

/* 1: the function says yes. */
static int worker_runs(const struct spi_custom *c, int (*function)(struct spi_site *site, void *data),
	struct spi_site *s)
{
	struct asked asked = { function, c->worker.data, s };

	return spi_client_run_locked(c->client, (void *) ask, &asked, NULL) != 0;
}

/* ---- a site ---- */

/* A library that runs with signals blocked, or a jump into the instruction's middle: no worker can know of these. */
static int is_fit(const struct spi_site *s)
{
	return !s->not_custom && !s->map->solid && !s->owner->is_runtime && !spi_site_is_jcc(s->map);
}

int spi_site_custom(struct spi_site *s)
{
	if (!is_fit(s))
		return -1;
	for (uint32_t i = 0; i < spi_site_customs; i++) {
		const struct spi_custom *c = &customs[i];

		if (!c->worker.save || c->client->state == SPI_CLIENT_FAILED)
			continue;
		if ((!s->stub || !s->pushes) && spi_site_stub(s, 0, 1) < 0)
			return -1;
		if (!worker_runs(c, c->worker.save, s))
			continue;
		s->form = SPI_FORM_CUSTOM;
		s->custom = c;
		return 0;
	}
	return -1;
}

static int is_as_before(const struct spi_site *s)
{
	return spi_bytes_equal((const uint8_t *) spi_site_address(s), spi_site_bytes(s->map, 0), s->map->size);
}

/* In one step: what differs fits into one where the worker could write it. */
static void bytes_put_back(struct spi_site *s)
{
	const uint8_t *now = (const uint8_t *) spi_site_address(s), *was = spi_site_bytes(s->map, 0);
	uint32_t from = 0, to = s->map->size;

	while (from < to && now[from] == was[from])
		from++;
	while (to > from && now[to - 1] == was[to - 1])
		to--;
	if (from < to && spi_site_custom_write(s, spi_site_address(s) + from, was + from, to - from) < 0)
		spi_site_custom_write(s, spi_site_address(s), was, s->map->size);
}

int spi_site_custom_change(struct spi_site *s, int install)
{
	const struct spi_custom *c = s->custom;
	int (*const function)(struct spi_site *site, void *data) = install ? c->worker.run : c->worker.undo;
	int is_done;

	writing = s;
	is_done = function && worker_runs(c, function, s);
	if ((!install || !is_done) && !is_as_before(s))
		bytes_put_back(s);
	writing = NULL;
	if (!install || (is_done && !is_as_before(s)))
		return 0;
	s->not_custom = 1;
	return spi_site_decline(s, c->failed);
}

/* It is in place for the first time: others keep away from its bytes. */
int spi_site_custom_claim(struct spi_site *s)
{
	return spi_bytes_conflict(spi_site_address(s), s->map->size, s->map->size) ? 0 :
		spi_bytes_claim(&s->point, spi_site_address(s), s->map->size, s->map->size, spi_site_bytes(s->map, 0));
}

int spi_site_custom_write(struct spi_site *s, uint64_t address, const uint8_t *bytes, size_t n)
{
	const uint64_t start = spi_site_address(s);
	struct spi_text_op op = { .address = address, .size = (uint8_t) n };

	if (s != writing || !n || n > 8 || address < start || address + n > start + s->map->size)
		return -EINVAL;
	op.how = spi_site_how(address, (uint32_t) n);
	if (!op.how)
		return -ERANGE;
	spi_bytes_copy(op.from, (const uint8_t *) address, n);
	spi_bytes_copy(op.to, bytes, n);
	return spi_site_text_write(s->owner, &op, 1) < 0 || op.error ? -EIO : 0;
}

uint64_t spi_site_custom_at(uint64_t address)
{
	struct spi_tree_object *to = spi_tree_object_at(address);
	const int64_t func = to ? spi_tree_func_around(to, address) : -1;
	const struct spi_map_func *f = func < 0 ? NULL : spi_tree_map_func(to, (uint64_t) func);

	for (uint32_t i = f ? f->site_first : 0; f && i < f->site_first + f->site_count; i++)
		if (SPI_MAP_AT(&to->map, sites, struct spi_map_site, i)->vaddr + to->object->bias == address)
			return to->sites[i] && to->sites[i]->custom ? to->sites[i]->stub : 0;
	return 0;
}
