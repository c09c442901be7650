/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Stacks of callers as text, JSON, CSV, and for flame graph tools. */
#include <inttypes.h>
#include <stdlib.h>
#include "reader/base/text.h"
#include "reader/leaks/leaks.h"

/* " at FILE:LINE", or " in INLINED inlined at FILE:LINE"; "": not known, or not wanted. */
static const char *place_text(const struct leak_frame *f, const struct leak_form *form, char *text, size_t size)
{
	const struct source_place *place = form->has_lines ? names_place_lines(f->object, f->offset) : NULL;

	*text = 0;
	if (place && place->lines[0].inlined)
		snprintf(text, size, " in %s inlined at %s:%u", place->lines[0].inlined,
			last_part(place->lines[0].file), place->lines[0].line);
	else if (place)
		snprintf(text, size, " at %s:%u", last_part(place->lines[0].file), place->lines[0].line);
	return text;
}

void leak_frame_write(struct leak_frame *f, const struct leak_form *form)
{
	char place[700];

	fprintf(form->out, "%s%s%s%s%s%s\n", colour_begin(COLOUR_FUNCTION), leak_frame_text(f),
		colour_end(COLOUR_FUNCTION), colour_begin(COLOUR_DIM), place_text(f, form, place, sizeof(place)),
		colour_end(COLOUR_DIM));
}

void leak_stack_write(const struct leak_stack *s, const struct leak_form *form)
{
	for (uint32_t i = 0; i < s->count; i++) {
		fputs(i ? "      <- " : "      ", form->out);
		leak_frame_write(s->frames[i], form);
	}
	if (!s->count)
		fputs("      (not known)\n", form->out);
}

void leak_stack_json(const struct leak_stack *s, const struct leak_form *form)
{
	FILE *out = form->out;
	char function[1600];

	fputs("[", out);
	for (uint32_t i = 0; s && i < s->count; i++) {
		struct leak_frame *f = s->frames[i];
		const struct source_place *place = form->has_lines ? names_place_lines(f->object, f->offset) : NULL;

		leak_frame_function(f, function, sizeof(function));
		fprintf(out, "%s{\"function\":", i ? "," : "");
		json_string(out, function);
		fputs(",\"object\":", out);
		json_string(out, leak_frame_object(f));
		fprintf(out, ",\"address\":\"0x%" PRIx64 "\"", f->offset);
		if (place && place->lines[0].inlined) {
			fputs(",\"inlined\":", out);
			json_string(out, place->lines[0].inlined);
		}
		if (place) {
			fputs(",\"file\":", out);
			json_string(out, place->lines[0].file);
			fprintf(out, ",\"line\":%u", place->lines[0].line);
		}
		fputs("}", out);
	}
	fputs("]", out);
}

/* FUNCTION+OFFSET [OBJECT] at FILE:LINE <- ... */
void leak_stack_csv(const struct leak_stack *s, const struct leak_form *form)
{
	char place[700], *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	for (uint32_t i = 0; memory && s && i < s->count; i++)
		fprintf(memory, "%s%s%s", i ? " <- " : "", leak_frame_text(s->frames[i]),
			place_text(s->frames[i], form, place, sizeof(place)));
	if (memory)
		fclose(memory);
	csv_field(form->out, text ? text : "");
	free(text);
}

int leaks_folded_write(struct leaks *l, FILE *out)
{
	char function[1600];

	for (struct leak_process *p = l->list; p; p = p->next)
		for (uint32_t i = 0; i < p->group_count; i++) {
			const struct leak_group *g = p->list[i];

			if (!g->bytes)
				continue;
			for (uint32_t k = g->stack->count; k--;) {
				leak_frame_function(g->stack->frames[k], function, sizeof(function));
				for (char *c = function; *c; c++)
					*c = *c == ';' ? ':' : *c;
				fprintf(out, "%s%s", function, k ? ";" : "");
			}
			fprintf(out, " %" PRIu64 "\n", g->bytes);
		}
	return output_status(out);
}
