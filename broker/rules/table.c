/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The table that the plugin holds registrations by: which programs a rule may concern.
 *
 * A table has a bounded number of entries. Where the rules need more, one entry means everybody.
 */
#include <string.h>

#include "broker/base/base.h"
#include "broker/rules/rules.h"

static struct spi_broker_entry table[SPI_BROKER_TABLE_MAX];	/* what was sent last */
static unsigned int table_count;

static void table_add(uid_t uid, pid_t pid, const char *exec)
{
	struct spi_broker_entry entry = { .uid = uid, .pid = pid };

	strncpy(entry.exec, exec, sizeof(entry.exec) - 1);
	for (unsigned int i = 0; i < table_count; i++)
		if (!memcmp(&table[i], &entry, sizeof(entry)))
			return;
	if (table_count == SPI_BROKER_TABLE_MAX) {
		table[0] = (struct spi_broker_entry) { .uid = -1 };
		table_count = 1;
		return;
	}
	table[table_count++] = entry;
}

/* Who may be concerned by a rule, as far as the table can tell: rather too many than too few. */
static void table_add_rule(const struct rule *rule)
{
	const struct tracker *vuid = rule->session ? &rule->session->trackers[TRACK_VUID] : NULL;
	const struct spi_event_rule *wants = &rule->wants;
	bool by_uid = !rule->owner && vuid && vuid->present && !vuid->any;
	unsigned int uids = by_uid ? vuid->n : 1, pids = wants->nr_pids ? wants->nr_pids : 1;
	unsigned int execs = wants->nr_execs ? wants->nr_execs : 1;

	for (unsigned int i = 0; i < uids * pids * execs; i++) {
		const char *exec = wants->nr_execs ? wants->execs[i / pids % execs] : "";
		uid_t uid = rule->owner ? rule->owner : by_uid ? (uid_t) vuid->ids[i / pids / execs] : (uid_t) -1;

		if (strpbrk(exec, "*?[\\"))
			exec = "";
		table_add(uid, wants->nr_pids ? wants->pids[i % pids] : 0, exec);
	}
}

int table_send(uint64_t generation)
{
	uint32_t flags = 0;

	table_count = 0;
	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next)
		if (rule->enabled && rule_instruments(rule)) {
			table_add_rule(rule);
			flags |= rule->wants.is_compact ? SPI_BROKER_TABLE_COMPACT : 0;
		}
	return plugin_table(generation, flags, table, table_count);
}

static bool entry_names(const struct spi_broker_entry *entry, const char *name)
{
	return !strncmp(entry->exec, name, sizeof(entry->exec) - 1);
}

bool table_matches(const struct facts *facts)
{
	for (unsigned int i = 0; i < table_count; i++) {
		const struct spi_broker_entry *entry = &table[i];

		if ((entry->uid == (uid_t) -1 || entry->uid == facts->uids[0]) &&
		    (!entry->pid || entry->pid == facts->pid) &&
		    (!*entry->exec || entry_names(entry, facts->exec) || entry_names(entry, facts->names.run_as) ||
		     entry_names(entry, facts->names.comm)))
			return true;
	}
	return false;
}
