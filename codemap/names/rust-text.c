/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Rust's v0 names: numbers, identifiers and punycode, and what is printed. */
#include <string.h>
#include "codemap/names/rust.h"

#define OUT_MAX		8192
#define PUNYCODE_MAX	256

void rust_print_bytes(struct demangler *d, const char *bytes, size_t size)
{
	if (d->is_silent || d->is_bad)
		return;
	if (d->out->count + size > OUT_MAX)
		d->is_bad = 1;
	else
		text_add_bytes(d->out, bytes, size);
}

void rust_print(struct demangler *d, const char *text)
{
	rust_print_bytes(d, text, strlen(text));
}

void rust_print_number(struct demangler *d, uint64_t number)
{
	char digits[24], *p = digits + sizeof(digits);

	do
		*--p = (char) ('0' + number % 10);
	while (number /= 10);
	rust_print_bytes(d, p, (size_t) (digits + sizeof(digits) - p));
}

char rust_peek(const struct demangler *d)
{
	return d->at < d->size ? d->text[d->at] : 0;
}

char rust_take(struct demangler *d)
{
	if (d->at < d->size)
		return d->text[d->at++];
	d->is_bad = 1;
	return 0;
}

int rust_take_if(struct demangler *d, char c)
{
	if (rust_peek(d) != c || d->is_bad)
		return 0;
	d->at++;
	return 1;
}

uint64_t rust_base62(struct demangler *d)
{
	uint64_t number = 0;
	char c;

	if (rust_take_if(d, '_'))
		return 0;
	while ((c = rust_take(d)) != '_') {
		unsigned int digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned int) (c - '0');
		else if (c >= 'a' && c <= 'z')
			digit = (unsigned int) (c - 'a') + 10;
		else if (c >= 'A' && c <= 'Z')
			digit = (unsigned int) (c - 'A') + 36;
		else
			digit = 62;
		if (digit == 62 || number > (UINT64_MAX - 62) / 62) {
			d->is_bad = 1;
			return 0;
		}
		number = number * 62 + digit;
	}
	return number + 1;
}

uint64_t rust_base62_tagged(struct demangler *d, char tag)
{
	uint64_t number;

	if (!rust_take_if(d, tag))
		return 0;
	number = rust_base62(d);
	return number == UINT64_MAX ? number : number + 1;
}

struct identifier rust_identifier_read(struct demangler *d)
{
	struct identifier id = { .disambiguator = rust_base62_tagged(d, 's') };

	id.is_punycode = rust_take_if(d, 'u');
	if (rust_peek(d) < '0' || rust_peek(d) > '9')
		d->is_bad = 1;
	if (!rust_take_if(d, '0'))
		while (rust_peek(d) >= '0' && rust_peek(d) <= '9' && id.size <= OUT_MAX)
			id.size = id.size * 10 + (size_t) (rust_take(d) - '0');
	rust_take_if(d, '_');
	if (d->is_bad || id.size > d->size - d->at) {
		d->is_bad = 1;
		id.size = 0;
	}
	id.bytes = d->text + d->at;
	d->at += id.size;
	return id;
}

void rust_print_character(struct demangler *d, uint32_t c)
{
	char utf8[4];

	if (c < 0x80) {
		utf8[0] = (char) c;
		rust_print_bytes(d, utf8, 1);
	} else if (c < 0x800) {
		utf8[0] = (char) (0xc0 | c >> 6);
		utf8[1] = (char) (0x80 | (c & 0x3f));
		rust_print_bytes(d, utf8, 2);
	} else if (c < 0x10000) {
		utf8[0] = (char) (0xe0 | c >> 12);
		utf8[1] = (char) (0x80 | (c >> 6 & 0x3f));
		utf8[2] = (char) (0x80 | (c & 0x3f));
		rust_print_bytes(d, utf8, 3);
	} else {
		utf8[0] = (char) (0xf0 | c >> 18);
		utf8[1] = (char) (0x80 | (c >> 12 & 0x3f));
		utf8[2] = (char) (0x80 | (c >> 6 & 0x3f));
		utf8[3] = (char) (0x80 | (c & 0x3f));
		rust_print_bytes(d, utf8, 4);
	}
}

/* RFC 3492, with `_` for the delimiter and a-z0-9 as digits. Returns how many characters; 0: wrong. */
static size_t punycode_decode(const struct identifier *id, uint32_t out[PUNYCODE_MAX])
{
	uint32_t n = 128, i = 0, bias = 72, w, k, t, previous, delta;
	size_t count = 0, at = 0, end = id->size, p;

	while (end && id->bytes[end - 1] != '_')
		end--;
	if (id->size > PUNYCODE_MAX)
		return 0;
	for (p = 0; end && p < end - 1; p++)
		out[count++] = (unsigned char) id->bytes[p];
	for (at = end; at < id->size;) {
		previous = i;
		for (w = 1, k = 36;; k += 36) {
			uint32_t digit;
			char c = at < id->size ? id->bytes[at++] : 0;

			if (c >= 'a' && c <= 'z')
				digit = (uint32_t) (c - 'a');
			else if (c >= '0' && c <= '9')
				digit = (uint32_t) (c - '0') + 26;
			else
				return 0;
			if (w > UINT32_MAX / 36 / 2 || digit > (UINT32_MAX - i) / w)
				return 0;
			i += digit * w;
			t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
			if (digit < t)
				break;
			w *= 36 - t;
		}
		if (count == PUNYCODE_MAX)
			return 0;
		count++;
		delta = previous ? (i - previous) / 2 : i / 700;
		delta += delta / (uint32_t) count;
		for (k = 0; delta > 455; k += 36)
			delta /= 35;
		bias = k + 36 * delta / (delta + 38);
		n += i / (uint32_t) count;
		i %= (uint32_t) count;
		if (n > 0x10ffff || (n >= 0xd800 && n < 0xe000))
			return 0;
		memmove(out + i + 1, out + i, (count - 1 - i) * sizeof(*out));
		out[i++] = n;
	}
	return count;
}

void rust_identifier_print(struct demangler *d, const struct identifier *id)
{
	uint32_t decoded[PUNYCODE_MAX];
	size_t count, i;

	if (!id->is_punycode || d->is_bad) {
		rust_print_bytes(d, id->bytes, id->size);
		return;
	}
	count = punycode_decode(id, decoded);
	if (!count)
		d->is_bad = 1;
	for (i = 0; i < count; i++)
		rust_print_character(d, decoded[i]);
}
