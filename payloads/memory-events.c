/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Events of the payload `memory`, and what calls of the functions that it knows are in them.
 *
 * spi_resource:process comes first in each process, and says what the program had before: constructors of libraries run
 * before the agent's.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "payloads/memory-events.h"
#include "payloads/memory.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define PAGE		4096u
#define HEAP_MARK	65536u		/* bytes: such a block comes from the heap's end */

static uint32_t frames;		/* of a backtrace; 0: none */

/* ---- events ---- */

static struct {
	struct spi_record *malloc, *calloc, *realloc, *free, *memalign, *posix_memalign;
	struct spi_record *process, *mmap, *munmap, *mremap, *brk, *open, *close, *close_range, *thread_create,
		*thread_join, *thread_detach;
} events;

#define UNSIGNED(name)	{ name, SPI_RECORD_UNSIGNED }
#define HEX(name)	{ name, SPI_RECORD_HEX }
#define INT(name)	{ name, SPI_RECORD_INT }
#define TEXT(name)	{ name, SPI_RECORD_TEXT }
#define FIELDS_MOST	6u

static const struct event {
	struct spi_record **to;
	const char *name;
	int is_got;		/* with a backtrace, where that is asked for */
	struct spi_record_field fields[FIELDS_MOST];
} memory_events[] = {	/* as liblttng-ust-libc-wrapper has them */
	{ &events.malloc, "malloc", 1, { UNSIGNED("size"), HEX("ptr") } },
	{ &events.calloc, "calloc", 1, { UNSIGNED("nmemb"), UNSIGNED("size"), HEX("ptr") } },
	{ &events.realloc, "realloc", 1, { HEX("in_ptr"), UNSIGNED("size"), HEX("ptr") } },
	{ &events.free, "free", 0, { HEX("ptr") } },
	{ &events.memalign, "memalign", 1, { UNSIGNED("alignment"), UNSIGNED("size"), HEX("ptr") } },
	{ &events.posix_memalign, "posix_memalign", 1,
		{ HEX("out_ptr"), UNSIGNED("alignment"), UNSIGNED("size"), INT("result") } },
}, resource_events[] = {
	{ &events.process, "process", 0, { INT("begun"), INT("parent"), HEX("heap_low"), HEX("heap_mark"),
		UNSIGNED("in_use") } },
	{ &events.mmap, "mmap", 1, { HEX("addr"), UNSIGNED("length"), INT("prot"), INT("flags"), INT("fd") } },
	{ &events.munmap, "munmap", 0, { HEX("addr"), UNSIGNED("length") } },
	{ &events.mremap, "mremap", 1, { HEX("old_addr"), UNSIGNED("old_length"), HEX("addr"), UNSIGNED("length") } },
	{ &events.brk, "brk", 1, { HEX("addr") } },
	{ &events.open, "open", 1, { INT("fd"), TEXT("function"), TEXT("name") } },
	{ &events.close, "close", 0, { INT("fd") } },
	{ &events.close_range, "close_range", 0, { UNSIGNED("first"), UNSIGNED("last") } },
	{ &events.thread_create, "thread_create", 1, { HEX("thread"), HEX("start"), INT("detached") } },
	{ &events.thread_join, "thread_join", 0, { HEX("thread") } },
	{ &events.thread_detach, "thread_detach", 0, { HEX("thread") } },
};

static int events_add(struct spi_agent *agent, const char *provider, const struct event *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct spi_record_field fields[FIELDS_MOST];
		size_t n = 0;

		for (; n < FIELDS_MOST && list[i].fields[n].name; n++)
			fields[n] = list[i].fields[n];
		if (frames && list[i].is_got)
			fields[n++] = (struct spi_record_field) { "backtrace", SPI_RECORD_ADDRESSES };
		*list[i].to = spi_agent_add_record(agent, provider, list[i].name, fields, n);
		if (!*list[i].to)
			return -ENOMEM;
	}
	return 0;
}

int memory_events_add(struct spi_agent *agent, uint32_t frames_asked, int has_memory)
{
	frames = frames_asked;
	if (has_memory && events_add(agent, "lttng_ust_libc", memory_events, COUNT(memory_events)) < 0)
		return -ENOMEM;
	return events_add(agent, "spi_resource", resource_events, COUNT(resource_events));
}

int memory_frames_set(uint32_t asked)
{
	if (!asked != !frames)
		return -EBUSY;
	frames = asked;
	return 0;
}

/* ---- writing ---- */

static void write_plain(struct spi_call *call, struct spi_record *record, const uint64_t *values)
{
	spi_record_write(record, spi_call_return_address(call), values, NULL, 0);
}

static void write_got(struct spi_call *call, struct spi_record *record, const uint64_t *values)
{
	uint64_t addresses[frames ? frames : 1];
	const uint64_t ip = spi_call_return_address(call);
	size_t n = 0;

	if (!spi_record_is_on(record))
		return;
	if (frames) {
		n = spi_call_backtrace(call, addresses, frames);
		if (!n) {
			addresses[0] = ip;
			n = 1;
		}
	}
	spi_record_write(record, ip, values, addresses, n);
}

/* ---- the process ---- */

enum begun { FROM_ITS_START, ATTACHED, FORKED };	/* of the event */

static struct told {		/* a forked child has it zeroed */
	uint32_t is_told, is_known;
} *told;
static uint32_t is_attached, is_over;
static uint64_t heap_low, heap_mark;	/* what malloc() had from brk() before lies between the two */
static uint64_t in_use;			/* bytes */

