/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The instrumenter: a rule in, instrumented functions out.
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
#include "codemap/map-check.h"
#include "liblttng-spi/instrument-work.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/steps.h"
#include "liblttng-spi/tree-rule.h"

#define TYPED_RULE_MAX	8000u		/* functions of one rule with events of their own */
#define TYPED_TOTAL_MAX	9000u		/* two events each; LTTng carries about 20 000 */

struct rule *spi_rules;
static uint32_t typed_total;

/* ---- from points to events and jumps --------------------------------------------------- */

static void drop_failed(struct work *w, struct spi_point **points, const char **errors, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (errors[i])
			spi_work_decline(w, points[i]->object, spi_map_string(points[i]->map, points[i]->func->name), errors[i]);
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
	int generic, compact = !!(rule->text.flags & SPI_RULE_COMPACT), r;

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
	if (generic && w->link && !spi_module_is_run()) {
		/* The sessions that asked take events by the functions' names alone: what has none would be recorded for nobody. */
		some = typed_total < TYPED_TOTAL_MAX ? TYPED_TOTAL_MAX - typed_total : 0;
		some = some < TYPED_RULE_MAX ? some : TYPED_RULE_MAX;
		for (uint32_t i = some; i < n; i++)
			errors[i] = "beyond the 8 000 functions of a rule and 9 000 of a process, as LTTng carries about 20 000 event types: "
				"name fewer, or have a call tree recorded";
		spi_note("%u functions match '%s': the first %u of them are recorded, as LTTng carries about 20 000 event types; name "
			"fewer, or have a call tree recorded", n, rule->text.pattern, some);
		generic = 0;
	}
	if (generic) {
		w->result->flags |= SPI_DONE_GENERIC;
		spi_note("%u functions match '%s': recorded as lttng_ust_cyg_profile:func_entry and func_exit with their "
			"addresses, as LTTng carries about 20 000 event types", n, rule->text.pattern);
		n = 0;
		for (uint32_t i = 0; i < rule->count; i++)
			if (!rule->points[i]->payload && make_generic(&rule->points[i]))
				points[n++] = rule->points[i];
		some = n;
	}
	spi_payload->set_string_max(spi_string_max);
	r = !some ? 0 : (compact ? spi_payload->bind_compact : generic ? spi_payload->bind_generic : spi_payload->bind)(points, some, errors);
	for (uint32_t i = 0; i < some; i++)
		if (r < 0 && !errors[i])
			errors[i] = "its events could not be registered with lttng-ust";
	if (!generic && !compact && r > 0)
		typed_total += (uint32_t) r;
	drop_failed(w, points, errors, n);
}

static int needs_trap(const struct spi_point *p)
{
	return p->patch && (p->patch->worker == SPI_WORKER_TRAP || p->patch->how == SPI_TEXT_CC || p->patch->how == SPI_TEXT_INT3);
}

/* Those that call trees' entry points call; the others, which have jumps of their own, are left in the list. */
static uint32_t write_named(struct spi_point **points, uint32_t n, int install)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (points[i]->patch) {
			points[kept++] = points[i];
		} else if (spi_entry_name(points[i], install) < 0) {
			points[i]->users = 0;
			spi_note("%s: the entry point of a call tree that stands there cannot be %s",
				spi_map_string(points[i]->map, points[i]->func->name), install ? "put in place" : "taken out");
		}
	}
	return kept;
}

/* What write_named() has left; a thread of the program may have had a tree's entry take one over meanwhile. */
static uint32_t write_own(struct spi_point **points, uint32_t n, const char **errors, int install)
{
	n = spi_points_write(points, n, errors, install);
	for (uint32_t i = 0; i < n; i++)
		if (errors[i] && !points[i]->patch && spi_entry_name(points[i], install) == 0)
			errors[i] = NULL;
	return n;
}

