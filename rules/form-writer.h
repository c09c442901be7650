/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Writing a reserved form, or the agent's rule that it stands for; internal to rules/. */
#ifndef SPI_RULES_FORM_WRITER_H
#define SPI_RULES_FORM_WRITER_H

#include <stdbool.h>
#include <stddef.h>

struct spi_tree_options;

struct spi_form_writer {
	char *text;
	size_t size, at;	/* at >= size: it did not fit */
	bool encode;		/* fields with %xx, for LTTng; without, for the agent */
};

void spi_form_put(struct spi_form_writer *w, const char *plain);
void spi_form_put_field(struct spi_form_writer *w, const char *field);
/* ";depth=8;..." */
void spi_form_put_tree(struct spi_form_writer *w, const struct spi_tree_options *options);
/* End the text. 0 or -E2BIG. */
int spi_form_end(struct spi_form_writer *w);

#endif /* SPI_RULES_FORM_WRITER_H */
