/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `spi-codemap prototypes`: are these files of prototypes right, and what is in them? A child in the sandbox reads them
 * and prints what it found in their own syntax.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "codemap/base/sandbox.h"
#include "codemap/prototypes/prototypes.h"
#include "codemap/request/request.h"
#include "codemap/types/types.h"
#include "rules/harmless.h"

struct listing {
	const char *libraries;	/* of the functions printed last */
	struct text text;
};

static void function_print(void *context, const char *libraries, const struct dw_die *die)
{
	struct listing *listing = context;

	listing->text.count = 0;
	if (strcmp(libraries, listing->libraries)) {
		text_add(&listing->text, "library ");
		text_add(&listing->text, libraries);
		text_add_char(&listing->text, '\n');
		listing->libraries = libraries;
	}
	spell_function(&listing->text, die);
	text_add(&listing->text, ";");
	text_end(&listing->text);
	spi_make_harmless(listing->text.at, listing->text.count, "\n");
	puts(listing->text.at);
}

static int files_print(unsigned int from, int is_quiet)
{
	struct listing listing = { .libraries = "" };
	int status = EXIT_DONE;

	for (unsigned int i = from; i < prototypes_file_count(); i++) {
		const char *error = prototypes_error(i);

		if (error) {
			spi_put_harmless(error, strlen(error), stderr);
			fputc('\n', stderr);
			status = EXIT_BAD;
		} else if (!is_quiet) {
			prototypes_list(i, function_print, &listing);
		}
	}
	if (fflush(stdout) || ferror(stdout))
		fail("cannot write what is in the files");
	return status;
}

int prototypes_print(unsigned int from, int is_quiet)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		sandbox_enter(0);
		exit(files_print(from, is_quiet));
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		fail("cannot start a process of its own");
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
		raise(SIGPIPE);
	if (WIFSIGNALED(status))
		fail("reading the files ended with signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	return WEXITSTATUS(status);
}