/* A rule that is in force is not changed by one that comes later and asks for other records of the same function. */
static void choose_points(struct work *w)
{
	struct rule *rule = w->rule;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < rule->count; i++) {
		struct spi_point *p = rule->points[i];

		if (!p->payload)
			continue;
		if (spi_point_choose(p) < 0)
			spi_work_decline(w, p->object, spi_map_string(p->map, p->func->name),
				"another rule that is in force records it in another form (one event, entry and exit, or compact) or by another name");
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
		const char *reason = spi_descriptors_trace(p->address);

		if (reason || (!spi_entry_lend(p) && !p->body && spi_patch_prepare(p, &reason) < 0)) {
			spi_work_decline(w, p->object, spi_map_string(p->map, p->func->name), reason ? reason : "cannot be patched");
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
	if (spi_payload->installed)
		spi_payload->installed(points, n);
	n = write_named(points, n, 1);
	n = write_own(points, n, errors, 1);
	for (uint32_t i = 0; i < n; i++)
		if (errors[i])
			points[i]->users = 0;
		else
			points[i]->installed = 1;
	drop_failed(w, points, errors, n);
	for (kept = 0, n = 0; n < rule->count; n++)
		if (rule->points[n]->installed)
			rule->points[kept++] = rule->points[n];
	rule->count = kept;
	w->result->instrumented = kept;
	__atomic_fetch_add(&spi_status->points, kept, __ATOMIC_RELAXED);
}

int spi_work_ready(struct work *w)
{
	if (spi_module_load(w->link, w->result->text, sizeof(w->result->text)) < 0)
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
		if (!rule->points[i]->users)
			spi_tags_clear(rule->points[i]);
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
	bind_new(w, points, (const char **) (points + w->rule->count));
	choose_points(w);
	tags_forget_left(w->rule);
	if (w->rule->text.tag[0])
		spi_tags_change(w->rule->points, w->rule->count, w->rule->text.tag, 1);
	prepare_and_install(w, points, (const char **) (points + w->rule->count));
	spi_sys(SYS_munmap, points, (bytes + 4095) & ~4095ul);
	return 0;
}

/* ---- taking out ---------------------------------------------------------------------------- */

static int rules_enabled(void)
{
	const struct rule *rule = spi_rules;

	while (rule && !rule->enabled)
		rule = rule->next;
	return rule != NULL;
}

/* Where no rule is left nothing of libc's stays watched for int3: the program's signals are its own again. */
static void signals_leave(void)
{
	if (rules_enabled() || !spi_hooks_stand(SPI_HOOKS_SIGNALS))
		return;
	spi_trap_unwatched();
	spi_hooks_leave(SPI_HOOKS_SIGNALS);
}

static void rule_is_out(void)
{
	spi_rules_watch_loads();
	signals_leave();
	spi_status_fold_all();
}

static void rule_take_out(struct rule *rule)
{
	size_t bytes = (size_t) rule->count * (sizeof(void *) + sizeof(char *)) + 64;
	struct spi_point **points = rule->count ? spi_map_pages(bytes) : NULL;
	const char **errors = (const char **) (points + rule->count);
	uint32_t n = 0;

	if (!rule->enabled)
		return;
	if (rule->text.is_tree) {
		struct spi_rule_result ignored;

		spi_tree_set(rule, 0, &ignored);
		rule->enabled = 0;
		rule_is_out();
		return;
	}
	if (!points) {
		rule->enabled = 0;
		rule_is_out();
		return;
	}
	for (uint32_t i = 0; i < rule->count; i++)
		if (rule->points[i]->users && --rule->points[i]->users == 0)
			points[n++] = rule->points[i];
	n = write_named(points, n, 0);
	n = write_own(points, n, errors, 0);
	for (uint32_t i = 0; i < n; i++) {
		if (errors[i])
			spi_note("%s: not taken out: %s", spi_map_string(points[i]->map, points[i]->func->name), errors[i]);
		else
			points[i]->installed = 0;
	}
	/* new calls are not this rule's; those under way have the rule's events at their end all the same (tp/context.c) */
	if (rule->text.tag[0])
		spi_tags_change(rule->points, rule->count, rule->text.tag, 0);
	__atomic_fetch_sub(&spi_status->points, rule->count, __ATOMIC_RELAXED);
	rule->enabled = 0;
	if (spi_payload && spi_payload->flush)
		spi_payload->flush();
	spi_sys(SYS_munmap, points, (bytes + 4095) & ~4095ul);
	rule_is_out();
}

static void rule_forget(struct rule *rule)
{
	spi_tree_remove(rule);
	for (struct rule **at = &spi_rules; *at; at = &(*at)->next)
		if (*at == rule) {
			*at = rule->next;
			break;
		}
	if (rule->points)
		spi_sys(SYS_munmap, rule->points, rule->room * sizeof(*rule->points));
	spi_sys(SYS_munmap, rule, (sizeof(*rule) + 4095) & ~4095ul);
}

static struct rule *rule_find(uint32_t id)
{
	struct rule *r = spi_rules;

	while (r && r->id != id)
		r = r->next;
	return r;
}

/*
 * What loads a library from now on waits until it was looked through: the event module must be there by then, as the waiting
 * thread has the dynamic linker's lock. A program that never asks for a library, as most that a shell executes, does
 * without: LTTng is started in it when a function was found. What keeps the program's calls from harming the tracer's
 * threads is there where the agent was preloaded, and comes with the module else.
 */
static int rule_find_functions(struct work *w)
{
	int r = 0;

	if (spi_rule_may_wait(w->rule)) {
		if (!w->link || !spi_env.preloaded || spi_program_loads())
			r = spi_work_ready(w);
		else
			spi_tracer_code_find();
		if (r == 0)
			spi_tree_loads_watch(1);
	}
	return r == 0 ? spi_work_find(w) : r;
}

/* A library that it names, and no others, and that is loaded, will not have such a function later either. */
static int is_object_loaded(const struct rule *rule)
{
	const struct spi_object *o = strpbrk(rule->text.object, "*?[") ? NULL : spi_objects_list();

	while (rule->text.object[0] && o && !(o->seen && spi_rule_covers(&rule->text, o)))
		o = o->next;
	return rule->text.object[0] && o;
}

void spi_rules_open(int is_open)
{
	for (const struct rule *rule = spi_rules; rule; rule = rule->next)
		for (uint32_t i = 0; rule->enabled && !rule->text.is_tree && i < rule->count; i++) {
			if (is_open)
				__atomic_fetch_or(&rule->points[i]->tree_todo, SPI_TREE_OPEN, __ATOMIC_RELEASE);
			else
				__atomic_fetch_and(&rule->points[i]->tree_todo, ~SPI_TREE_OPEN, __ATOMIC_RELEASE);
		}
}

int spi_rules_may_gain(void)
{
	const struct rule *rule = spi_rules;

	while (rule && !(rule->enabled && spi_rule_may_wait(rule) && !is_object_loaded(rule)))
		rule = rule->next;
	return rule != NULL;
}

static int rule_finds_none(const struct rule *rule, struct spi_rule_result *result)
{
	int waits = spi_rule_may_wait(rule) && !is_object_loaded(rule);

	if (waits)
		result->flags |= SPI_DONE_WAITS;
	if (result->declined && !waits)		/* an object that could not be looked at may have some: its refusal is the reason */
		return -ENOTSUP;
	spi_format(result->text, sizeof(result->text), "no loaded function matches '%s%s%s'%s", rule->text.object,
		rule->text.object[0] ? ":" : "", rule->text.pattern, waits ? ", which waits for a library that has one" : "");
	return -ENOENT;
}

/* The text is the first one's reason. */
static int rule_is_refused(struct spi_rule_result *result)
{
	size_t n = strlen(result->text);

	if (result->declined > 1)
		spi_format(result->text + n, sizeof(result->text) - n, "; %u more are refused", result->declined - 1);
	return -ENOTSUP;
}

/* ---- commands ------------------------------------------------------------------------------- */

void spi_rule_add(struct spi_link *link, uint32_t id, uint32_t flags, const char *text, struct spi_rule_result *result)
{
	struct work *w = spi_map_pages(sizeof(*w));
	struct rule *rule = spi_map_pages(sizeof(*rule));
	const char *error;
	int r;

	result->status = -ENOMEM;
	if (!w || !rule)
		return;
	spi_unloads_follow();
	w->link = link;
	w->rule = rule;
	w->result = result;
	error = spi_given_up();
	r = error ? -ENOTSUP : rule_find(id) ? -EEXIST : spi_rule_parse(text, &rule->text, &error);
	if (r < 0) {
		spi_format(result->text, sizeof(result->text), "%s", r == -EEXIST ? "a rule has this number already" : error);
	} else {
		rule->id = id;
		rule->sum = spi_rule_sum(flags, text);
		rule->stays = !link || (link->welcome_flags & SPI_WELCOME_KEEP);
		rule->text.flags |= flags;
		rule->next = spi_rules;
		spi_rules = rule;
		r = spi_threads_init();
		if (r == 0)
			r = spi_patch_init();
		if (r == 0 && rule->text.is_tree)
			r = spi_tree_add(link, rule, result);
		else if (r == 0)
			r = rule_find_functions(w);
		if (r == 0 && !rule->text.is_tree)
			r = spi_work_put_in_force(w);
		rule->enabled = 1;
		if (rule->text.is_tree) {
			if (r == -ENOENT && !result->text[0])
				spi_format(result->text, sizeof(result->text), "no function is the root in what is loaded, and in what --lib and --exclude-lib leave of that%s",
					spi_rule_may_wait(rule) && !is_object_loaded(rule) ? ", which waits for a library that has it" : "");
			if (r == -ENOENT && spi_rule_may_wait(rule) && !is_object_loaded(rule))
				result->flags |= SPI_DONE_WAITS;
		} else if (r == 0 && !result->matched) {
			r = rule_finds_none(rule, result);
		} else if (r == 0 && !result->instrumented) {
			r = rule_is_refused(result);
		} else if (r == 0) {
			result->text[0] = 0;	/* the first reason, for when nothing could be done */
		}
		if (w->parts)
			spi_note("%u pieces of functions (.cold parts, linkage stubs) go with their functions", w->parts);
	}
	result->status = r;
	if (!rule->enabled)
		spi_sys(SYS_munmap, rule, (sizeof(*rule) + 4095) & ~4095ul);
	else if (r < 0 && !(result->flags & SPI_DONE_WAITS))
		rule_forget(rule);
	spi_rules_watch_loads();
	signals_leave();	/* it was for this rule, which came to nothing */
	spi_sys(SYS_munmap, w, (sizeof(*w) + 4095) & ~4095ul);
}

void spi_rule_set(uint32_t id, int enabled, struct spi_rule_result *result)
{
	struct rule *rule = rule_find(id);
	struct work *w;

	result->status = -ENOENT;
	if (!rule)
		return;
	spi_unloads_follow();
	result->status = 0;
	result->matched = rule->count;
	if (!enabled) {
		rule_take_out(rule);
		return;
	}
	if (rule->text.is_tree) {
		result->status = spi_tree_set(rule, 1, result);
		rule->enabled = 1;
		return;
	}
	w = spi_map_pages(sizeof(*w));
	if (!rule->enabled && w) {
		w->rule = rule;
		w->result = result;
		result->status = spi_work_put_in_force(w);
		rule->enabled = 1;
		spi_rules_watch_loads();
		spi_rules_loads_take(spi_link_current);	/* what came while it was off */
	}
	if (w)
		spi_sys(SYS_munmap, w, (sizeof(*w) + 4095) & ~4095ul);
	result->matched = result->instrumented = rule->count;
	if (!rule->count && !result->status)
		result->status = rule_finds_none(rule, result);
}

void spi_rule_remove(uint32_t id, struct spi_rule_result *result)
{
	struct rule *rule = rule_find(id);

	result->status = -ENOENT;
	if (!rule)
		return;
	spi_unloads_follow();
	result->status = 0;
	result->matched = rule->count;
	spi_rule_late_tell(spi_link_current, rule);
	rule_take_out(rule);
	rule_forget(rule);
}

/* A forked child has its parent's, of which the controller may have forgotten some since. */
void spi_rules_keep(const struct spi_msg_rule_kept *kept, uint32_t n, int is_last)
{
	struct rule *rule, *next;

	for (uint32_t i = 0; i < n; i++) {
		rule = rule_find(kept[i].rule);
		if (rule && rule->sum == kept[i].sum)
			rule->kept = 1;
	}
	if (!is_last)
		return;
	spi_unloads_follow();
	for (rule = spi_rules; rule; rule = next) {
		next = rule->next;
		if (!rule->kept && !rule->stays) {
			spi_rule_late_tell(spi_link_current, rule);
			rule_take_out(rule);
			rule_forget(rule);
			continue;
		}
		rule->kept = 0;
	}
}

void spi_rules_remove_all(void)
{
	spi_unloads_follow();
	while (spi_rules) {
		spi_rule_late_tell(spi_link_current, spi_rules);
		rule_take_out(spi_rules);
		rule_forget(spi_rules);
	}
}
