/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "harness.h"

extern const struct func_record __start_spi_funcs[], __stop_spi_funcs[];
extern char funcs_text[], funcs_text_end[], counting_thunk[];
extern void *helper_pointer;

__thread struct spi_thread spi_thread __attribute__((tls_model("initial-exec"))) = { .owed = SPI_THREAD_MARK };
_Static_assert(offsetof(struct spi_point, payload) == 72, "funcs.S");
struct test_func funcs[FUNCS_MAX];
unsigned int funcs_count;
int *gates;
struct spi_object the_object = { .name = "test", .is_exe = 1 };
static struct spi_map the_map;
static char *text_before;

/* No test lends a stub. */
void spi_thunk_entry_lent(void)
{
	abort();
}

static int object_bounds(struct dl_phdr_info *info, size_t size, void *data)
{
	the_object.bias = info->dlpi_addr;
	the_object.low = UINT64_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (info->dlpi_addr + p->p_vaddr < the_object.low)
			the_object.low = info->dlpi_addr + p->p_vaddr;
		if (info->dlpi_addr + p->p_vaddr + p->p_memsz > the_object.high)
			the_object.high = info->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	return 1;
}

/* A code map in memory: a header whose insns table is filled function by function, targets made link-time addresses. */
static void map_make(unsigned int functions)
{
	size_t size = sizeof(struct spi_map_header) + functions * SPI_MAP_ENTRY_INSNS * sizeof(struct spi_map_insn);
	struct spi_map_header *head = calloc(1, size);

	head->insns.offset = sizeof(*head);
	the_map.head = head;
	the_map.size = size;
}

static const struct spi_map_func *func_make(const struct func_record *r, unsigned int index)
{
	struct spi_map_func *func = calloc(1, sizeof(*func));
	struct spi_map_insn *insns = (struct spi_map_insn *) ((char *) the_map.head + the_map.head->insns.offset);

	func->vaddr = r->address - the_object.bias;
	func->size = r->size;
	func->flags = r->flags & 0xffff;
	func->insn_first = index * SPI_MAP_ENTRY_INSNS;
	func->insn_count = (uint8_t) (r->insns_end - r->insns);
	func->entry_size = SPI_MAP_ENTRY_BYTES;
	memcpy(func->entry, text_before + (r->address - (uint64_t) funcs_text), SPI_MAP_ENTRY_BYTES);
	for (unsigned int i = 0; i < func->insn_count; i++) {
		insns[func->insn_first + i] = r->insns[i];
		if (r->insns[i].target)
			insns[func->insn_first + i].target -= the_object.bias;
	}
	return func;
}

void funcs_prepare(uint32_t workers, int two_gates)
{
	const struct func_record *r;

	dl_iterate_phdr(object_bounds, NULL);
	text_before = malloc((size_t) (funcs_text_end - funcs_text) + SPI_MAP_ENTRY_BYTES);
	memcpy(text_before, funcs_text, (size_t) (funcs_text_end - funcs_text) + SPI_MAP_ENTRY_BYTES);
	spi_patch_init();
	spi_patch_workers = workers;
	gates = spi_near_alloc(&the_object, 64, 64);
	map_make((unsigned int) (__stop_spi_funcs - __start_spi_funcs));
	for (r = __start_spi_funcs; r < __stop_spi_funcs; r++) {
		struct test_func *f = &funcs[funcs_count];
		struct spi_point *point = spi_near_alloc(&the_object, sizeof(*point), 64);

		f->record = r;
		f->call = (long (*)(long, void *, long)) r->address;
		f->point = point;
		point->address = r->address;
		point->thunk = (uint64_t) counting_thunk;
		point->payload = &f->calls;
		point->gate[0] = &gates[0];
		point->gate[1] = two_gates ? &gates[1] : &gates[0];
		point->object = &the_object;
		point->map = &the_map;
		point->func = func_make(r, funcs_count);
		if (spi_patch_prepare(point, &f->declined) == 0)
			f->declined = NULL;
		funcs_count++;
	}
}

int funcs_call(struct test_func *f, long x)
{
	long n = (x & 7) + 1, got, want = f->record->k;

	/* some want r8 = 0 or r9 = n besides: set them here, as no C call would */
	__asm__ __volatile__("xor %%r8d, %%r8d\n\tmov %%rdx, %%r9\n\tmov %%rdi, %%rax\n\tlea (%%rax,%%rax,2), %%rax\n\t"
		"call *%[f]"
		: "=&a"(got), "+d"(n)
		: "D"(x), "S"(&helper_pointer), [f] "b"(f->call)
		: "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
	switch (f->record->value) {
	case VALUE_3X:
		want += 3 * x;
		break;
	case VALUE_X:
		want = x;
		break;
	case VALUE_0:
		want = 0;
		break;
	case VALUE_3N:
		want += 3 * ((x & 7) + 1);
		break;
	}
	return got == want;
}

int funcs_all(int install)
{
	struct spi_point *points[FUNCS_MAX];
	const char *errors[FUNCS_MAX];
	static unsigned int complaints;
	unsigned int n = 0;
	int changed;

	for (unsigned int i = 0; i < funcs_count; i++)
		if (!funcs[i].declined)
			points[n++] = funcs[i].point;
	changed = install ? spi_patch_install(points, n, errors) : spi_patch_remove(points, n, errors);
	for (unsigned int i = 0; i < n; i++)
		if (errors[i] && complaints++ < 10)
			printf("# %s: %s\n", install ? "install" : "remove", errors[i]);
	return changed;
}

int text_is_original(void)
{
	return memcmp(text_before, funcs_text, (size_t) (funcs_text_end - funcs_text)) == 0;
}

static int tests, failures;

void ok(int good, const char *format, ...)
{
	va_list args;

	printf("%sok %d - ", good ? "" : "not ", ++tests);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	failures += !good;
}

int done_testing(void)
{
	printf("1..%d\n", tests);
	return failures != 0;
}

double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec * 1e-9;
}
