/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng list --spi` for people: the daemon, the rules session by session, the
 * processes with their rules, counters, and what is not instrumented.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/rules/status.h"
#include "rules/event-name.h"

#define TEXT_DECLINED_SHOWN	20u
#define TEXT_HOT_SHOWN		5u

static void text_daemon(const struct status_record *r, FILE *out)
{
	int known = *r->field[2] && strcmp(r->field[2], "-");

	fprintf(out, "Session daemon %s%s%s%s, plugin %s\n", r->field[0], known ? " (lttng-tools " : "",
		known ? r->field[2] : "", known ? ")" : "",
		!strcmp(r->field[1], "attached") ? "attached while it ran" : "loaded at its start");
}

/* What the broker says of a rule; else, for a reserved name, what the name says. */
static void text_rule_reading(const struct status_record *r, char *text, size_t size)
{
	snprintf(text, size, "%s", r->field[6]);
	if (!*text && strchr(r->field[2], '(') && spi_event_name_describe(r->field[2], text, size) < 0)
		*text = '\0';
}

static void text_rule(const struct status_record *r, const struct status_record *before, FILE *out)
{
	char reading[512];

	if (!before || strcmp(before->field[0], r->field[0]) || strcmp(before->field[1], r->field[1])) {
		if (!*r->field[1] && !strncmp(r->field[0], "trigger ", 8))
			fprintf(out, "  Trigger %s:\n", r->field[0] + 8);
		else
			fprintf(out, "  Session %s, channel %s:\n", *r->field[0] ? r->field[0] : "(none)",
				*r->field[1] ? r->field[1] : "(none)");
	}
	text_rule_reading(r, reading, sizeof(reading));
	fprintf(out, "    %s [%s] of uid %s, %s%s%s%s%s%s\n", r->field[2], r->field[3], r->field[4], r->field[5],
		*r->field[7] ? ", filter '" : "", r->field[7], *r->field[7] ? "'" : "", *reading ? ": " : "", reading);
}

/* The daemon tells a channel's rules in the order of a hash table: by their names they can be read. */
static int rule_compare(const void *va, const void *vb)
{
	const struct status_record *a = *(const struct status_record *const *) va;
	const struct status_record *b = *(const struct status_record *const *) vb;
	int i, ret = 0;

	for (i = 0; i < 3 && !ret; i++)
		ret = strcmp(a->field[i], b->field[i]);
	return ret ? ret : a->order < b->order ? -1 : a->order > b->order;
}

static void text_rules(const struct status *status, FILE *out)
{
	const struct status_record **rules = calloc(status->count + 1, sizeof(*rules));
	unsigned int i, n = 0;

	for (i = 0; rules && i < status->count; i++)
		if (status_is(&status->records[i], "rule"))
			rules[n++] = &status->records[i];
	if (n)
		qsort(rules, n, sizeof(*rules), rule_compare);
	fputs(n ? "\nRules:\n" : "\nRules: none\n", out);
	for (i = 0; i < n; i++)
		text_rule(rules[i], i ? rules[i - 1] : NULL, out);
	free(rules);
}

static void text_counts(const struct status_record *r, int has_ended, FILE *out)
{
	unsigned long long value[7];
	unsigned int i;

	for (i = 0; i < 7; i++)
		value[i] = strtoull(r->field[i + 1], NULL, 10);
	fprintf(out, "    Functions instrumented: %llu; not instrumented: %llu\n", value[5], value[6]);
	fprintf(out, "    Events recorded: %llu (%llu entries, %llu exits); calls lost: %llu; exits lost: %llu",
		value[0] + value[1], value[0], value[1], value[2], value[3]);
	if (value[4] && !has_ended)
		fprintf(out, "; exits still to be written: %llu", value[4]);
	fputc('\n', out);
}

#define WAITS "; the rule waits for a library that has one"

static void text_applied(const struct status_record *r, FILE *out)
{
	if (!strcmp(r->field[2], "failed") && !strncmp(r->field[6], "no loaded function matches", 26)) {
		fprintf(out, "    Rule %s: no function of this process matches%s\n", r->field[1], strstr(r->field[6], WAITS) ? WAITS : "");
		return;
	}
	fprintf(out, "    Rule %s: %s; %s function%s matched, %s instrumented, %s not%s%s\n", r->field[1], r->field[2],
		r->field[3], strcmp(r->field[3], "1") ? "s" : "", r->field[4], r->field[5], *r->field[6] ? ": " : "",
		r->field[6]);
}

static void text_budget(const struct status_record *r, FILE *out)
{
	double own = strtod(r->field[2], NULL), spent = strtod(r->field[3], NULL);

	fprintf(out, "    Budget %g %%: tracing took about %.1f %% of the program's own time\n",
		strtod(r->field[1], NULL) / 10, own > 0 ? 100 * spent / own : 0.0);
}

static void text_left_out(const struct status_record *r, FILE *out)
{
	fprintf(out, "    %s: %s:%s, recorded %s times before, %.1f %% of the cost then\n",
		strcmp(r->field[1], "out") ? "Left out for a while, and recorded again" : "Left out for the budget",
		r->field[4], r->field[5], r->field[2], strtod(r->field[3], NULL) / 10);
}

/* Does a record of ended processes concern that one? 0: any. */
int status_is_lacked(const struct status_record *r, pid_t pid)
{
	return status_is(r, "lacked") && (!pid || pid == (pid_t) strtol(r->field[3], NULL, 10));
}

void status_describe_lacked(const struct status_record *r, char *text, size_t size)
{
	unsigned long processes = strtoul(r->field[2], NULL, 10), things = strtoul(r->field[6], NULL, 10);
	int is_process = !strcmp(r->field[4], "process");
	char who[160], more[40] = "";

	if (processes == 1)
		snprintf(who, sizeof(who), "process %s", r->field[3]);
	else
		snprintf(who, sizeof(who), "%lu processes, the last of them %s", processes, r->field[3]);
	if (things > 1)
		snprintf(more, sizeof(more), " and %lu more", things - 1);
	if (is_process)
		snprintf(text, size, "%s (uid %s), %s: %s", r->field[1], r->field[0], who, r->field[7]);
	else
		snprintf(text, size, "%s (uid %s), %s: %s %s%s: %s", r->field[1], r->field[0], who, r->field[4], r->field[5], more,
			r->field[7]);
}

static void text_all_lacked(const struct status *status, pid_t pid, FILE *out)
{
	unsigned int i, shown = 0;
	char text[1024];

	for (i = 0; i < status->count; i++) {
		if (!status_is_lacked(&status->records[i], pid))
			continue;
		if (!shown++ && !pid)
			fputs("\nNot instrumented in processes that have ended:\n", out);
		status_describe_lacked(&status->records[i], text, sizeof(text));
		fprintf(out, "  %s\n", text);
	}
}

static void text_brought(const struct status_record *r, FILE *out)
{
	if (strcmp(r->field[2], "0"))
		fprintf(out, "    Brought in by a message of %s (%s) over %s\n", r->field[2], r->field[3], r->field[1]);
	else
		fprintf(out, "    Brought in by a message of another user's process over %s\n", r->field[1]);
}

/* Channels whose other ends were asked for, and what messages did not bring in. */
static void text_messages(const struct status *status, FILE *out)
{
	unsigned int i, shown = 0;

	for (i = 0; i < status->count; i++) {
		const struct status_record *r = &status->records[i];

		if (status_is(r, "asked")) {
			fputs(shown++ ? "" : "\nMessages followed into other processes:\n", out);
			fprintf(out, "  %s (uid %s): %s channel%s asked for; to nobody that can be known: %s; not all ready in time: %s\n",
				r->field[1], r->field[0], r->field[2], strcmp(r->field[2], "1") ? "s" : "", r->field[3], r->field[4]);
		} else if (status_is(r, "unfollowed")) {
			fprintf(out, "  Not brought in over %s (uid %s, %s time%s)%s", r->field[1], r->field[0], r->field[2],
				strcmp(r->field[2], "1") ? "s" : "", *r->field[4] ? ": " : "");
			fprintf(out, "%s%s%s: %s\n", strcmp(r->field[3], "0") ? r->field[3] : "", strcmp(r->field[3], "0") ? " " : "",
				r->field[4], r->field[5]);
		}
	}
}

/* Records of one process; returns how many there are. */
static unsigned int text_process(const struct status_record *first, unsigned int left, int all, FILE *out)
{
	unsigned int n, i, declined = 0, hot = 0, left_out = 0;
	int has_ended = 0;

	for (n = 0; n < left && first[n].pid == first->pid; n++)
		;
	for (i = 0; i < n; i++)
		has_ended |= status_is(&first[i], "process") && !strcmp(first[i].field[2], "ended");
	for (i = 0; i < n; i++)
		if (status_is(&first[i], "process"))
			fprintf(out, "  %d %s (uid %s): %s%s%s\n", (int) first->pid, first[i].field[3],
				first[i].field[1], first[i].field[2], *first[i].field[4] ? ": " : "", first[i].field[4]);
	for (i = 0; i < n; i++)
		if (status_is(&first[i], "brought"))
			text_brought(&first[i], out);
	for (i = 0; i < n; i++)
		if (status_is(&first[i], "applied"))
			text_applied(&first[i], out);
	for (i = 0; i < n; i++)
		if (status_is(&first[i], "counts"))
			text_counts(&first[i], has_ended, out);
	for (i = 0; i < n; i++)
		if (status_is(&first[i], "declined") && (++declined <= TEXT_DECLINED_SHOWN || all))
			fprintf(out, "    Not instrumented: %s:%s: %s\n", first[i].field[1], first[i].field[2],
				first[i].field[3]);
	if (declined > TEXT_DECLINED_SHOWN && !all)
		fprintf(out, "    and %u more; --verbose names all\n", declined - TEXT_DECLINED_SHOWN);
	for (i = 0; i < n; i++)
		if (status_is(&first[i], "budget"))
			text_budget(&first[i], out);
	for (i = 0; i < n; i++)
		if (status_is(&first[i], "left-out") && (++left_out <= TEXT_DECLINED_SHOWN || all))
			text_left_out(&first[i], out);
	if (left_out > TEXT_DECLINED_SHOWN && !all)
		fprintf(out, "    and %u more; --verbose names all\n", left_out - TEXT_DECLINED_SHOWN);
	for (i = 0; i < n; i++)
		if (status_is(&first[i], "hot") && (++hot <= TEXT_HOT_SHOWN || all))
			fprintf(out, "    Most calls: %s of %s:%s\n", first[i].field[1], first[i].field[2], first[i].field[3]);
	for (i = 0; i < n; i++)
		if (status_is(&first[i], "message"))
			fprintf(out, "    Note: %s\n", first[i].field[1]);
	return n;
}

static void text_processes(const struct status *status, pid_t pid, int all, FILE *out)
{
	unsigned int i = 0, shown = 0;

	while (i < status->count) {
		const struct status_record *r = &status->records[i];

		if (r->pid == 0 || (pid && r->pid != pid)) {
			i++;
			continue;
		}
		if (!shown++ && !pid)
			fputs("\nProcesses:\n", out);
		i += text_process(r, status->count - i, all, out);
	}
	if (!shown && !pid)
		fputs("\nProcesses: none\n", out);
	for (i = 0; i < status->count; i++)
		if (status_is(&status->records[i], "session") && !pid && strcmp(status->records[i].field[1], "0"))
			fprintf(out, "  Session %s: %s that it had instrumented %s ended\n", status->records[i].field[0],
				status->records[i].field[1], strcmp(status->records[i].field[1], "1") ? "have" : "has");
}

void status_print_text(const struct status *status, pid_t pid, int all, FILE *out)
{
	unsigned int i;

	for (i = 0; !pid && i < status->count; i++)
		if (status_is(&status->records[i], "daemon"))
			text_daemon(&status->records[i], out);
	for (i = 0; !pid && i < status->count; i++)
		if (status_is(&status->records[i], "note"))
			fprintf(out, "Note: %s\n", status->records[i].field[0]);
	if (!pid)
		text_rules(status, out);
	text_processes(status, pid, all, out);
	if (!pid)
		text_messages(status, out);
	text_all_lacked(status, pid, out);
}
