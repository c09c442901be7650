/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng list --spi` for people: the daemon, the rules session by session, the
 * processes with their rules, counters, and what is not instrumented.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/status.h"
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
	fprintf(out, "    %s [%s] of uid %s, %s%s%s\n", r->field[2], r->field[3], r->field[4], r->field[5],
		*reading ? ": " : "", reading);
}

static void text_rules(const struct status *status, FILE *out)
{
	const struct status_record *before = NULL;
	unsigned int i;

	for (i = 0; i < status->count; i++) {
		const struct status_record *r = &status->records[i];

		if (!status_is(r, "rule"))
			continue;
		if (!before)
			fputs("\nRules:\n", out);
		text_rule(r, before, out);
		before = r;
	}
	if (!before)
		fputs("\nRules: none\n", out);
}

static void text_counts(const struct status_record *r, FILE *out)
{
	unsigned long long value[7];
	unsigned int i;

	for (i = 0; i < 7; i++)
		value[i] = strtoull(r->field[i + 1], NULL, 10);
	fprintf(out, "    Functions instrumented: %llu; not instrumented: %llu\n", value[5], value[6]);
	fprintf(out, "    Events recorded: %llu (%llu entries, %llu exits); calls lost: %llu; exits lost: %llu",
		value[0] + value[1], value[0], value[1], value[2], value[3]);
	if (value[4])
		fprintf(out, "; exits still to be written: %llu", value[4]);
	fputc('\n', out);
}

static void text_applied(const struct status_record *r, FILE *out)
{
	if (!strcmp(r->field[2], "failed") && !strncmp(r->field[6], "no loaded function matches", 26)) {
		fprintf(out, "    Rule %s: no function of this process matches\n", r->field[1]);
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

/* Records of one process; returns how many there are. */
static unsigned int text_process(const struct status_record *first, unsigned int left, int all, FILE *out)
{
	unsigned int n, i, declined = 0, hot = 0, left_out = 0;

	for (n = 0; n < left && first[n].pid == first->pid; n++)
		;
	for (i = 0; i < n; i++)
		if (status_is(&first[i], "process"))
			fprintf(out, "  %d %s (uid %s): %s%s%s\n", (int) first->pid, first[i].field[3],
				first[i].field[1], first[i].field[2], *first[i].field[4] ? ": " : "", first[i].field[4]);
	for (i = 0; i < n; i++)
		if (status_is(&first[i], "applied"))
			text_applied(&first[i], out);
	for (i = 0; i < n; i++)
		if (status_is(&first[i], "counts"))
			text_counts(&first[i], out);
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
}
