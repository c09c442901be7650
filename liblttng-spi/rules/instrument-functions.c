/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Rules for functions: `FUNCTION` and `call(FUNCTION;...)`.
 *
 * Each function that the rule names is a point (instrument-find.c); new points are
 * given their events in one batch, their stubs are written, and all jumps are
 * installed together. Whatever falls out on the way is reported with its reason.
 *
 * Points are never freed: a rule that comes again finds them bound and prepared,
 * and only the jumps are written. A point is installed while at least one enabled
 * rule uses it.
 *
 * Control side only, under the control lock.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "codemap/map/check.h"
#include "rules/rule.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/module/module.h"
#include "liblttng-spi/payload/payload.h"
#include "liblttng-spi/rules/internal.h"

#define TYPED_RULE_MAX	8000u		/* functions of one rule with events of their own */
#define TYPED_TOTAL_MAX	9000u		/* two events each; LTTng carries about 20 000 */

static uint32_t typed_total;

/* ---- from points to events and jumps --------------------------------------------------- */

/* The name by which the user knows the function: of a library call that under which others import it. */
static const char *point_name(const struct spi_point *p)
{
	return p->flags & SPI_POINT_LIBCALLS ? p->event_name : spi_map_string(p->map, p->func->name);
}

static void drop_failed(struct work *w, struct spi_point **points, const char **errors, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (errors[i])
			spi_work_decline(w, points[i]->object, point_name(points[i]), errors[i]);
}

/* One point that is to have the record of a call's address. Another one has it already, where the rule was made before. */
static int make_generic(struct spi_point **point)
{
	struct spi_point *old = spi_point_generic(*point);

	if (old) {
		*point = old;
		return 0;
	}
	(*point)->flags = ((*point)->flags & ~(uint32_t) SPI_POINT_ONE_EVENT) | SPI_POINT_GENERIC;
	(*point)->string_max = 0;
	return 1;
}

static void bind_new(struct work *w, struct spi_point **points, const char **errors)
{
	struct rule *rule = w->rule;
	uint32_t n = 0, fresh = 0, some;
	int generic, compact = !!rule->text.compact, r;

	for (uint32_t i = 0; i < rule->count; i++)
		if (!rule->points[i]->payload) {
			fresh += !rule->points[i]->events_of;
			points[n++] = rule->points[i];
		}
	if (!n)
		return;
	memset(errors, 0, n * sizeof(*errors));
	generic = !compact && (fresh > TYPED_RULE_MAX || typed_total + fresh > TYPED_TOTAL_MAX);
	some = n;
	if (generic && (rule->text.libcalls || (w->link && !spi_module_is_run()))) {
		/* The sessions that asked take events by the functions' names alone: what has none would be recorded for nobody. */
		some = typed_total < TYPED_TOTAL_MAX ? TYPED_TOTAL_MAX - typed_total : 0;
		some = some < TYPED_RULE_MAX ? some : TYPED_RULE_MAX;
		for (uint32_t i = some; i < n; i++)
			errors[i] = some == TYPED_RULE_MAX ?
				"beyond the 8 000 functions of one rule: name fewer functions, or record a call tree" :
				"beyond the 9 000 functions of one process: name fewer functions, or record a call tree";
		spi_note("%u functions match '%s': only the first %u are recorded; name fewer functions, or record a call tree", n,
			rule->text.function, some);
		generic = 0;
	}
	if (generic) {
		w->result->flags |= SPI_DONE_GENERIC;
		spi_note("%u functions match '%s': too many for events of their own; their calls are recorded by address, as "
			"lttng_ust_cyg_profile:func_entry and func_exit", n, rule->text.function);
		n = 0;
		for (uint32_t i = 0; i < rule->count; i++)
			if (!rule->points[i]->payload && make_generic(&rule->points[i]))
				points[n++] = rule->points[i];
		some = n;
	}
	spi_payload->set_string_max(spi_string_max);
	for (uint32_t i = 0; i < some; i++)
		if (points[i]->flags & SPI_POINT_LIBCALLS)
			spi_library_calls_only(points[i]);
	r = !some ? 0 : (compact ? spi_payload->bind_compact : generic ? spi_payload->bind_generic : spi_payload->bind)(points, some, errors);
	for (uint32_t i = 0; i < some; i++)
		if (r < 0 && !errors[i])
			errors[i] = "its events could not be registered with lttng-ust";
	if (!generic && !compact && r > 0)
		typed_total += (uint32_t) r;
	drop_failed(w, points, errors, n);
}

