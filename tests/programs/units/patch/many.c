/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * many N BASE - N functions made up of what compilers put at entries, in a
 * region like a program's (BASE program: where one that is not position
 * independent lies, or library: among the libraries). How many can be patched,
 * by which worker, what it costs in time, memory and mappings.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "harness.h"

struct beginning {
	int weight;
	struct {
		uint8_t size;
		const char *bytes;
		uint8_t kind, fix;
	} insn[5];
};

/* '?' is a random byte; each is followed by lea k(%rdi,%rdi,2), %rax and what undoes it */
static const struct beginning beginnings[] = {
	{ 20, { { 1, "\x55" }, { 3, "\x48\x89\xe5" }, { 4, "\x48\x83\xec\x20" } } },
	{ 12, { { 4, "\x48\x83\xec\x08" }, { 3, "\x48\x89\xf8" } } },
	{ 10, { { 2, "\x41\x57" }, { 2, "\x41\x56" }, { 2, "\x41\x55" } } },
	{ 10, { { 2, "\x41\x54" }, { 1, "\x55" }, { 3, "\x48\x89\xfd" } } },
	{ 10, { { 1, "\x53" }, { 3, "\x48\x89\xfb" }, { 4, "\x48\x83\xec\x10" } } },
	{ 10, { { 4, "\xf3\x0f\x1e\xfa" }, { 1, "\x55" }, { 3, "\x48\x89\xe5" } } },
	{ 6, { { 3, "\x48\x89\xf8" }, { 7, "\x48\x8d\x0d????", SPI_INSN_RIP, 3 } } },
	{ 6, { { 7, "\x48\x8b\x05????", SPI_INSN_RIP, 3 }, { 3, "\x48\x89\xf8" } } },
	{ 6, { { 3, "\x48\x85\xff" }, { 4, "\x48\x8d\x47?" } } },
	{ 4, { { 2, "\x31\xc0" }, { 3, "\x48\x89\xf8" } } },
	{ 4, { { 5, "\xb8????" }, { 3, "\x48\x89\xf8" } } },
	{ 3, { { 5, "\x0f\xb6\x44\x24\x08" }, { 3, "\x48\x89\xf8" } } },
};

static uint32_t seed = 1;
static uint32_t chance(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

static int is_push(const char *bytes, int size)
{
	uint8_t last = (uint8_t) bytes[size - 1];

	return (size == 1 || (size == 2 && bytes[0] == 0x41)) && last >= 0x50 && last < 0x58;
}

/* Write one function at p with its recipe; returns its size. */
static uint32_t generate(uint8_t *p, struct spi_map_func *func, struct spi_map_insn *insns, uint64_t data)
{
	const struct beginning *b = beginnings;
	uint32_t at = 0, n = 0;
	uint8_t undo[32];
	int undo_at = 32;

	for (int roll = (int) chance(101); (roll -= b->weight) >= 0 && b->weight;)
		b++;
	for (; n < 5 && b->insn[n].size; n++) {
		const char *bytes = b->insn[n].bytes;
		int size = b->insn[n].size;

		insns[n] = (struct spi_map_insn) { .offset = (uint8_t) at, .size = (uint8_t) size, .kind = b->insn[n].kind,
			.fix_offset = b->insn[n].fix };
		for (int i = 0; i < size; i++)
			p[at + i] = bytes[i] == '?' ? (uint8_t) chance(64) : (uint8_t) bytes[i];
		if (b->insn[n].kind == SPI_INSN_RIP) {
			int32_t distance = (int32_t) (data + chance(4000) - ((uint64_t) p + at + size));

			memcpy(p + at + 3, &distance, 4);
		}
		if (is_push(bytes, size)) {
			undo_at -= size;
			memcpy(undo + undo_at, bytes, size);
			undo[undo_at + size - 1] += 8;
		} else if (!memcmp(bytes, "\x48\x83\xec", 3)) {
			undo_at -= 4;
			memcpy(undo + undo_at, bytes, 4);
			undo[undo_at + 2] = 0xc4;
		}
		at += size;
	}
	memcpy(p + at, "\x48\x8d\x04\x7f", 4);		/* lea (%rdi,%rdi,2), %rax */
	at += 4;
	memcpy(p + at, undo + undo_at, 32 - undo_at);
	at += 32 - undo_at;
	p[at++] = 0xc3;
	func->insn_count = (uint8_t) n;
	func->size = at;
	func->entry_size = SPI_MAP_ENTRY_BYTES;
	at = (at + 15 + 16 * chance(3)) & ~15u;
	return at;
}

static long status_of(const char *key)
{
	char line[256];
	long value = -1;
	FILE *file = fopen("/proc/self/status", "r");

	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			value = atol(line + strlen(key) + 1);
	fclose(file);
	return value;
}

static long mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	long n = 0;

	for (int c; (c = getc(file)) != EOF;)
		n += c == '\n';
	fclose(file);
	return n;
}

static struct spi_point **points;
static const char **errors;
static int total;
static uint64_t seen;
extern char counting_thunk[];

static int all_right(void)
{
	int bad = 0;

	for (int i = 0; i < total; i++)
		for (long x = 1; x < 100; x += 40)
			bad += ((long (*)(long)) points[i]->address)(x) != 3 * x;
	return bad == 0;
}

