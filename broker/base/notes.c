/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Lines about the broker itself, which `lttng list --spi` shows. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/base/base.h"

static struct note *notes;

bool broker_is_root(void)
{
	return !geteuid();
}

const struct note *broker_notes(void)
{
	return notes;
}

void broker_note_clear(const char *key)
{
	for (struct note **at = &notes, *note; (note = *at);) {
		if (strcmp(note->key, key)) {
			at = &note->next;
			continue;
		}
		*at = note->next;
		free(note);
	}
}

void broker_note(const char *key, const char *format, ...)
{
	struct note *note = calloc(1, sizeof(*note));
	va_list args;

	broker_note_clear(key);
	if (!note)
		return;
	snprintf(note->key, sizeof(note->key), "%s", key);
	va_start(args, format);
	vsnprintf(note->text, sizeof(note->text), format, args);
	va_end(args);
	note->next = notes;
	notes = note;
}