/* The payloads that the rule names. 0, or a negative errno and why in result->text. */
static int rule_clients(struct work *w)
{
	const struct spi_rule *asked = &w->rule->text;

	return spi_clients_named(&asked->payloads, &asked->payload_args, &w->rule->clients, w->result->text, sizeof(w->result->text)) < 0 ?
		-ELIBACC : 0;
}

/* They end with their last rule that is in force. */
static void clients_begin(struct rule *rule)
{
	if (!rule->is_clients)
		spi_clients_rule_begins(rule->clients);
	rule->is_clients = 1;
}

static void clients_end(struct rule *rule)
{
	if (rule->is_clients)
		spi_clients_rule_ends(rule->clients);
	rule->is_clients = 0;
}

/* The rule's objects get a map with detail, where a client asks for that. */
static void detail_get(struct work *w)
{
	char error[256];

	if (!spi_clients_have_flag(w->rule->clients, SPI_AGENT_DETAIL))
		return;
	for (uint32_t i = 0; i < w->rule->count; i++) {
		struct spi_object *object = w->rule->points[i]->object;

		if (spi_map_detail_get(w->link, object, error, sizeof(error)) < 0)
			spi_note("%s: blocks and source lines are not known: %s", object->name,
				error[0] ? error : "no memory");
	}
}

static void make_for_clients(struct work *w)
{
	struct rule *rule = w->rule;
	uint32_t kept = 0;

	detail_get(w);
	for (uint32_t i = 0; i < rule->count; i++) {
		struct spi_point *p = rule->points[i];
		const char *reason = "the agent has no memory left";

		if (spi_clients_point_make(p) == 0)
			reason = spi_clients_refuse(p, rule->clients);
		if (!reason)
			rule->points[kept++] = p;
		else if (*reason)
			spi_work_decline(w, p->object, point_name(p), reason);
	}
	rule->count = kept;
}

static int needs_trap(const struct spi_point *p)
{
	return p->patch && (p->patch->worker == SPI_WORKER_TRAP || p->patch->how == SPI_TEXT_CC);
}

/* A rule that is in force is not changed by one that comes later and asks for other records of the same function. */
static void choose_points(struct work *w)
{
	struct rule *rule = w->rule;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < rule->count; i++) {
		struct spi_point *p = rule->points[i];

		if (!p->payload && !rule->clients)
			continue;
		if (spi_rule_point_choose(p) < 0)
			spi_work_decline(w, p->object, point_name(p),
				"another rule in force records it in another form (one event, entry and exit, compact, or library calls)");
		else
			rule->points[kept++] = p;
	}
	rule->count = kept;
}

static void prepare_and_install(struct work *w, struct spi_point **points, const char **errors)
{
	struct rule *rule = w->rule;
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < rule->count; i++) {
		struct spi_point *p = rule->points[i];
		const char *reason = spi_hooks_replace(p->address) ? "the tracer replaces it in a traced program" :
			spi_descriptors_trace(p->address);

		if (reason || (!spi_rule_point_has_jump(p) && !p->body && spi_patch_prepare(p, &reason) < 0)) {
			spi_work_decline(w, p->object, point_name(p), reason ? reason : "cannot be patched");
			continue;
		}
		rule->points[kept++] = p;
		if (p->users++ == 0)
			points[n++] = p;
	}
	rule->count = kept;
	memset(errors, 0, n * sizeof(*errors));
	for (uint32_t i = 0; i < n; i++)
		if (needs_trap(points[i]) && spi_trap_watch) {
			const char *reason;

			spi_trap_watch(&reason);	/* while text is being written is too late */
			break;
		}
	if (spi_payload && spi_payload->installed && !rule->clients)
		spi_payload->installed(points, n);
	n = spi_rule_points_in(points, n, errors);
	drop_failed(w, points, errors, n);
	for (kept = 0, n = 0; n < rule->count; n++)
		if (rule->points[n]->installed)
			rule->points[kept++] = rule->points[n];
	rule->count = kept;
	w->result->instrumented = kept;
	spi_status_points_change((int) kept);
}

