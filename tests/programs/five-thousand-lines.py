#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""5 000 lines of ordinary C, for compilers to work on: structures, loops, switches, calls, floating point."""
out = ['#include <stdio.h>', '#include <stdlib.h>', '#include <string.h>', '']
n = 0
while len(out) < 4960:
    out += f'''struct item{n} {{ int key; double weight; char name[16]; struct item{n} *next; }};
static struct item{n} *head{n};
static int compare{n}(const void *a, const void *b)
{{
	const struct item{n} *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return strcmp(x->name, y->name);
}}
int insert{n}(int key, const char *name, double weight)
{{
	struct item{n} *i = malloc(sizeof(*i));
	if (!i)
		return -1;
	i->key = key ^ {n * 7919 % 1009};
	i->weight = weight * {n}.5 + key;
	snprintf(i->name, sizeof(i->name), "%s%d", name, key);
	i->next = head{n};
	head{n} = i;
	return 0;
}}
double sum{n}(int mode)
{{
	double total = 0;
	for (struct item{n} *i = head{n}; i; i = i->next) {{
		switch ((i->key + mode) % 5) {{
		case 0: total += i->weight; break;
		case 1: total -= i->weight / 2; break;
		case 2: total *= 1.0 + 1.0 / (1 + i->key * i->key); break;
		case 3: total += strlen(i->name); break;
		default: total += mode; break;
		}}
	}}
	return total;
}}
void sort{n}(struct item{n} *items, size_t count)
{{
	qsort(items, count, sizeof(*items), compare{n});
	for (size_t i = 1; i < count; i++)
		for (size_t k = i; k && items[k - 1].weight > items[k].weight; k--) {{
			struct item{n} t = items[k];
			items[k] = items[k - 1];
			items[k - 1] = t;
		}}
}}
'''.rstrip().split('\n')
    n += 1
out += ['int main(void)', '{', '\tdouble all = 0;']
for i in range(15):
    out += [f'\tinsert{i}({i}, "n", {i});', f'\tall += sum{i}({i});']
out += ['\tprintf("%f\\n", all);', '\treturn 0;', '}']
print('\n'.join(out))