static unsigned int prepare(unsigned int *used)
{
	unsigned int n = 0;

	for (int i = 0; i < total; i++) {
		if (spi_patch_prepare(points[i], &errors[i]) == 0)
			used[spi_patch_worker(points[i])]++;
		n += points[i]->patch != NULL;
	}
	return n;
}

/* Move the prepared ones to the front. */
static int front(void)
{
	int n = 0;

	for (int i = 0; i < total; i++)
		if (points[i]->patch) {
			struct spi_point *p = points[i];

			points[i] = points[n];
			points[n++] = p;
		}
	return n;
}

int main(int argc, char **argv)
{
	int as_program = !strcmp(argv[2], "program"), n, status;
	size_t text_size, data_size = 8192;
	unsigned int used[SPI_WORKER_COUNT_] = { 0 }, prepared;
	struct spi_object object = { .name = "many", .is_exe = as_program };
	struct spi_map_header *head;
	struct spi_map map;
	uint8_t *text, *copy;
	double start, took[4];
	long rss, maps;

	total = atoi(argv[1]);
	text_size = ((size_t) total * 64 + 4095) & ~4095ul;
	text = mmap(as_program ? (void *) 0x400000 : NULL, text_size + data_size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (as_program && text != (void *) 0x400000) {
		ok(1, "# SKIP 0x400000 is taken");
		return done_testing();
	}
	object.low = (uint64_t) text;
	object.high = object.low + text_size + data_size;
	head = calloc(1, sizeof(*head) + (size_t) total * 8 * sizeof(struct spi_map_insn));
	head->insns.offset = sizeof(*head);
	map.head = head;
	points = calloc((size_t) total, sizeof(*points));
	errors = calloc((size_t) total, sizeof(*errors));
	spi_patch_init();
	int *gate = spi_near_alloc(&object, 64, 64);
	struct spi_map_func *func = calloc((size_t) total, sizeof(*func));
	struct spi_map_insn *insns = (struct spi_map_insn *) (head + 1);
	uint8_t *p = text;
	for (int i = 0; i < total; i++) {
		struct spi_point *point = spi_near_alloc(&object, sizeof(*point), 64);

		func[i].insn_first = (uint32_t) i * 8;
		point->address = (uint64_t) p;
		p += generate(p, &func[i], insns + i * 8, (uint64_t) text + text_size);
		point->thunk = (uint64_t) counting_thunk;
		point->payload = &seen;
		point->gate[0] = point->gate[1] = gate;
		point->object = &object;
		point->func = &func[i];
		point->map = &map;
		points[i] = point;
	}
	for (int i = 0; i < total; i++)
		memcpy(func[i].entry, (void *) points[i]->address, SPI_MAP_ENTRY_BYTES);
	mprotect(text, text_size, PROT_READ | PROT_EXEC);
	copy = malloc(text_size);
	memcpy(copy, text, text_size);
	ok(all_right(), "the functions work before");

	rss = status_of("VmRSS");
	maps = mappings();
	start = now();
	prepared = prepare(used);
	took[0] = now() - start;
	printf("# %s: %d functions: jump %u pun %u cc %u trap %u none %u\n", argv[2], total, used[SPI_WORKER_JUMP],
		used[SPI_WORKER_PUN], used[SPI_WORKER_CC], used[SPI_WORKER_TRAP], total - prepared);
	printf("# preparing %.1f us each; %ld kB, %ld page tables, %ld mappings more\n", took[0] / total * 1e6,
		status_of("VmRSS") - rss, status_of("VmPTE"), mappings() - maps);
	ok(prepared >= (unsigned int) total * 99 / 100, "at least 99 %% can be patched");
	ok(mappings() < 32000, "mappings stay bounded");
	n = front();
	start = now();
	ok(spi_patch_install(points, n, errors) == n, "all are installed");
	took[1] = now() - start;
	*gate = 1;
	ok(all_right(), "the functions work while installed");
	ok(seen == (uint64_t) n * 3, "each call was seen");
	start = now();
	ok(spi_patch_remove(points, n, errors) == n, "all are removed");
	took[2] = now() - start;
	printf("# installing %.2f ms, removing %.2f ms\n", took[1] * 1e3, took[2] * 1e3);
	start = now();
	int thousand = n < 1000 ? n : 1000;
	spi_patch_install(points, thousand, errors);
	took[1] = now() - start;
	start = now();
	spi_patch_remove(points, thousand, errors);
	took[2] = now() - start;
	printf("# 1000 of them: installing %.2f ms, removing %.2f ms\n", took[1] * 1e3, took[2] * 1e3);
	ok(memcmp(copy, text, text_size) == 0, "after removal the text is the original");

	/* A child adds points of its own; what it shares with the parent stays as it is. */
	fflush(stdout);
	if (fork() == 0) {
		int bad = 0;

		spi_patch_fork_child();
		for (int i = 0; i < n; i++) {
			spi_patch_forget(&object);
			if (i >= 500)
				break;
			points[i]->patch = NULL;
			bad += spi_patch_prepare(points[i], &errors[i]) != 0;
			bad += spi_patch_install(&points[i], 1, &errors[i]) != 1;
			bad += ((long (*)(long)) points[i]->address)(7) != 21;
		}
		_exit(bad > 25);
	}
	wait(&status);
	ok(status == 0, "a forked child patches on its own");
	ok(spi_patch_install(points, n, errors) == n && all_right(), "the parent's stubs are as they were");
	spi_patch_remove(points, n, errors);
	return done_testing();
}
