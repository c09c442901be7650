/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The gatekeeper alone, in TAP: each descriptor that breaks traces is refused with
 * its reason, and its sound neighbours are let through.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tp/ust/ust.h"

static void *alloc(size_t size)
{
	return calloc(1, size);
}

static const struct spi_core_ops core = { .alloc = alloc };
const struct spi_core_ops *tp_core = &core;

static void callback(void)
{
}

#define INT(bits, align, sgn, b)                                                                                       \
	{                                                                                                              \
		.parent = {lttng_ust_type_integer}, .struct_size = sizeof(struct lttng_ust_type_integer),              \
		.size = bits, .alignment = align, .signedness = sgn, .base = b                                         \
	}
static struct lttng_ust_type_integer int32 = INT(32, 8, 1, 10), uint8 = INT(8, 8, 0, 10);
static struct lttng_ust_type_float f32 = {
	.parent = {lttng_ust_type_float}, .struct_size = sizeof(f32), .mant_dig = 24, .exp_dig = 8, .alignment = 8};
static struct lttng_ust_type_string text = {
	.parent = {lttng_ust_type_string}, .struct_size = sizeof(text), .encoding = 1};
#define ARRAY(e, n, enc) { .parent = { lttng_ust_type_array }, .struct_size = sizeof(struct lttng_ust_type_array), \
	.elem_type = &(e).parent, .length = n, .encoding = enc }
static struct lttng_ust_type_array ints = ARRAY(int32, 3, 0), empty = ARRAY(int32, 0, 0),
	huge = ARRAY(int32, 2000, 0), one_char = ARRAY(uint8, 1, 1);

#define LABEL(s, a, b, sgn)                                                                                            \
	{                                                                                                              \
		.struct_size = sizeof(struct lttng_ust_enum_entry), .start = {a, sgn}, .end = {b, sgn}, .string = s    \
	}
static struct lttng_ust_enum_entry good_label = LABEL("A", 0, 3, 0), quoted = LABEL("A\"B", 1, 1, 0),
				   backward = LABEL("B", 5, 4, 0), beyond = LABEL("C", 256, 256, 0),
				   other_sign = LABEL("D", 1, 1, 1), unnamed = LABEL("", 1, 1, 0);
static struct lttng_ust_probe_desc probe = { .struct_size = sizeof(probe), .provider_name = "spi" };

static struct lttng_ust_type_common *enumeration(
	struct lttng_ust_enum_entry *e, struct lttng_ust_type_common *container, unsigned int n)
{
	struct lttng_ust_enum_desc *d = calloc(1, sizeof(*d));
	struct lttng_ust_type_enum *t = calloc(1, sizeof(*t));
	const struct lttng_ust_enum_entry **list = calloc(n + 1, sizeof(*list));

	for (unsigned int i = 0; i < n; i++)
		list[i] = e;
	*d = (struct lttng_ust_enum_desc) { sizeof(*d), "e", list, n, &probe };
	*t = (struct lttng_ust_type_enum) { { lttng_ust_type_enum }, sizeof(*t), d, container };
	return &t->parent;
}

static int number;

/* NULL: expect it to pass. */
static void expect(const char *what, const char *name, unsigned int n,
	const struct lttng_ust_event_field *const *fields, const char *reason)
{
	struct lttng_ust_tracepoint_class *c = calloc(1, sizeof(*c));
	struct lttng_ust_event_desc *e = calloc(1, sizeof(*e));
	const char *got;
	int good;

	*c = (struct lttng_ust_tracepoint_class) { sizeof(*c), fields, n, callback, "s", &probe };
	*e = (struct lttng_ust_event_desc) { sizeof(*e), name, &probe, c, NULL, NULL };
	got = tp_gate_event("spi", e);
	good = reason ? got && strstr(got, reason) : !got;
	printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
	if (!good)
		fprintf(stderr, "# got: %s\n# expected: %s\n", got ? got : "let through",
			reason ? reason : "let through");
}

static void one(const char *what, const char *field, const void *type, const char *reason)
{
	struct lttng_ust_event_field *f = calloc(1, sizeof(*f));
	const struct lttng_ust_event_field **list = calloc(1, sizeof(*list));
	char name[32];

	snprintf(name, sizeof(name), "event_%d", number);
	*f = (struct lttng_ust_event_field) { .struct_size = sizeof(*f), .name = field, .type = type };
	list[0] = f;
	expect(what, strdup(name), 1, list, reason);
}

