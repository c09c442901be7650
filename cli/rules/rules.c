/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Writing rules through liblttng-ctl. rules/event-name.h alone decides which rules a FUNC becomes; here
 * they are only carried to the daemon. A session is looked up before anything is written: a daemon
 * that does not know the session closes the connection while the filter is still being sent.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "cli/base/say.h"
#include "cli/base/signals.h"
#include "cli/daemon/directory.h"
#include "cli/functions/func.h"
#include "cli/rules/rules.h"
#include "cli/rules/xml.h"
#include "cli/ui/rule-options.h"
#include "cli/ui/trace-options.h"

int rules_is_form(const char *name)
{
	return spi_event_name_kind(name) != NULL;
}

int rules_wish(const char *const *funcs, unsigned int func_count, const struct tree_request *tree, unsigned int number,
	       struct rules_wish *wish)
{
	if (number >= func_count + tree->count)
		return 0;
	wish->function = number < func_count ? funcs[number] : tree->roots[number - func_count];
	wish->kind = number < func_count ? spi_kind_call : spi_kind_tree;
	return 1;
}

const char *rules_wish_title(const struct rules_wish *wish)
{
	return wish->kind == spi_kind_tree ? tree_title(wish->function) : wish->function;
}

static int session_check(const char *name)
{
	struct lttng_session *list = NULL;
	int n, i, found = 0;

	if (lttng_session_daemon_alive() != 1) {
		say_error("no session daemon is running: lttng create starts one, and makes a session");
		return -ENOENT;
	}
	n = lttng_list_sessions(&list);
	if (n < 0) {
		say_error("%s: the sessions cannot be listed: %s", name, lttng_strerror(n));
		return -EIO;
	}
	for (i = 0; i < n; i++)
		found |= !strcmp(list[i].name, name);
	free(list);
	if (found)
		return 0;
	say_error("%s: no such session: lttng list shows those there are, lttng create %s makes it", name, name);
	return -ENOENT;
}

int rules_session_open(struct rules_session *session, const struct rule_options *options)
{
	struct lttng_domain domain = { .type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID };
	int ret;

	memset(session, 0, sizeof(*session));
	session->name = options->session ? strdup(options->session) : current_session();
	if (!session->name) {
		say_error("no current session: lttng create makes one; -s SESSION names another");
		return -ENOENT;
	}
	ret = session_check(session->name);
	if (ret == 0 && !(session->handle = lttng_create_handle(session->name, &domain))) {
		say_error("%s: %s", session->name, strerror(ENOMEM));
		ret = -ENOMEM;
	}
	if (ret < 0)
		rules_session_close(session);
	return ret;
}

void rules_session_close(struct rules_session *session)
{
	if (session->handle)
		lttng_destroy_handle(session->handle);
	free(session->name);
	memset(session, 0, sizeof(*session));
}

/*
 * A pattern that begins with a wildcard means a program's own functions, and a
 * tree without root all that it does; without a scope that would be those of
 * every program that runs, which nobody wants.
 */
int rules_check_world(const struct rule_options *o, const struct rules_wish *wish)
{
	const char *function = spi_target_function(wish->function);
	int scoped = o->asked.nr_pids > 0, wild;
	unsigned int i;

	for (i = 0; i < o->asked.exec.count; i++)
		scoped |= !spi_rule_is_wild(o->asked.exec.name[i]);
	if (*wish->function == ':') {
		say_error("%s: no executable or library is named before the ':'", wish->function);
		return -EINVAL;
	}
	wild = (spi_rule_is_wild(function) || !*function) &&
		(function == wish->function || spi_rule_is_wild(wish->function));
	if (scoped || !wild)
		return 0;
	if (wish->kind == spi_kind_tree)
		say_error("%s: means the calls of every program: say which with --exec NAME or --pid PID, or name a ROOT",
			rules_wish_title(wish));
	else
		say_error("%s: means functions of every program: say which with OBJECT:FUNC, --exec NAME or --pid PID",
			wish->function);
	return -EINVAL;
}

