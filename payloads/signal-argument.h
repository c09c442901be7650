/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The argument signal=: a number, or a name such as USR1 or SIGUSR1. */
#ifndef PAYLOADS_SIGNAL_ARGUMENT_H
#define PAYLOADS_SIGNAL_ARGUMENT_H

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* 0: none was asked for; -1: there is no such signal. */
static inline int signal_argument(const char *text)
{
	static const struct {
		const char *name;
		int number;
	} names[] = {
		{ "HUP", SIGHUP }, { "INT", SIGINT }, { "QUIT", SIGQUIT }, { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 },
		{ "ALRM", SIGALRM }, { "TERM", SIGTERM }, { "CONT", SIGCONT }, { "URG", SIGURG }, { "WINCH", SIGWINCH },
	};
	char *end;
	long number;

	if (!text)
		return 0;
	number = strtol(text, &end, 10);
	if (end != text)
		return *end || number <= 0 || number > 64 ? -1 : (int) number;
	text += strncmp(text, "SIG", 3) ? 0 : 3;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i].name))
			return names[i].number;
	return -1;
}

#endif /* PAYLOADS_SIGNAL_ARGUMENT_H */