static void many(const char *what, unsigned int n, int distinct, const char *reason)
{
	const struct lttng_ust_event_field **list = calloc(n, sizeof(*list));
	char name[32];

	for (unsigned int i = 0; i < n; i++) {
		struct lttng_ust_event_field *f = calloc(1, sizeof(*f));

		snprintf(name, sizeof(name), "f%u", distinct ? i : 0);
		*f = (struct lttng_ust_event_field){
			.struct_size = sizeof(*f), .name = strdup(name), .type = &int32.parent};
		list[i] = f;
	}
	snprintf(name, sizeof(name), "many_%d", number);
	expect(what, strdup(name), n, list, reason);
}

static void pair(const char *what, const char *first, const char *second, const char *reason)
{
	static struct lttng_ust_event_field fields[2][2];
	static const struct lttng_ust_event_field *lists[2][2];
	static int n;
	const char *names[2] = { first, second };

	for (int i = 0; i < 2; i++) {
		fields[n][i] = (struct lttng_ust_event_field) {
			.struct_size = sizeof(fields[n][i]), .name = names[i], .type = &int32.parent };
		lists[n][i] = &fields[n][i];
	}
	expect(what, n ? "pair_1" : "pair_0", 2, lists[n], reason);
	n++;
}

int main(void)
{
	char long_name[300];

	one("an integer passes", "a", &int32, NULL);
	one("a float passes", "a", &f32, NULL);
	one("a string passes", "a", &text, NULL);
	one("an array of integers passes", "a", &ints, NULL);
	one("a character passes", "a", &one_char, NULL);
	one("an enumeration passes", "a", enumeration(&good_label, &uint8.parent, 1), NULL);
	one("an empty array", "a", &empty, "array that is empty or too long");
	one("an array beyond a record", "a", &huge, "array that is empty or too long");
	one("no type", "a", NULL, "without a type");
	one("a field name with a dot", "a.b", &int32, "field name that is not an identifier");
	one("a field name with <<", "operator<<", &int32, "field name that is not an identifier");
	one("an empty field name", "", &int32, "field name that is not an identifier");
	one("a field name that begins with a digit", "1st", &int32, "field name that is not an identifier");
	one("a quote in a label", "a", enumeration(&quoted, &uint8.parent, 1), "enumeration label with a character");
	one("an empty label", "a", enumeration(&unnamed, &uint8.parent, 1), "enumeration label with a character");
	one("a backward range", "a", enumeration(&backward, &uint8.parent, 1), "range that is empty or beyond");
	one("a value beyond its container", "a", enumeration(&beyond, &uint8.parent, 1),
		"range that is empty or beyond");
	one("a label of another sign", "a", enumeration(&other_sign, &uint8.parent, 1), "label of another sign");
	one("no labels", "a", enumeration(&good_label, &uint8.parent, 0), "no labels or too many");
	one("too many labels", "a", enumeration(&good_label, &uint8.parent, 1025), "no labels or too many");
	many("64 fields pass", 64, 1, NULL);
	many("65 fields", 65, 1, "too many fields");
	many("two fields of one name", 2, 0, "two fields of one name");
	pair("a name and the same behind an underscore, one to babeltrace2", "_n", "n", "two fields of one name");
	pair("names that differ by two underscores, or in case, pass", "__n", "n", NULL);
	expect("a C++ name passes", "ns::f<int, 3>::operator()(char const*)", 0, NULL, NULL);
	expect("a name once more", "ns::f<int, 3>::operator()(char const*)", 0, NULL, "in use already");
	expect("a quote in a name", "operator\"\"", 0, NULL, "event name with a character");
	expect("a line break in a name", "a\nb", 0, NULL, "event name with a character");
	expect("an empty name", "", 0, NULL, "event name with a character");
	memset(long_name, 'n', sizeof(long_name));
	long_name[252] = '\0';
	expect("256 characters", long_name, 0, NULL, "event name that is too long");
	expect("255 characters pass", long_name + 1, 0, NULL, NULL);
	for (int i = 0; i < 5000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		if (tp_gate_name_used("spi", name))
			return 1;
	}
	printf("1..%d\n", number);
	return 0;
}