int rules_recipes(const struct rule_options *options, const struct rules_wish *wish, int one_event,
		  struct spi_event_recipe recipes[RULES_RECIPES_MAX])
{
	char room[SPI_RULE_TEXT_MAX], why[SPI_RULE_WHY] = "";
	struct spi_rule rule = options->asked;
	int n;

	rule.kind = wish->kind;
	rule.one_event = one_event;
	n = spi_rule_set_target(&rule, wish->function, room, sizeof(room), why);
	if (n == 0)
		n = spi_event_name_format(&rule, options->filter, recipes, RULES_RECIPES_MAX, why);
	if (n > 0)
		return n;
	if (n == -E2BIG)
		say_error("%.100s: too long for the name of an event rule (%d bytes): shorten %s, or give fewer %s--pid and "
			"--exec", rules_wish_title(wish), SPI_EVENT_NAME_MAX, spi_rule_is_tree(&rule) ? "ROOT" : "FUNC",
			spi_rule_is_tree(&rule) ? "patterns, " : "");
	else
		say_error("%s: %s", rules_wish_title(wish), *why ? why : n ? strerror(-n) : "names no function");
	return n < 0 ? n : -EINVAL;
}

void rules_recipes_free(struct spi_event_recipe *recipes, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		free(recipes[i].name);
		free(recipes[i].filter);
	}
}

/* liblttng-ctl's filter parser prints two lines of its own for each mistake. Returns what stderr_back() needs. */
static int stderr_away(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), kept = -1;

	if (null < 0)
		return -1;
	kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (kept >= 0)
		dup2(null, STDERR_FILENO);
	close(null);
	return kept;
}

static void stderr_back(int kept)
{
	if (kept < 0)
		return;
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
}

int rules_write(struct lttng_handle *handle, const char *name, const char *filter, const char *channel)
{
	struct lttng_event *event = lttng_event_create();
	int ret, kept;

	if (!event)
		return -LTTNG_ERR_NOMEM;
	event->type = LTTNG_EVENT_TRACEPOINT;
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	event->loglevel = -1;
	if ((size_t) snprintf(event->name, sizeof(event->name), "%s", name) >= sizeof(event->name)) {
		lttng_event_destroy(event);
		return -LTTNG_ERR_INVALID;
	}
	kept = stderr_away();
	ret = lttng_enable_event_with_exclusions(handle, event, channel, filter, 0, NULL);
	stderr_back(kept);
	lttng_event_destroy(event);
	return ret < 0 ? ret : 0;
}

/* liblttng-ctl compiles a filter before it asks the daemon for anything: for a session that cannot be. */
int rules_filter_check(const char *filter)
{
	struct lttng_domain domain = { .type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID };
	struct lttng_handle *handle = lttng_create_handle("/", &domain);
	int ret = handle ? rules_write(handle, "spi:filter", filter, NULL) : -LTTNG_ERR_NOMEM;

	if (handle)
		lttng_destroy_handle(handle);
	return ret == -LTTNG_ERR_FILTER_INVAL || ret == -LTTNG_ERR_FILTER_NOMEM ? ret : 0;
}

static int print_error;		/* the first one on stdout */

void rules_print(const char *format, ...)
{
	va_list args;

	if (say_quiet || rules_xml_on())
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	if (fflush(stdout) && !print_error)
		print_error = errno;
}

int rules_printed(int status)
{
	if (fflush(stdout) && !print_error)
		print_error = errno;
	if (!print_error && ferror(stdout))
		print_error = EIO;
	if (!print_error)
		return status;
	if (print_error == EPIPE)
		signals_die(SIGPIPE);
	say_error("the output cannot be written: %s", strerror(print_error));
	return status ? status : TRACE_STATUS_ERROR;
}
