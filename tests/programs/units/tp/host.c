/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The stand-in core (host.h): plain memory for "near" memory, process_vm_readv()
 * for safe reads, and a slot stack without chunks.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include "host.h"

#define SLOTS_A_THREAD	16384u
#define THREADS		64u

__thread struct spi_thread spi_thread __attribute__((tls_model("initial-exec"))) = { .owed = SPI_THREAD_MARK };
uint8_t spi_slot_code_base[SPI_SLOT_COUNT * 64ull];
struct spi_slot spi_slot_data_base[SPI_SLOT_COUNT];

uint32_t spi_client_trees;
const struct spi_payload_ops *host_ops;
struct spi_object host_object = { .name = "host" };
uint32_t host_near_fails;
int host_fast_strings;
uint64_t host_missed;
char host_notes[4096];
__thread uint8_t host_vectors[16][16];

static struct spi_thread_record records[THREADS];
static struct spi_thread_own owns[THREADS];
static uint32_t threads;
static __thread uint8_t *stack_high;

/* ---- what the module calls ---- */

struct spi_slot *spi_thread_slow(uint64_t p)
{
	struct spi_thread *t = &spi_thread;

	if (!t->cur) {
		uint32_t number = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);

		if (number >= THREADS)
			abort();
		t->base = t->cur = spi_slot_data_base + number * SLOTS_A_THREAD;
		t->end = t->base + SLOTS_A_THREAD;
		t->record = &records[number];
		t->own = &owns[number];
		for (struct spi_slot *s = t->base; s < t->end; s++) {
			s->p = SPI_SLOT_DEAD;
			s->state = SPI_SLOT_LIVE;
		}
	}
	while (t->cur > t->base && t->cur[-1].p < p)
		host_left(t->cur - 1, SPI_LEFT_JUMPED);
	return t->cur == t->end ? NULL : t->cur;
}

enum spi_lost spi_slots_lack(void)
{
	return SPI_LOST_OPEN;
}

void spi_call_missed(enum spi_lost why)
{
	host_missed++;
}

int spi_thread_nested(uint64_t p)
{
	return 0;
}

int spi_format(char *buffer, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(buffer, size, format, args);
	va_end(args);
	return n;
}

int spi_proc_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0 ? 0 : -1;
}

int spi_thread_may(uint64_t p)
{
	spi_thread.owed &= ~SPI_THREAD_NEW;
	return 1;
}

void spi_slot_pop_slow(struct spi_slot *slot, uint64_t p)
{
	abort();		/* calls of these tests end in order */
}

struct spi_slot *spi_slot_claim(uint64_t p)
{
	abort();		/* nobody interrupts */
}

void spi_slot_leave_above(struct spi_slot *slot)
{
	while (spi_thread.cur - 1 > slot)
		host_left(spi_thread.cur - 1, SPI_LEFT_JUMPED);
}

static void *core_alloc(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void *core_near_alloc(struct spi_object *object, size_t size, size_t align)
{
	if (host_near_fails) {
		host_near_fails--;
		return NULL;
	}
	return memset(aligned_alloc(align, (size + align - 1) / align * align), 0, size);
}

static void core_note(const char *format, ...)
{
	size_t n = strlen(host_notes);
	va_list args;

	va_start(args, format);
	vsnprintf(host_notes + n, sizeof(host_notes) - n - 1, format, args);
	va_end(args);
	strcat(host_notes, "\n");
}

static int core_memory_copy(void *dst, uint64_t src, size_t n)
{
	struct iovec to = { dst, n }, from = { (void *) src, n };

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t) n ? 0 : -EFAULT;
}

