/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Which files of prototypes a run has. spi-codemap, in its sandbox, is the one who parses them: here, only to check. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/base/child.h"
#include "cli/base/say.h"
#include "cli/functions/prototypes.h"
#include "cli/ui/trace-options.h"
#include "codemap/prototypes/collect.h"
#include "injector/base/paths.h"

/* What is wrong with the file, one line; NULL: nothing, or spi-codemap cannot be asked, which its next run will tell. */
static char *file_check(const char *path)
{
	char *argv[] = { "spi-codemap", "prototypes", "--quiet", "--", (char *) path, NULL };
	struct child_options child = { .path = spi_path_codemap(), .argv = argv, .in = -1, .out = -1, .err = -1 };
	char *out = NULL, *err = NULL;
	int status = 0;

	if (!child.path || child_capture(&child, -1, &out, &err, &status) < 0)
		return NULL;
	free(out);
	if ((WIFEXITED(status) && !WEXITSTATUS(status)) || !err || !*err) {
		free(err);
		return NULL;
	}
	err[strcspn(err, "\n")] = '\0';
	return err;
}

static void file_keep(void *context, const char *path)
{
	struct prototype_files *files = context;
	char **list = realloc(files->list, (files->count + 1) * sizeof(*list));

	if (!list)
		return;
	files->list = list;
	list[files->count] = strdup(path);
	files->count += list[files->count] != NULL;
}

static void file_take(void *context, const char *path)
{
	char *wrong = file_check(path);

	if (wrong)
		say_warning("%s: this file of prototypes is not used", wrong);
	else
		file_keep(context, path);
	free(wrong);
}

int prototype_files_find(struct prototype_files *files, const char *const *asked, unsigned int count)
{
	char path[PATH_MAX];

	*files = (struct prototype_files) { NULL, 0 };
	if (spi_prototypes_users_directory(path, sizeof(path)))
		spi_prototypes_directory(path, file_take, files);
	for (unsigned int i = 0; i < count; i++) {
		char *wrong = file_check(asked[i]);

		if (wrong) {
			say_error("%s", wrong);
			free(wrong);
			return TRACE_STATUS_ERROR;
		}
		file_keep(files, asked[i]);
	}
	return 0;
}

void prototype_files_free(struct prototype_files *files)
{
	while (files->count)
		free(files->list[--files->count]);
	free(files->list);
	files->list = NULL;
}
