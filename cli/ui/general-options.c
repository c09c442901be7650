/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * lttng's general options. Options that are not understood here are left to the real lttng to complain
 * about.
 */
#include <getopt.h>

#include "cli/ui/general-options.h"

enum general_option {
	GENERAL_SESSIOND_PATH = 256,
	GENERAL_RELAYD_PATH,
};

/* --help, --version, --list-options and --list-commands are not listed: the real lttng answers them. */
static const struct option general_options[] = {
	{ "group", required_argument, NULL, 'g' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "mi", required_argument, NULL, 'm' },
	{ "no-sessiond", no_argument, NULL, 'n' },
	{ "sessiond-path", required_argument, NULL, GENERAL_SESSIOND_PATH },
	{ "relayd-path", required_argument, NULL, GENERAL_RELAYD_PATH },
	{ NULL, 0, NULL, 0 },
};

int general_options_parse(int argc, char **argv, struct trace_options *o)
{
	int c;

	optind = 0;	/* glibc: start afresh */
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+g:vqm:n", general_options, NULL)) != -1) {
		switch (c) {
		case 'g':
			o->group = optarg;
			break;
		case 'v':
			o->verbose++;
			break;
		case 'q':
			o->quiet = 1;
			break;
		case 'm':
			o->machine_output = optarg;
			break;
		case 'n':
			o->no_sessiond = 1;
			break;
		case GENERAL_SESSIOND_PATH:
			o->sessiond_path = optarg;
			break;
		case GENERAL_RELAYD_PATH:
			o->relayd_path = optarg;
			break;
		default:
			return 0;
		}
	}
	return optind < argc ? optind : 0;
}
