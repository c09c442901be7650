/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * lttng_ust_statedump:* of this process, for the session of the run that it belongs to.
 *
 * Every process that is registered with the session daemon dumps its state into each session that begins. A run's
 * session is to have that of its own processes only, so it filters these events by the context `$app.spi:run`
 * (describe/context.c), which nobody has before the event module is there: lttng-ust's own dump, which its constructor makes, is
 * filtered out. It is made up for here, once the process has learned its run. A forked child's, and one of a session that starts
 * later, lttng-ust makes, and the filter lets that pass.
 *
 * As in library.c these are more places that call lttng-ust's own probes, which look at the session and at the filter.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "tp/module/module.h"

#define PROVIDER	"lttng_ust_statedump"
#define SESSIONS_MAX	8u
/* As lttng/ust-tracepoint.h makes them of LTTNG_UST_TP_ARGS(). */
#define WHOSE		"struct lttng_ust_session *, session"

#define TRACEPOINT(name, text) { .struct_size = sizeof(struct lttng_ust_tracepoint), .provider_name = PROVIDER, .event_name = name, .signature = text }
static struct lttng_ust_tracepoint start = TRACEPOINT("start", WHOSE), end = TRACEPOINT("end", WHOSE);
static struct lttng_ust_tracepoint procname = TRACEPOINT("procname", WHOSE ", char *, name");
static struct lttng_ust_tracepoint bin_info = TRACEPOINT("bin_info", WHOSE
	", void *, baddr, const char*, path, uint64_t, memsz, uint8_t, is_pic, uint8_t, has_build_id, uint8_t, has_debug_link");
static struct lttng_ust_tracepoint build_id = TRACEPOINT("build_id", WHOSE
	", void *, baddr, uint8_t *, build_id, size_t, build_id_len");
static struct lttng_ust_tracepoint *tracepoints[] = { &start, &end, &procname, &bin_info, &build_id };

void tp_state_dump_init(void)
{
	lttng_ust_tracepoint_module_register(tracepoints, 5);
}

typedef void (*session_probe)(void *data, struct lttng_ust_session *session);
typedef void (*procname_probe)(void *data, struct lttng_ust_session *session, const char *name);
typedef void (*bin_info_probe)(void *data, struct lttng_ust_session *session, void *baddr, const char *path, uint64_t memsz,
	uint8_t is_pic, uint8_t has_build_id, uint8_t has_debug_link);
typedef void (*build_id_probe)(void *data, struct lttng_ust_session *session, void *baddr, const uint8_t *id, size_t size);

/* The sessions of this process's run that record some of it. Inside a read-side section. */
static uint32_t sessions_find(struct lttng_ust_session **sessions)
{
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(tracepoints) / sizeof(tracepoints[0]); i++) {
		struct lttng_ust_tracepoint_probe *probe = lttng_ust_rcu_dereference(tracepoints[i]->probes);

		for (; probe && probe->func; probe++) {
			const struct lttng_ust_event_common *event = probe->data;
			struct lttng_ust_session *session;
			uint32_t k = 0;

			if (probe->func == (void (*)(void)) tp_rules_dump || event->type != LTTNG_UST_EVENT_TYPE_RECORDER)
				continue;
			session = ((struct lttng_ust_event_recorder *) event->child)->chan->parent->session;
			while (k < n && sessions[k] != session)
				k++;
			if (k == n && n < SESSIONS_MAX && tp_run_is_own(session))
				sessions[n++] = session;
		}
	}
	return n;
}

static void object_dump(struct lttng_ust_session *session, const struct spi_object *o, const char *path)
{
	void *baddr = (void *) o->low;

	TP_PROBES_CALL(&bin_info, bin_info_probe, session, baddr, path, o->high - o->low, o->bias != 0, o->build_id_size != 0, 0);
	if (o->build_id_size)
		TP_PROBES_CALL(&build_id, build_id_probe, session, baddr, o->build_id, o->build_id_size);
}

/* spi_payload_ops.state_dump */
void tp_state_dump(const struct spi_object *objects, const char *(*path)(const struct spi_object *object), const char *name)
{
	struct lttng_ust_session *sessions[SESSIONS_MAX];
	struct spi_thread *t = &spi_thread;
	int *error, error_was;
	tp_reader *reader;
	uint32_t n;

	if (tp_closed > TP_CAREFUL)
		return;
	error = tp_errno(t);
	error_was = *error;
	reader = tp_read_lock(t);
	n = sessions_find(sessions);
	for (uint32_t i = 0; i < n; i++) {
		TP_PROBES_CALL(&start, session_probe, sessions[i]);
		for (const struct spi_object *o = objects; o; o = o->next) {
			const char *file = o->seen ? path(o) : NULL;

			if (file)
				object_dump(sessions[i], o, file);
		}
		if (*name)
			TP_PROBES_CALL(&procname, procname_probe, sessions[i], name);
		TP_PROBES_CALL(&end, session_probe, sessions[i]);
	}
	tp_read_unlock(reader);
	*error = error_was;
}