static void heap_look(void)
{
	void *mark = malloc(HEAP_MARK);
	const struct mallinfo2 info = mallinfo2();
	const uint64_t top = (uint64_t) sbrk(0);

	in_use = info.uordblks + info.hblkhd;
	in_use -= in_use < HEAP_MARK ? in_use : HEAP_MARK;
	if ((uint64_t) mark < top && (uint64_t) mark >= top - info.arena) {
		heap_low = top - info.arena;
		heap_mark = (uint64_t) mark;
	}
	free(mark);
}

int memory_process_begin(int is_injected)
{
	told = own_memory(sizeof(*told));
	if (!told)
		return -ENOMEM;
	told->is_known = 1;
	is_attached = (uint32_t) is_injected;
	heap_look();
	return 0;
}

void memory_process_over(void)
{
	is_over = 1;
}

/* A program that could not be executed is no end: no rule comes then. */
void memory_process_goes_on(void)
{
	if (!is_over)
		return;
	is_over = 0;
	is_attached = told->is_known = 1;
	heap_look();
	told->is_told = 0;
}

void memory_process_tell(struct spi_call *call)
{
	const int is_forked = !told->is_known;

	if (__atomic_load_n(&told->is_told, __ATOMIC_RELAXED) || !spi_record_is_on(events.process) ||
			__atomic_exchange_n(&told->is_told, 1, __ATOMIC_RELAXED))
		return;
	write_plain(call, events.process, (const uint64_t[]) { is_forked ? FORKED : is_attached ? ATTACHED : FROM_ITS_START,
		(uint32_t) getppid(), heap_low, heap_mark, is_forked ? 0 : in_use });
}

/* ---- calls ---- */

void memory_given_back(struct spi_call *call, const struct known *k, const uint64_t *a)
{
	const uint64_t from_on[] = { a[0], UINT32_MAX }, range[] = { (uint32_t) a[0], (uint32_t) a[1] };

	switch (k->what) {
	case FREE:
		if (a[k->first])
			write_plain(call, events.free, &a[k->first]);
		break;
	case MUNMAP:
		write_plain(call, events.munmap, a);
		break;
	case CLOSE:
		write_plain(call, events.close, a);
		break;
	case CLOSE_RANGE:
		if (!(a[2] & ~UINT64_C(2)))	/* not CLOSE_RANGE_CLOEXEC */
			write_plain(call, events.close_range, range);
		break;
	case CLOSE_FROM:
		write_plain(call, events.close_range, from_on);
		break;
	}
}

static void allocated(struct spi_call *call, const struct known *k, const uint64_t *a, uint64_t result)
{
	const uint64_t first = a[k->first], second = a[k->second];

	switch (k->what) {
	case MALLOC:
		write_got(call, events.malloc, (const uint64_t[]) { first, result });
		break;
	case CALLOC:
		write_got(call, events.calloc, (const uint64_t[]) { first, second, result });
		break;
	case REALLOC:
		write_got(call, events.realloc, (const uint64_t[]) { first, second, result });
		break;
	case REALLOCARRAY:
		write_got(call, events.realloc, (const uint64_t[]) { first, second * a[2], result });
		break;
	case MEMALIGN:
		write_got(call, events.memalign, (const uint64_t[]) { first, second, result });
		break;
	case PAGES:
		write_got(call, events.memalign, (const uint64_t[]) { PAGE, first, result });
		break;
	case POSIX_MEMALIGN:	/* an error leaves *memptr as it was */
		write_got(call, events.posix_memalign, (const uint64_t[]) {
			(int) result ? 0 : *(const uint64_t *) first, second, a[2], (uint32_t) result });
		break;
	}
}

static void mapped(struct spi_call *call, const struct known *k, const uint64_t *a, uint64_t result)
{
	const int failed = result == (uint64_t) MAP_FAILED;

	if (k->what == MMAP && !failed)
		write_got(call, events.mmap, (const uint64_t[]) { result, a[1], a[2], a[3], a[4] });
	else if (k->what == MREMAP && !failed)
		write_got(call, events.mremap, (const uint64_t[]) { a[0], a[1], result, a[2] });
	else if (k->what == BRK && !(int) result)
		write_got(call, events.brk, a);
	else if (k->what == SBRK && !failed && a[0])
		write_got(call, events.brk, (const uint64_t[]) { result + a[0] });
}

static void opened(struct spi_call *call, const struct known *k, const uint64_t *a, int result)
{
	const uint64_t function = (uint64_t) k->name;
	const int *pair = (const int *) a[k->first];

	if (result < 0 || (k->what == SIGNALFD && (int) a[0] >= 0))
		return;
	if (k->what == FCNTL && (int) a[1] != F_DUPFD && (int) a[1] != F_DUPFD_CLOEXEC)
		return;
	if (k->what != PAIR) {
		write_got(call, events.open, (const uint64_t[]) { (uint32_t) result, function,
			k->what == OPEN ? a[k->first] : 0 });
		return;
	}
	write_got(call, events.open, (const uint64_t[]) { (uint32_t) pair[0], function, 0 });
	write_got(call, events.open, (const uint64_t[]) { (uint32_t) pair[1], function, 0 });
}

void memory_returned(struct spi_call *call, const struct known *k, const uint64_t *a, uint64_t result)
{
	switch (k->what) {
	case MALLOC ... PAGES:
		allocated(call, k, a, result);
		break;
	case MMAP ... SBRK:
		mapped(call, k, a, result);
		break;
	case OPEN ... PAIR:
		opened(call, k, a, (int) result);
		break;
	case THREAD_CREATE:
		if (!(int) result)
			write_got(call, events.thread_create, (const uint64_t[]) {
				*(const uint64_t *) a[0], a[2], a[1] });
		break;
	case THREAD_JOIN:
		if (!(int) result)
			write_plain(call, events.thread_join, a);
		break;
	case THREAD_DETACH:
		if (!(int) result)
			write_plain(call, events.thread_detach, a);
		break;
	}
}
