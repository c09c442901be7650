/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The command line that all commands have in common. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/commands/reading.h"

enum {
	OPTION_FUNCTION = 0x100, OPTION_CALLER, OPTION_OBJECT, OPTION_THREAD, OPTION_PROCESS, OPTION_FROM, OPTION_TO,
	OPTION_LONGER, OPTION_DEPTH, OPTION_ERROR, OPTION_FORMAT, OPTION_LINES, OPTION_ROOT, OPTION_DEBUG,
};

static const struct option common[] = {
	{ "function", required_argument, NULL, OPTION_FUNCTION },
	{ "caller", required_argument, NULL, OPTION_CALLER },
	{ "object", required_argument, NULL, OPTION_OBJECT },
	{ "thread", required_argument, NULL, OPTION_THREAD },
	{ "process", required_argument, NULL, OPTION_PROCESS },
	{ "from", required_argument, NULL, OPTION_FROM },
	{ "to", required_argument, NULL, OPTION_TO },
	{ "longer", required_argument, NULL, OPTION_LONGER },
	{ "depth", required_argument, NULL, OPTION_DEPTH },
	{ "error", no_argument, NULL, OPTION_ERROR },
	{ "format", required_argument, NULL, OPTION_FORMAT },
	{ "lines", no_argument, NULL, OPTION_LINES },
	{ "root", required_argument, NULL, OPTION_ROOT },
	{ "debug-dir", required_argument, NULL, OPTION_DEBUG },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
};
#define COMMON	(sizeof(common) / sizeof(common[0]))
#define OWN_MOST	16u

static int list_add(const char **list, const char *value, const char *option)
{
	int n = 0;

	while (list[n])
		n++;
	if (n == FILTERS_MOST) {
		say_error("--%s is given more than %d times: use a pattern", option, FILTERS_MOST);
		return -1;
	}
	list[n] = value;
	return 1;
}

static int format_read(struct reading *r, const char *value)
{
	static const char *const names[] = { "text", "json", "csv" };

	for (unsigned int i = 0; i < 3; i++)
		if (!strcmp(value, names[i]) && (r->formats >> i & 1)) {
			r->format = (enum format) i;
			return 1;
		}
	say_error("--format %s: %s has %s%s%s", value, r->command, "text", r->formats & 2 ? ", json" : "",
		r->formats & 4 ? ", csv" : "");
	return -1;
}

/* As libdwfl wants it: from the root on, and without ':'. It is kept. */
static const char *directory_read(const char *option, const char *value)
{
	const char *path = realpath(value, NULL);

	if (!path)
		say_error("--%s %s: %s", option, value, strerror(errno));
	else if (strchr(path, ':'))
		say_error("--%s %s: a directory whose path has no ':' is needed", option, value);
	return path && !strchr(path, ':') ? path : NULL;
}

static int common_take(struct reading *r, int option, const char *value)
{
	char *end;
	unsigned long number;

	switch (option) {
	case OPTION_FUNCTION:
		return list_add(r->functions, value, "function");
	case OPTION_CALLER:
		return list_add(r->callers, value, "caller");
	case OPTION_OBJECT:
		return list_add(r->objects, value, "object");
	case OPTION_THREAD:
		return list_add(r->threads, value, "thread");
	case OPTION_PROCESS:
		return list_add(r->processes, value, "process");
	case OPTION_FROM:
		r->from = value;
		return 1;
	case OPTION_TO:
		r->to = value;
		return 1;
	case OPTION_LONGER:
		if (duration_read(value, &r->longer) == 0)
			return 1;
		say_error("--longer %s: not a duration, such as 10us, 1.5ms, 2s", value);
		return -1;
	case OPTION_DEPTH:
		number = strtoul(value, &end, 10);
		if (end != value && !*end && number && number < UINT32_MAX) {
			r->depth = (uint32_t) number;
			return 1;
		}
		say_error("--depth %s: not a number of calls from 1 on", value);
		return -1;
	case OPTION_ERROR:
		r->only_errors = 1;
		return 1;
	case OPTION_FORMAT:
		return format_read(r, value);
	case OPTION_LINES:
		r->has_lines = 1;
		return 1;
	case OPTION_ROOT:
		r->root = directory_read("root", value);
		return r->root ? 1 : -1;
	case OPTION_DEBUG:
		value = directory_read("debug-dir", value);
		return value ? list_add(r->debug_directories, value, "debug-dir") : -1;
	case 'o':
		r->output = value;
		return 1;
	default:
		return 0;
	}
}

int reading_is_live(const struct reading *r)
{
	return !strncmp(r->directories[0], "net://", 6);
}

static int usage_error(const struct reading *r, const char *what)
{
	say_error("%s: see `lttng-spi %s --help`, or the manual page lttng-spi(1)", what, r->command);
	return 1;
}

int reading_options(struct reading *r, int argc, char **argv, const struct option *own, option_taker *take)
{
	struct option all[COMMON + OWN_MOST] = { { NULL, 0, NULL, 0 } };
	unsigned int n = COMMON;
	char text[300];
	int option;

	memcpy(all, common, sizeof(common));
	for (; own && own->name && n < COMMON + OWN_MOST - 1; own++)
		all[n++] = *own;
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":o:h", all, NULL)) != -1) {
		int taken;

		if (option == '?' || option == ':') {
			snprintf(text, sizeof(text), option == ':' ? "%s needs a value" : "%s is no option here", argv[optind - 1]);
			return usage_error(r, text);
		}
		if (option == 'h')
			return -1;
		taken = common_take(r, option, optarg);
		if (!taken)
			taken = take(r, option, optarg);
		if (taken < 0)
			return 1;
	}
	for (; optind < argc; optind++) {
		if (r->directory_count == FILTERS_MOST)
			return usage_error(r, "too many directories");
		r->directories[r->directory_count++] = argv[optind];
	}
	if (!r->directory_count)
		return usage_error(r, "DIR is missing: the directory of a trace");
	if (reading_is_live(r) && (r->from || r->to || r->longer || r->only_errors || r->directory_count > 1))
		return usage_error(r, "a live session is read alone, without --from, --to, --longer and --error");
	return 0;
}

/* ---- help ---- */

static const char filters_help[] =
	"      --function GLOB   calls of these functions only; also OBJECT:FUNCTION\n"
	"      --caller GLOB     only what these functions call, and what that calls\n"
	"      --object GLOB     functions of these programs and libraries only\n"
	"      --thread TID      this thread only\n"
	"      --process NAME    this process only, by name or pid\n"
	"      --from TIME, --to TIME   calls that begin between: HH:MM:SS.fraction\n"
	"      --longer TIME     calls that took at least so long: 10us, 1.5ms, 2s\n"
	"      --depth N         N calls deep\n"
	"      --error           calls left by an exception or jump, or whose result is negative or a null pointer\n"
	"  Filters of one kind that are given several times are alternatives.\n"
	"Names and lines, from the files of programs and libraries, or their debug files, of the trace's build-ids:\n"
	"      --lines           FILE:LINE of functions, and of where they are called\n"
	"      --root DIR        the root directory below which the files are\n"
	"      --debug-dir DIR   a directory with debug files by build-id, beside /usr/lib/debug\n";

int reading_help(const char *usage)
{
	printf("Usage: lttng-spi %s", usage);
	printf("\nFilters:\n%s", filters_help);
	return 0;
}