int spi_work_ready(struct work *w)
{
	if (w->rule->text.payloads.count && !spi_clients_have_flag(w->rule->clients, SPI_CLIENT_RECORDS))
		spi_module_do_without();
	else if (spi_module_load(w->link, w->result->text, sizeof(w->result->text)) < 0 ||
			spi_clients_records_ready(w->rule->clients, w->result->text, sizeof(w->result->text)) < 0)
		return -ELIBACC;
	spi_fault_install();
	spi_steps_begin();
	return 0;
}

/* ---- tags ---------------------------------------------------------------------------------- */

/* What a rule that came to nothing has left at points that nobody uses. */
static void tags_forget_left(struct rule *rule)
{
	for (uint32_t i = 0; i < rule->count; i++)
		if (!rule->points[i]->users) {
			spi_tags_clear(rule->points[i]);
			spi_backtraces_clear(rule->points[i]);
		}
}

/* ---- in force -------------------------------------------------------------------------------- */

int spi_work_put_in_force(struct work *w)
{
	size_t bytes = (size_t) w->rule->count * (sizeof(void *) + sizeof(char *)) + 64;
	struct spi_point **points;
	int r;

	if (!w->rule->count)
		return 0;
	r = spi_work_ready(w);
	if (r < 0)
		return r;
	points = spi_map_pages(bytes);
	if (!points)
		return -ENOMEM;
	if (w->rule->clients)
		make_for_clients(w);
	else
		bind_new(w, points, (const char **) (points + w->rule->count));
	choose_points(w);
	if (!w->rule->clients)
		tags_forget_left(w->rule);
	if (w->rule->text.tag[0] && !w->rule->clients)
		spi_tags_change(w->rule->points, w->rule->count, w->rule->text.tag, 1);
	spi_backtraces_change(w->rule, 1);
	prepare_and_install(w, points, (const char **) (points + w->rule->count));
	for (uint32_t i = 0; w->rule->clients && i < w->rule->count; i++)
		spi_clients_point_use(w->rule->points[i], w->rule->clients);
	spi_observe_rule(w->rule->clients);
	spi_sys(SYS_munmap, points, (bytes + 4095) & ~4095ul);
	return 0;
}

/* ---- taking out ---------------------------------------------------------------------------- */

static void take_out(struct rule *rule)
{
	size_t bytes = (size_t) rule->count * (sizeof(void *) + sizeof(char *)) + 64;
	struct spi_point **points = rule->count ? spi_map_pages(bytes) : NULL;
	uint32_t n = 0;

	if (!points)
		return;
	for (uint32_t i = 0; rule->clients && i < rule->count; i++)
		spi_clients_point_leave(rule->points[i], rule->clients);
	for (uint32_t i = 0; i < rule->count; i++)
		if (rule->points[i]->users && --rule->points[i]->users == 0)
			points[n++] = rule->points[i];
	spi_rule_points_out(points, n, (const char **) (points + rule->count));
	/* new calls are not this rule's; those under way have the rule's events at their end all the same (tp/describe/context.c) */
	if (rule->text.tag[0] && !rule->clients)
		spi_tags_change(rule->points, rule->count, rule->text.tag, 0);
	spi_backtraces_change(rule, 0);
	spi_status_points_change(-(int) rule->count);
	if (spi_payload && spi_payload->flush)
		spi_payload->flush();
	spi_sys(SYS_munmap, points, (bytes + 4095) & ~4095ul);
}

/* ---- what instrument.c does with such a rule --------------------------------------------------- */

