/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Source lines of addresses, and which functions are inlined there. Which unit of debug information has an address is
 * read from the units themselves: not every compiler writes .debug_aranges.
 */
#include <stdlib.h>
#include <string.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include "reader/trace/symbols.h"

static int unit_compare(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static int unit_add(struct symbols *s, uint64_t low, uint64_t high, const Dwarf_Die *die)
{
	if (s->unit_count == s->unit_room) {
		size_t room = s->unit_room ? s->unit_room * 2 : 256;
		struct unit *more = realloc(s->units, room * sizeof(*more));

		if (!more)
			return -1;
		s->units = more;
		s->unit_room = room;
	}
	s->units[s->unit_count++] = (struct unit) { low, high, *die };
	return 0;
}

static void units_read(struct symbols *s)
{
	Dwarf_Addr bias = 0, base, low, high;
	Dwarf *dwarf = s->module ? dwfl_module_getdwarf(s->module, &bias) : NULL;
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, skeleton;

	s->has_units = 1;
	s->dwarf_bias = bias;
	while (dwarf && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, &skeleton) == 0) {
		ptrdiff_t at = 0;

		while ((at = dwarf_ranges(&die, at, &base, &low, &high)) > 0)
			if (low < high && unit_add(s, low + bias, high + bias, &die) < 0)
				return;
	}
	if (s->unit_count)
		qsort(s->units, s->unit_count, sizeof(*s->units), unit_compare);
}

static struct unit *unit_at(struct symbols *s, uint64_t at)
{
	size_t low = 0, high;

	if (!s->has_units)
		units_read(s);
	high = s->unit_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->units[middle].low <= at)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i-- > 0 && low - i < 32; )
		if (at < s->units[i].high)
			return &s->units[i];
	return NULL;
}

static int line_at(struct unit *unit, uint64_t address, struct source_line *line)
{
	Dwarf_Line *found = dwarf_getsrc_die(&unit->die, address);
	int number = 0;

	line->file = found ? dwarf_linesrc(found, NULL, NULL) : NULL;
	if (!line->file || dwarf_lineno(found, &number) != 0)
		return 0;
	line->line = (uint32_t) number;
	line->inlined = NULL;
	return 1;
}

static uint64_t number_of(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute found;
	Dwarf_Word value;

	return dwarf_attr(die, attribute, &found) && dwarf_formudata(&found, &value) == 0 ? value : 0;
}

/* Where an inlined function is called. */
static void call_line(struct unit *unit, Dwarf_Die *scope, struct source_line *line)
{
	const uint64_t file = number_of(scope, DW_AT_call_file);
	Dwarf_Files *files = NULL;
	size_t count = 0;

	*line = (struct source_line) { .line = (uint32_t) number_of(scope, DW_AT_call_line) };
	if (dwarf_getsrcfiles(&unit->die, &files, &count) == 0 && file < count)
		line->file = dwarf_filesrc(files, file, NULL, NULL);
}

/*
 * The scopes that an address is in, the innermost first, as they lie in the function: dwarf_getscopes() goes on with
 * those around the definition of what is inlined. To be freed.
 */
static int scopes_at(struct unit *unit, uint64_t address, Dwarf_Die **scopes)
{
	Dwarf_Die *found = NULL;
	int count = dwarf_getscopes(&unit->die, address, &found);

	*scopes = NULL;
	if (count > 0)
		count = dwarf_getscopes_die(&found[0], scopes);
	free(found);
	return count;
}

int symbols_lines(struct symbols *s, uint64_t offset, int is_call, struct source_line *lines, int most)
{
	const uint64_t at = (s ? s->low : 0) + offset - (uint64_t) is_call;
	struct unit *unit = s ? unit_at(s, at) : NULL;
	Dwarf_Die *scopes = NULL;
	int count, n = 0;

	if (!unit || !most || !line_at(unit, at - s->dwarf_bias, &lines[0]))
		return 0;
	count = most > 1 ? scopes_at(unit, at - s->dwarf_bias, &scopes) : 0;
	for (int i = 0; i < count && n + 1 < most; i++) {
		const char *name;

		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
			continue;
		name = dwarf_diename(&scopes[i]);
		lines[n].inlined = name ? name : "?";
		call_line(unit, &scopes[i], &lines[++n]);
	}
	free(scopes);
	return lines[n].file ? n + 1 : n;
}
