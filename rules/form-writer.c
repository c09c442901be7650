/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Text that is made canonical: options in one order, lists sorted, every byte
 * that the lttng command, XML or the form itself has a use for as %xx. What is
 * not said is left out, so what a form meant before an option existed it means after.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "rules/form-writer.h"
#include "rules/tree-options.h"

void spi_form_put(struct spi_form_writer *w, const char *plain)
{
	for (; *plain; plain++, w->at++)
		if (w->at + 1 < w->size)
			w->text[w->at] = *plain;
}

void spi_form_put_field(struct spi_form_writer *w, const char *field)
{
	for (const unsigned char *c = (const unsigned char *) field; *c; c++) {
		char one[4] = { (char) *c };

		if (w->encode && (*c <= 0x20 || *c >= 0x7f || strchr("%;(),*\\\"'", *c)))
			snprintf(one, sizeof(one), "%%%02x", *c);
		spi_form_put(w, one);
	}
}

int spi_form_end(struct spi_form_writer *w)
{
	if (w->at >= w->size)
		return -E2BIG;
	w->text[w->at] = 0;
	return 0;
}

static void put_number(struct spi_form_writer *w, const char *name, unsigned int whole, unsigned int thousandths)
{
	char text[48];
	size_t n = (size_t) snprintf(text, sizeof(text), ";%s=%u.%03u", name, whole, thousandths);

	while (text[n - 1] == '0')
		text[--n] = 0;
	if (text[n - 1] == '.')
		text[n - 1] = 0;
	spi_form_put(w, text);
}

static void put_follow(struct spi_form_writer *w, unsigned int unfollowed)
{
	static const char *const names[] = { "threads", "dlopen", "fork", "exec" };
	const char *before = ";follow=";

	if (!unfollowed)
		return;
	for (unsigned int i = 0; i < 4; i++)
		if (!(unfollowed & 1u << i)) {
			spi_form_put(w, before);
			spi_form_put(w, names[i]);
			before = "+";
		}
	if (*before == ';')
		spi_form_put(w, ";follow=none");
}

/* By name in what people read; the agent has no table of names. */
static void put_signal(struct spi_form_writer *w, int number)
{
	const char *name = w->encode ? sigabbrev_np(number) : NULL;
	char digits[16];

	snprintf(digits, sizeof(digits), "%d", number);
	spi_form_put(w, ";on-signal=");
	spi_form_put(w, name ? name : digits);
}

void spi_form_put_tree(struct spi_form_writer *w, const struct spi_tree_options *o)
{
	static const char *const lists[SPI_TREE_LISTS] = { ";exclude=", ";lib=", ";exclude-lib=", ";calls-of=" };

	if (o->depth)
		put_number(w, "depth", o->depth, 0);
	for (unsigned int l = 0; l < SPI_TREE_LISTS; l++)
		for (unsigned int i = 0; i < o->counts[l]; i++) {
			spi_form_put(w, lists[l]);
			spi_form_put_field(w, o->lists[l][i]);
		}
	put_follow(w, o->unfollowed);
	if (o->after)
		put_number(w, "after", o->after / 1000, o->after % 1000);
	if (o->on_signal)
		put_signal(w, o->on_signal);
	if (o->budget)
		put_number(w, "budget", o->budget / 10, o->budget % 10 * 100);
	if (o->compact)
		spi_form_put(w, ";compact");
	if (o->parse_only)
		spi_form_put(w, ";parse-only");
}
