/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Sessions that want one run's processes only.
 *
 * `lttng trace` records what its own agents instrument, its children's children
 * included, and two of them at once use the same event names. LTTng could tell them
 * apart by process, but it would have to know a child before that begins, or by a
 * filter, which costs each event 30 ns. So such a session enables two events that never
 * happen, `spi_run:any` and one of its run's own, `spi_run:rNUMBER`; that is how it is
 * known here: by the objects that lttng-ust has made for the session in this process.
 * A recorder is passed by when its session has the first, and not the one of the run
 * that this process belongs to. (A session that has `spi_run:none`, too, enabled
 * everything there is: it is nobody's.) What lttng-ust records of a process itself, its state dump and its libraries,
 * such a session filters by the context `$app.spi:run` (describe/context.c).
 *
 * On the path of a call: one load while there is no such session, two while the only one
 * is this process's own.
 */
#include "tp/ust/ust.h"

#define PROVIDER "spi_run"

static struct tp_own any, none;
static struct tp_own *own;	/* NULL: this process belongs to no run */
static uint32_t own_run;
struct tp_run tp_run = { .any = &any.tracepoint };

int tp_runs_register(void)
{
	return tp_own_register(&any, PROVIDER, "any", NULL, 0) || tp_own_register(&none, PROVIDER, "none", NULL, 0);
}

int tp_runs_set(uint32_t run)
{
	struct tp_own *marker = NULL;
	char text[8], *name;

	if (run == own_run)
		return 0;
	spi_format(text, sizeof(text), "%x", (run & 0xffffff) | 0x1000000);	/* "rNUMBER", six hex digits */
	text[0] = 'r';
	if (run && (marker = tp_alloc(sizeof(*marker))) && (!(name = tp_strndup(text, 7)) ||
			tp_own_register(marker, PROVIDER, name, NULL, 0) < 0))
		marker = NULL;
	own_run = marker ? run : 0;
	__atomic_store_n(&own, marker, __ATOMIC_RELEASE);
	__atomic_store_n(&tp_run.session, NULL, __ATOMIC_RELAXED);
	return 1;
}

/* lttng-ust makes the child's sessions anew, at whatever addresses. */
void tp_runs_fork_child(void)
{
	__atomic_store_n(&tp_run.session, NULL, __ATOMIC_RELAXED);
}

/* Inside a read-side section. */
static int has(const struct tp_own *m, const struct lttng_ust_session *session)
{
	struct lttng_ust_tracepoint_probe *probe = m ? lttng_ust_rcu_dereference(m->tracepoint.probes) : NULL;

	for (; probe && probe->func; probe++) {
		const struct lttng_ust_channel_buffer *channel = tp_channel_of(probe);

		if (channel && channel->parent->session == session)
			return 1;
	}
	return 0;
}

const char *tp_runs_name(void)
{
	const struct tp_own *m = __atomic_load_n(&own, __ATOMIC_ACQUIRE);

	return m ? m->desc.event_name : "";
}

int tp_run_is_own(const struct lttng_ust_session *session)
{
	return has(__atomic_load_n(&own, __ATOMIC_ACQUIRE), session);
}

int tp_run_is_foreign(const struct lttng_ust_session *session)
{
	if (tp_run_is_own(session)) {
		__atomic_store_n(&tp_run.session, session, __ATOMIC_RELAXED);
		return 0;
	}
	return has(&any, session) && !has(&none, session);
}
