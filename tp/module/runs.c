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
#include <string.h>
#include "tp/record/fire.h"
#include "tp/describe/function.h"
#include "tp/describe/gatekeeper.h"

#define PROVIDER "spi_run"

/* One event, with all that lttng-ust wants of it; never freed. */
struct marker {
	struct lttng_ust_tracepoint tracepoint;
	struct lttng_ust_tracepoint *tracepoints[1];
	struct lttng_ust_tracepoint_class class;
	struct lttng_ust_event_desc desc;
	const struct lttng_ust_event_desc *descs[1];
	struct lttng_ust_probe_desc provider;
	char name[16];
};

static struct marker any, none;
static struct marker *own;	/* NULL: this process belongs to no run */
static uint32_t own_run;
struct tp_run tp_run = { .any = &any.tracepoint };

static int marker_register(struct marker *m, const char *name)
{
	strncpy(m->name, name, sizeof(m->name) - 1);
	m->tracepoint.struct_size = sizeof(m->tracepoint);
	m->tracepoint.provider_name = PROVIDER;
	m->tracepoint.event_name = m->name;
	m->tracepoint.signature = "spi";
	m->class.struct_size = sizeof(m->class);
	m->class.probe_callback = tp_probe_mark;
	m->class.signature = "spi";
	m->class.probe_desc = &m->provider;
	m->desc.struct_size = sizeof(m->desc);
	m->desc.event_name = m->name;
	m->desc.probe_desc = &m->provider;
	m->desc.tp_class = &m->class;
	m->descs[0] = &m->desc;
	m->provider.struct_size = sizeof(m->provider);
	m->provider.provider_name = PROVIDER;
	m->provider.event_desc = m->descs;
	m->provider.nr_events = 1;
	m->provider.major = 3;
	m->provider.minor = 0;
	m->tracepoints[0] = &m->tracepoint;
	if (tp_gate_event(PROVIDER, &m->desc) || lttng_ust_tracepoint_module_register(m->tracepoints, 1))
		return -1;
	return lttng_ust_probe_register(&m->provider) ? 0 : -1;
}

int tp_runs_register(void)
{
	return marker_register(&any, "any") < 0 || marker_register(&none, "none") < 0 ? -1 : 0;
}

/* "rNUMBER", six hex digits. */
static void run_name(char name[8], uint32_t run)
{
	name[0] = 'r';
	for (int i = 6; i > 0; i--, run >>= 4)
		name[i] = "0123456789abcdef"[run & 15];
	name[7] = '\0';
}

/* spi_payload_ops.set_run; agent thread only. */
void tp_runs_set(uint32_t run)
{
	struct marker *m = NULL;
	char name[8];

	if (run == own_run)
		return;
	if (own_run)	/* its session is gone, and a channel of another's may be where that had its own */
		tp_call_forget();
	tp_function_unheard();
	if (run && (m = tp_alloc(sizeof(*m)))) {
		run_name(name, run);
		if (marker_register(m, name) < 0)
			m = NULL;
	}
	own_run = m ? run : 0;
	__atomic_store_n(&own, m, __ATOMIC_RELEASE);
	__atomic_store_n(&tp_run.session, NULL, __ATOMIC_RELAXED);
}

/* lttng-ust makes the child's sessions anew, at whatever addresses. */
void tp_runs_fork_child(void)
{
	__atomic_store_n(&tp_run.session, NULL, __ATOMIC_RELAXED);
}

/* Inside a read-side section. */
static int has(const struct marker *m, const struct lttng_ust_session *session)
{
	struct lttng_ust_tracepoint_probe *probe = m ? lttng_ust_rcu_dereference(m->tracepoint.probes) : NULL;

	for (; probe && probe->func; probe++) {
		const struct lttng_ust_event_common *event = probe->data;
		const struct lttng_ust_event_recorder *recorder = event->child;

		if (probe->func == tp_probe_mark && event->type == LTTNG_UST_EVENT_TYPE_RECORDER &&
				recorder->chan->parent->session == session)
			return 1;
	}
	return 0;
}

const char *tp_runs_name(void)
{
	const struct marker *m = __atomic_load_n(&own, __ATOMIC_ACQUIRE);

	return m ? m->name : "";
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
