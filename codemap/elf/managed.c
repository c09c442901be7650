/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Code whose runtime walks the stack by tables of its own. A garbage collector, or
 * what looks for an exception's handler, takes each return address it finds in a
 * frame of such code, looks it up, and ends the process when it is unknown; some
 * have stacks of a few hundred bytes, too, or move them. So nothing is changed in
 * such code, and no call of it gets another return address.
 *
 *   Go           all of an object that has .gopclntab
 *   OCaml        from caml<UNIT>__code_begin to caml<UNIT>__code_end (`.` or `$` for `__` in later versions), the
 *                assembly language part of its runtime included, which is the unit `_system`
 *   V8           the functions Builtins_..., and the C++ ones that these call directly, whose return address is the
 *                innermost one that the collector looks at: all with (int, unsigned long *, v8::internal::Isolate *)
 *   .NET         section __managedcode of programs compiled ahead of time
 *   GraalVM      all of a native image, which has .svm_heap
 *   Dart, Mono   all of an object with a snapshot's instructions, or compiled ahead of time
 *
 * Or it copies frames off the stack and back, and so returns by one return address twice:
 *   greenlet     all of Python's extension module, which gevent, eventlet and SQLAlchemy use
 *   Guile        its library, whose continuations have the C stack in them
 * Coroutines that all run on one stack, in libraries that are mostly linked in statically, return once by each address,
 * but at other times than their places on the stack say; that the object has such is in its map:
 *   libco        Tencent's, by coctx_swap
 *   libaco       by acosw
 */
#include <stdlib.h>
#include <string.h>
#include "codemap/elf/managed.h"

static void range_add(struct managed *managed, uint64_t low, uint64_t high)
{
	struct managed_mark *mark = vec_push(&managed->marks);

	mark->vaddr = low;
	mark->is_end = 0;
	mark = vec_push(&managed->marks);
	mark->vaddr = high;
	mark->is_end = 1;
}

void managed_begin(struct managed *managed, const struct image *object)
{
	const struct section *s = image_section(object, "__managedcode");

	memset(managed, 0, sizeof(*managed));
	managed->is_all = image_section(object, ".gopclntab") || image_section(object, ".svm_heap");
	if (s && s->size <= UINT64_MAX - s->addr)
		range_add(managed, s->addr, s->addr + s->size);
}

static int begins_with(const char *name, size_t size, const char *text)
{
	return size >= strlen(text) && !memcmp(name, text, strlen(text));
}

static int ends_with(const char *name, size_t size, const char *text)
{
	return size >= strlen(text) && !memcmp(name + size - strlen(text), text, strlen(text));
}

static int is_v8(const char *name, size_t size)
{
	return begins_with(name, size, "Builtins_") ||
	       (begins_with(name, size, "_ZN2v88internal") && ends_with(name, size, "EiPmPNS0_7IsolateE"));
}

/* What the interpreter calls to make greenlet's module (0.x of it, 1.0 and later, Python 2's); a function of Guile's. */
static int copies_stacks(const char *name, size_t size)
{
	static const char *const names[] = {"PyInit_greenlet", "PyInit__greenlet", "initgreenlet", "scm_c_with_continuation_barrier"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (size == strlen(names[i]) && begins_with(name, size, names[i]))
			return 1;
	return 0;
}

/* Where they switch. */
static int shares_stacks(const char *name, size_t size)
{
	return (size == 10 && begins_with(name, size, "coctx_swap")) || (size == 5 && begins_with(name, size, "acosw"));
}

void managed_symbol(struct managed *managed, uint64_t vaddr, uint64_t size, const char *name, uint64_t room)
{
	struct managed_mark *mark;
	size_t length;

	/* One symbol in a thousand is looked at any further. */
	if (!room || !vaddr || !strchr("acB_mPis", *name))
		return;
	length = strnlen(name, room);
	if (begins_with(name, length, "caml")) {
		int is_end = ends_with(name, length, "code_end");

		if (!is_end && !ends_with(name, length, "code_begin"))
			return;
		mark = vec_push(&managed->marks);
		mark->vaddr = vaddr;
		mark->is_end = (uint8_t) is_end;
	} else if (is_v8(name, length)) {
		if (size <= UINT64_MAX - vaddr)
			range_add(managed, vaddr, vaddr + (size ? size : 1));
	} else if (begins_with(name, length, "_kDartIsolateSnapshotInstructions") || begins_with(name, length, "_kDartVmSnapshotInstructions") ||
		   (begins_with(name, length, "mono_aot_") && ends_with(name, length, "file_info")) ||
		   copies_stacks(name, length)) {
		managed->is_all = 1;
	} else if (shares_stacks(name, length)) {
		managed->copies_stacks = 1;
	}
}

static int mark_compare(const void *x, const void *y)
{
	const struct managed_mark *a = x, *b = y;

	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/*
 * What is left changes from one to the other. Where one unit ends another may begin, and a unit without code does
 * both; a symbol that is in .symtab and in .dynsym is there twice, as its other end is.
 */
void managed_end(struct managed *managed)
{
	struct managed_mark *marks = managed->marks.at;
	size_t count = managed->marks.count, i, k, kept = 0;
	int is_open = 0;

	if (count)
		qsort(marks, count, sizeof(*marks), mark_compare);
	for (i = 0; i < count; i = k) {
		int more = 0;	/* ends than beginnings */

		for (k = i; k < count && marks[k].vaddr == marks[i].vaddr; k++)
			more += marks[k].is_end ? 1 : -1;
		if (is_open ? more <= 0 : more >= 0)
			continue;
		marks[kept].vaddr = marks[i].vaddr;
		marks[kept++].is_end = (uint8_t) is_open;
		is_open = !is_open;
	}
	managed->marks.count = kept;
}

/* The last mark at or below it is a beginning. */
int managed_has(const struct managed *managed, uint64_t vaddr)
{
	size_t low = 0, high = managed->marks.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (managed->marks.at[middle].vaddr <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return managed->is_all || (low && !managed->marks.at[low - 1].is_end);
}
