/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * spi_rule:NUMBER - what was asked for: the rule's text, and how many functions it instruments in this process. NUMBER
 * is made of what the controller was told (spi_rule_sum()): so a session that asked for the rule can have it, and not
 * those of others (spi-sessiond-plugin/daemon/told-rules.c enables it beside the session's own event rule).
 *
 * A rule is told when it takes force, and to each session that starts later, right after lttng-ust's state dump for it:
 * lttng-ust calls the probes of its own tracepoint lttng_ust_statedump:end with the session, in its own thread and under
 * its own lock. So nothing here that is looked at there is guarded by a lock of ours: rules are added and never freed.
 */
#include <errno.h>
#include "liblttng-spi/base/base.h"
#include "tp/module/module.h"

/* Public, but its header declares it for macros' use only, with all their constructors. */
int lttng_ust_tracepoint_provider_register(const char *provider_name, const char *event_name, void (*func)(void),
	void *data, const char *signature);

#define TEXT_MOST	1024u

struct told {
	struct told *next;
	uint64_t sum;
	struct tp_own own;
	uint32_t is_on;		/* in force */
	uint32_t instrumented, declined;
	uint8_t kind;
	uint32_t text_size;	/* with NUL */
	char text[TEXT_MOST];
};

static struct told *rules;

/* In the fields' order. */
struct __attribute__((packed)) record {
	uint8_t kind;
	uint32_t instrumented, declined;
	char text[TEXT_MOST];
};

/* session NULL: each that records the rule. Inside a read-side section. */
static void told_write(const struct told *rule, const struct lttng_ust_session *session)
{
	struct tp_event event = tp_own_event(&rule->own, 0);
	struct record record = { .kind = rule->kind, .instrumented = __atomic_load_n(&rule->instrumented, __ATOMIC_RELAXED),
		.declined = __atomic_load_n(&rule->declined, __ATOMIC_RELAXED) };
	struct tp_shot shot = { .event = &event, .record = (uint8_t *) &record,
		.length = (uint32_t) (offsetof(struct record, text) + rule->text_size) };

	memcpy(record.text, rule->text, rule->text_size);
	for (struct lttng_ust_tracepoint_probe *probe = tp_probes(&event); probe && probe->func; probe++) {
		struct lttng_ust_event_recorder *recorder = tp_recorder_of(probe);

		if (recorder && (!session || recorder->chan->parent->session == session) &&
				tp_recorder_takes(&shot, probe->data, recorder->chan))
			tp_record(&event, shot.record, shot.length, recorder);
	}
}

static void rules_write(const struct told *only, const struct lttng_ust_session *session)
{
	struct spi_thread *t = &spi_thread;
	int *error = tp_errno(t), error_was = *error;
	tp_reader *reader = tp_read_lock(t);

	for (const struct told *rule = __atomic_load_n(&rules, __ATOMIC_ACQUIRE); rule; rule = rule->next)
		if ((!only || only == rule) && __atomic_load_n(&rule->is_on, __ATOMIC_RELAXED))
			told_write(rule, session);
	tp_read_unlock(reader);
	*error = error_was;
}

void tp_rules_dump(void *data, struct lttng_ust_session *session)
{
	rules_write(NULL, session);
}

void tp_rules_init(void)
{
	/* as lttng/ust-tracepoint.h makes it of LTTNG_UST_TP_ARGS() */
	if (lttng_ust_tracepoint_provider_register("lttng_ust_statedump", "end", (void (*)(void)) tp_rules_dump, NULL,
			"struct lttng_ust_session *, session"))
		tp_core->note("LTTng-UST refused to say when a session starts: sessions that start later are not told of rules");
}

static struct told *told_make(const struct spi_rule_told *from)
{
	static const struct tp_own_field fields[] = {
		{ "kind", TP_OWN_LABELS }, { "instrumented", TP_OWN_U32 }, { "declined", TP_OWN_U32 }, { "rule", TP_OWN_TEXT },
	};
	static const char *const kinds[] = { "functions", "tree" };
	static const struct lttng_ust_type_common *labels;
	struct told *rule = tp_alloc(sizeof(*rule));
	size_t size = strlen(from->text);
	char name[SPI_RULE_EVENT_SIZE], *kept;

	if (!labels)
		labels = tp_labels_type("spi_rule_kind", kinds, 2);
	spi_rule_event(from->sum, name);
	kept = tp_strndup(name + sizeof(SPI_RULE_PROVIDER), strlen(name) - sizeof(SPI_RULE_PROVIDER));
	if (!rule || !kept || !labels)
		return NULL;
	rule->sum = from->sum;
	rule->kind = (uint8_t) from->is_tree;
	rule->own.labels = labels;
	if (size >= TEXT_MOST)
		memcpy(rule->text + TEXT_MOST - 4, "...", 3);
	memcpy(rule->text, from->text, size < TEXT_MOST ? size : TEXT_MOST - 4);
	rule->text_size = (uint32_t) strlen(rule->text) + 1;
	if (tp_own_register(&rule->own, SPI_RULE_PROVIDER, kept, fields, 4) < 0)
		return NULL;
	rule->next = rules;
	__atomic_store_n(&rules, rule, __ATOMIC_RELEASE);
	return rule;
}

/* spi_payload_ops.rule_tell */
void tp_rule_tell(const struct spi_rule_told *from)
{
	struct told *rule = rules;

	while (rule && rule->sum != from->sum)
		rule = rule->next;
	if (!rule && from->is_on)
		rule = told_make(from);
	if (!rule)
		return;
	__atomic_store_n(&rule->instrumented, from->instrumented, __ATOMIC_RELAXED);
	__atomic_store_n(&rule->declined, from->declined, __ATOMIC_RELAXED);
	__atomic_store_n(&rule->is_on, from->is_on, __ATOMIC_RELAXED);
	if (from->is_on && tp_closed <= TP_CAREFUL)
		rules_write(rule, NULL);
}