static long core_string_copy(char *dst, uint64_t src, size_t max, int *truncated)
{
	size_t n = 0;

	*truncated = 0;
	if (host_fast_strings) {
		n = strnlen((const char *) src, max - 1);
		memcpy(dst, (const char *) src, n);
		dst[n] = '\0';
		return (long) n;
	}
	while (n < max - 1) {
		size_t piece = 4096 - (src + n) % 4096;

		if (piece > max - 1 - n)
			piece = max - 1 - n;
		if (core_memory_copy(dst + n, src + n, piece) < 0) {
			if (!n)
				return -EFAULT;
			break;
		}
		for (size_t i = 0; i < piece; i++)
			if (!dst[n + i])
				return (long) (n + i);
		n += piece;
	}
	dst[n] = '\0';
	*truncated = 1;
	return (long) n;
}

/* As exit() reaches it, through the module's destructor. */
static void core_process_end(void)
{
	static int ended;
	struct spi_thread *t = &spi_thread;

	if (ended++ || !host_ops)
		return;
	while (t->cur > t->base)
		host_left(t->cur - 1, SPI_LEFT_PROCESS_END);
	host_ops->thread_end(t);
	host_ops->fini();
}

static int has_room(int has_memory)
{
	return 1;
}

static int function_of(const struct spi_point *point, struct spi_function *f)
{
	return -1;
}

static void functions_ask(void)
{
}

static int within_lttng(uint64_t p)
{
	(void) p;
	return 0;
}

static const struct spi_core_ops core = {
	.within_lttng = within_lttng,
	.has_room = has_room,
	.function_of = function_of,
	.functions_ask = functions_ask,
	.abi = SPI_PAYLOAD_ABI,
	.size = sizeof(core),
	.near_alloc = core_near_alloc,
	.alloc = core_alloc,
	.note = core_note,
	.string_copy = core_string_copy,
	.memory_copy = core_memory_copy,
	.process_end = core_process_end,
};

void host_start(void)
{
	const char *path = getenv("SPI_TP_MODULE"), *error = "?";
	void *module = dlopen(path, RTLD_NOW);
	spi_payload_init_fn init = module ? (spi_payload_init_fn) dlsym(module, "spi_payload_init") : NULL;

	if (!init) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	host_ops = init(&core, &error);
	if (!host_ops) {
		fprintf(stderr, "%s: %s\n", path, error);
		exit(1);
	}
}

/* ---- code maps ---- */

static struct {
	struct spi_map_header head;
	struct spi_map_func funcs[20000];
	struct spi_map_field fields[20000];
	struct spi_map_enum enums[64];
	struct spi_map_label labels[4096];
	char strings[1 << 20];
} *made;
static struct spi_map map;

static uint32_t map_string(const char *s)
{
	uint32_t at = made->head.strings.count;

	if (!s || !*s)
		return 0;
	if (at + strlen(s) + 1 > sizeof(made->strings))
		abort();
	memcpy(made->strings + at, s, strlen(s) + 1);
	made->head.strings.count += (uint32_t) strlen(s) + 1;
	return at;
}

static void map_begin(void)
{
	if (made)
		return;
	made = core_alloc(sizeof(*made));
	made->head.strings = (struct spi_map_span) { offsetof(__typeof__(*made), strings), 1, 1 };
	made->head.funcs = (struct spi_map_span) { offsetof(__typeof__(*made), funcs), 0, sizeof(struct spi_map_func) };
	made->head.fields = (struct spi_map_span){offsetof(__typeof__(*made), fields), 0, sizeof(struct spi_map_field)};
	made->head.enums = (struct spi_map_span) { offsetof(__typeof__(*made), enums), 0, sizeof(struct spi_map_enum) };
	made->head.labels = (struct spi_map_span){offsetof(__typeof__(*made), labels), 0, sizeof(struct spi_map_label)};
	map.head = &made->head;
	map.size = sizeof(*made);
}

static uint32_t map_enum(const struct host_field *f)
{
	struct spi_map_enum *e;

	if (!f->labels)
		return SPI_MAP_NONE;
	e = &made->enums[made->head.enums.count];
	e->name = map_string(f->enum_name);
	e->label_first = made->head.labels.count;
	e->label_count = f->label_count;
	for (uint32_t i = 0; i < f->label_count; i++) {
		struct spi_map_label *l = &made->labels[made->head.labels.count++];

		l->value = f->labels[i].value;
		l->name = map_string(f->labels[i].name);
	}
	return made->head.enums.count++;
}

