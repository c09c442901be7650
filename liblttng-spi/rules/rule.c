/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Which of the process's objects a rule means; rules/ has the grammar of rules. */
#include <string.h>
#include <sys/auxv.h>
#include "rules/rule.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/rules/rules.h"
#include "rules/glob.h"

/*
 * Beside its file's name the program has the one that it was started by (`python3` may be a link to python3.11), its
 * first thread's, and what it has made of its first argument. The names are those of now. Controllers go by the same
 * (spi_names_match()).
 */
int spi_program_is_named(const char *pattern)
{
	const char *run_as = (const char *) getauxval(AT_EXECFN), *slash = run_as ? strrchr(run_as, '/') : NULL;
	char path[SPI_PROC_PATH], text[256];

	if (run_as && spi_glob_match(pattern, slash ? slash + 1 : run_as))
		return 1;
	if (spi_proc_text("/proc/self/comm", text, sizeof(text)) == 0) {
		text[strcspn(text, "\n")] = 0;
		if (spi_glob_match(pattern, text))
			return 1;
	}
	return spi_proc_text(spi_proc_path(path, "cmdline"), text, sizeof(text)) == 0 && spi_glob_match_title(pattern, text);
}

int spi_rule_covers(const struct spi_rule *rule, const struct spi_object *object)
{
	if (rule->object[0])
		return spi_glob_match(rule->object, object->name) || (object->is_exe && spi_program_is_named(rule->object));
	/* `*` is the program, not the world. */
	return rule->libcalls || !spi_rule_is_wild(rule->function) || object->is_exe;
}
