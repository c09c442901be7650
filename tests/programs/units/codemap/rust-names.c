/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Rust's names: each line of standard input is demangled, "-" where it is no such name. With the argument `hostile`,
 * names that are made to take long or to recurse deep, and random changes of good ones: it has to come back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "codemap/names/names.h"

static const char *demangled(const char *name, struct text *text)
{
	text->count = 0;
	return rust_demangle(name, text) || rust_demangle_legacy(name, text) ? text_end(text) : "-";
}

/* head, then `part` so often, then tail. */
static void repeat(struct text *text, const char *head, const char *part, unsigned int count, const char *tail)
{
	struct text name = { 0 };
	const char *result;

	text_add(&name, head);
	while (count--)
		text_add(&name, part);
	text_add(&name, tail);
	result = demangled(text_end(&name), text);
	printf("%s %zu\n", strcmp(result, "-") ? "name" : "none", strlen(result) > 8192 + 64 ? strlen(result) : 0);
	free(name.at);
}

static int hostile(void)
{
	static const char *const good[] = {
		"_RNvNtCs1234_7mycrate3foo3bar", "_RINvNtC3std3mem8align_ofNtNtC3std3mem3FooE",
		"_RNvXs_NtCs1_1a1bNtB4_1cNtC1d1e1f", "_RINvC1a1bDNtC1c1dp4ItemhEL_KjA_E", "_RNvC6_123foo3bar",
		"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
	};
	struct text text = { 0 };
	char name[160];
	unsigned int i, k;

	repeat(&text, "_RNvC1a1b", "", 0, "");			/* the one good name here */
	repeat(&text, "_RINvC1a1b", "R", 100000, "hE");
	repeat(&text, "_R", "Nv", 100000, "C1a");
	repeat(&text, "_RINvC1a1b", "S", 300, "hE");
	repeat(&text, "_RINvC1a1bT", "B8_", 2000, "EE");	/* back references into themselves */
	repeat(&text, "_RB_", "", 0, "");
	repeat(&text, "_RNvB_1a", "", 0, "");
	repeat(&text, "_RINvC1a1bTTTTTTTTTTTThE", "Ba_Ba_Ba_Ba_E", 12, "EE");	/* each level eight times the one before */
	repeat(&text, "_RNvC99999999999999999999999a1b", "", 0, "");
	repeat(&text, "_RNvCszzzzzzzzzzzzzzzzzzzzz_1a1b", "", 0, "");
	repeat(&text, "_RNvC1au9999_1b", "", 0, "");
	repeat(&text, "_RINvC1a1bFGzzzz_EuE", "", 0, "");
	repeat(&text, "_RINvC1a1bKj", "f", 100000, "_E");
	repeat(&text, "_ZN1a", "99999999999999999999", 1, "E");
	repeat(&text, "_ZN", "1a", 100000, "17h0123456789abcdef");
	srand(1);
	for (i = 0; i < 200000; i++) {
		const char *from = good[i % (sizeof(good) / sizeof(*good))];

		snprintf(name, sizeof(name), "%s", from);
		for (k = 0; k < 1 + i % 4; k++)
			name[2 + (unsigned int) rand() % (strlen(from) - 2)] =
				"_0123459abEBCDFGIKLMNRSTXYhjpsuvz"[(unsigned int) rand() % 33];
		demangled(name, &text);
	}
	printf("done\n");
	free(text.at);
	return 0;
}

int main(int argc, char **argv)
{
	struct text text = { 0 };
	char line[4096];

	if (argc > 1 && !strcmp(argv[1], "hostile"))
		return hostile();
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		puts(demangled(line, &text));
	}
	free(text.at);
	return 0;
}