static void map_field(const struct host_field *f, uint32_t param)
{
	struct spi_map_field *m = &made->fields[made->head.fields.count++];

	m->name = map_string(f->name);
	m->kind = f->kind;
	m->place = f->place;
	m->reg = f->reg;
	m->size = f->size;
	m->is_signed = f->is_signed;
	m->base = f->base ? f->base : 10;
	m->bit_offset = f->bit_offset;
	m->bit_size = f->bit_size;
	m->offset = f->offset;
	m->length = f->length;
	m->enum_index = map_enum(f);
	m->param = param;
}

void host_points(const struct host_func *funcs, unsigned int n, uint32_t flags, struct spi_point **points)
{
	static uint64_t next = 0x400000;

	map_begin();
	for (unsigned int i = 0; i < n; i++) {
		struct spi_map_func *func = &made->funcs[made->head.funcs.count++];
		struct spi_point *point = calloc(1, sizeof(*point));

		func->vaddr = next;
		func->field_first = made->head.fields.count;
		func->field_count = (uint16_t) funcs[i].field_count;
		func->ret_count = (uint16_t) funcs[i].result_count;
		for (uint32_t k = 0; k < funcs[i].field_count; k++)
			map_field(&funcs[i].fields[k], k);
		for (uint32_t k = 0; k < funcs[i].result_count; k++)
			map_field(&funcs[i].results[k], 0);
		point->address = next;
		point->object = &host_object;
		point->func = func;
		point->map = &map;
		point->flags = flags;
		point->event_name = funcs[i].name;
		points[i] = point;
		next += 16;
	}
}

void host_bind(const struct host_func *funcs, unsigned int n, uint32_t flags, struct spi_point **points)
{
	const char **errors = calloc(n, sizeof(*errors));
	int r;

	host_points(funcs, n, flags, points);
	r = host_ops->bind(points, n, errors);
	for (unsigned int i = 0; i < n; i++)
		if (errors[i])
			fprintf(stderr, "%s: %s\n", funcs[i].name, errors[i]);
	if (r != (int) n) {
		fprintf(stderr, "bind: %d of %u\n", r, n);
		exit(1);
	}
	free(errors);
}

/* ---- calls ---- */

struct host_frame *host_frame(unsigned int depth)
{
	if (!stack_high) {
		size_t size = (SLOTS_A_THREAD + 16) * sizeof(struct host_frame);

		stack_high = (uint8_t *) core_alloc(size) + size;
	}
	return (struct host_frame *) stack_high - 1 - depth;
}

struct spi_slot *host_enter(struct spi_point *point, struct host_frame *frame)
{
	uint64_t code;

	if (!*point->gate[0] && !*point->gate[1])
		return NULL;
	code = point->entry(point, &frame->f, host_vectors[0], 16);
	if (!code)
		return NULL;
	return (struct spi_slot *) ((uint64_t) spi_slot_data_base + (code - (uint64_t) spi_slot_code_base));
}

void host_leave(struct spi_slot *slot, struct host_frame *frame)
{
	if (slot)
		slot->point->exit(slot, &frame->f, host_vectors[0], 16);
}

void host_left(struct spi_slot *slot, enum spi_left how)
{
	if (!slot)
		return;
	spi_thread.busy++;
	slot->point->left(slot, how);
	spi_thread.busy--;
	spi_slot_pop(&spi_thread, slot);
}

struct spi_thread_count host_count(void)
{
	struct spi_thread_count all = { 0 };

	for (uint32_t i = 0; i < THREADS; i++) {
		const uint64_t *from = (const uint64_t *) &records[i].count;
		uint64_t *to = (uint64_t *) &all;

		for (size_t k = 0; k < sizeof(all) / 8; k++)
			to[k] += from[k];
	}
	return all;
}

void host_thread_end(void)
{
	host_ops->thread_end(&spi_thread);
}