/*
 * What loads a library from now on waits until it was looked through: the event module must be there by then, as the waiting
 * thread has the dynamic linker's lock. A program that never asks for a library, as most that a shell executes, does
 * without: LTTng is started in it when a function was found. What keeps the program's calls from harming the tracer's
 * threads is there where the agent was preloaded, and comes with the module else.
 */
static int rule_find_functions(struct work *w)
{
	int r = 0;

	if (w->rule->ops->reach(w->rule) & SPI_REACH_LATER) {
		if (!w->link || !spi_env.preloaded || spi_program_loads())
			r = spi_work_ready(w);
		else
			spi_tracer_code_find();
		if (r == 0)
			spi_loads_watch(1);
	}
	return r == 0 ? spi_work_find(w) : r;
}

static int functions_apply(struct work *w)
{
	int r = rule_clients(w);

	if (r == 0) {
		clients_begin(w->rule);
		r = rule_find_functions(w);
	}
	if (r == 0)
		r = spi_work_put_in_force(w);
	if (w->parts)
		spi_note("%u pieces of functions (.cold parts, linkage stubs) go with their functions", w->parts);
	return r;
}

static int rule_finds_none(const struct rule *rule, struct spi_rule_result *result)
{
	int waits = spi_rule_waits(rule);

	if (waits)
		result->flags |= SPI_DONE_WAITS;
	if (result->declined && !waits)		/* an object that could not be looked at may have some: its refusal is the reason */
		return -ENOTSUP;
	spi_format(result->text, sizeof(result->text), "no loaded function matches '%s%s%s'%s", rule->text.object,
		rule->text.object[0] ? ":" : "", rule->text.function,
		waits ? "; the rule waits for a library that has one" : "");
	return -ENOENT;
}

/* The text is the first one's reason. */
static int rule_is_refused(struct spi_rule_result *result)
{
	size_t n = strlen(result->text);

	if (!n)
		spi_format(result->text, sizeof(result->text), "the payload leaves out what matches");
	if (result->declined > 1)
		spi_format(result->text + n, sizeof(result->text) - n, "; %u more are refused", result->declined - 1);
	return -ENOTSUP;
}

static int functions_describe(const struct rule *rule, struct spi_rule_result *result, int status)
{
	if (status < 0)
		return status;
	if (!result->matched)
		return rule_finds_none(rule, result);
	if (!result->instrumented)
		return rule_is_refused(result);
	result->text[0] = 0;	/* the first reason, for when nothing could be done */
	return 0;
}

static int functions_in_again(struct rule *rule, struct spi_rule_result *result)
{
	static struct work w;
	int r;

	w = (struct work) { .rule = rule, .result = result };
	clients_begin(rule);
	r = spi_work_put_in_force(&w);
	rule->enabled = 1;
	spi_rules_watch_loads();
	spi_rules_loads_take(spi_link_current);	/* what came while it was off */
	return r;
}

static int functions_change(struct rule *rule, int enabled, struct spi_rule_result *result)
{
	int r = 0;

	if (!enabled) {
		take_out(rule);
		clients_end(rule);
		return 0;
	}
	if (!rule->enabled)
		r = functions_in_again(rule, result);
	result->matched = result->instrumented = rule->count;
	return rule->count || r ? r : rule_finds_none(rule, result);
}

static void functions_remove(struct rule *rule)
{
	if (rule->is_clients)	/* it was never in force, or functions_change() would have ended them */
		spi_clients_rule_fails(rule->clients);
	if (rule->points)
		spi_sys(SYS_munmap, rule->points, rule->room * sizeof(*rule->points));
}

/* The dynamic linker is watched for any rule: an unwinder that comes has to be noticed (unwind/unwind.c). */
static uint32_t functions_reach(const struct rule *rule)
{
	const int is_exe_alone = !rule->text.object[0] && spi_rule_is_wild(rule->text.function);

	return SPI_REACH_TAKEN | (is_exe_alone ? 0 : SPI_REACH_LATER) | (rule->enabled ? SPI_REACH_WATCHED : 0);
}

const struct spi_rule_ops spi_function_ops = {
	.reach = functions_reach, .apply = functions_apply, .change = functions_change, .remove = functions_remove,
	.describe = functions_describe,
};
