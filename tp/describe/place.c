/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Of which function of which object an event is. The metadata of a trace says that once, with the event's description,
 * as its model.emf.uri: spi:PATH?build_id=HEX&offset=0xHEX. So no record has to. The session daemon has one description
 * for all processes whose events have one name, the same fields and the same URI; functions of two objects have two.
 *
 * The session daemon writes the text into the metadata as it is: what could end the string there is written as %XX.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "tp/describe/describe.h"

#define URI_MOST	1400u

struct text {
	char at[URI_MOST];
	size_t n;
};

static void put_byte(struct text *t, unsigned char byte)
{
	static const char digits[] = "0123456789abcdef";

	if (t->n + 4 > sizeof(t->at))
		return;
	if (byte > ' ' && byte < 0x7f && byte != '"' && byte != '\\' && byte != '%' && byte != '?') {
		t->at[t->n++] = (char) byte;
		return;
	}
	t->at[t->n++] = '%';
	t->at[t->n++] = digits[byte >> 4];
	t->at[t->n++] = digits[byte & 15];
}

const char *const *tp_place_of(const struct spi_point *point)
{
	static const struct spi_object *latest;	/* most points of a batch are in one object */
	static struct text head;
	const struct spi_object *object = point->object;
	const char **uri = tp_core->object_path ? tp_alloc(sizeof(*uri)) : NULL;
	char text[URI_MOST + 160];

	if (!uri)
		return NULL;
	if (latest != object) {
		head.n = 0;
		for (const char *path = tp_core->object_path(object); *path; path++)
			put_byte(&head, (unsigned char) *path);
		head.at[head.n] = 0;
		latest = object;
	}
	spi_format(text, sizeof(text), "spi:%s?build_id=", head.at);
	for (uint32_t i = 0; i < object->build_id_size; i++) {
		const size_t n = strlen(text);

		spi_format(text + n, sizeof(text) - n, "%x%x", object->build_id[i] >> 4, object->build_id[i] & 15);
	}
	spi_format(text + strlen(text), sizeof(text) - strlen(text), "&offset=0x%lx", point->address - object->low);
	*uri = tp_strndup(text, strlen(text));
	return *uri ? uri : NULL;
}
