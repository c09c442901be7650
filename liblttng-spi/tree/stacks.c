/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A tree that begins in the middle of a program: from the functions that are on
 * its threads' stacks.
 *
 * No thread is stopped or unwound. A stack is read as it is, and every word that
 * is a return address of a call site stands for a call that may be under way: the
 * function around it gets its sites. A word that was left behind by an earlier
 * call makes a function ready that need not have been: that does no harm. What
 * moves on while it is being looked at is found the second time.
 *
 * Where a thread's stack is follows from its stack pointer, which the kernel tells
 * of one that waits. One that runs all the time is met by its libc descriptor,
 * which stands at the upper end of the mapping. The first thread's stack is
 * where the kernel put its random bytes.
 */
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/internal.h"

#define ASKS		40u
#define ASK_NS		UINT64_C(250000)
#define DESCRIPTOR_ROOM	0x4000u		/* below a mapping's end, in which a thread's descriptor is looked for */
#define BLOCK		512u		/* words read at a time */
#define FOUND_MAX	1024u		/* functions on stacks that are remembered */
#define STACK_MOST	(UINT64_C(64) << 20)
#define MAPPINGS	16384u		/* read once for all threads; thousands of them have as many stacks */

struct look {
	uint32_t tree, found;
	uint64_t low, high;		/* is there a return address of main(), whose bytes these are? 0: take what is found */
	uint64_t entry;			/* _start(), which the kernel puts on the stack; it may stand right behind a call in main() */
};

uint64_t spi_tree_stack_from;

/* Is the address one that some call of the function returns to? */
static int is_return_address(const struct spi_tree_object *to, const struct spi_map_func *func, uint64_t address)
{
	uint64_t vaddr = address - to->object->bias;

	for (uint32_t i = func->site_first; i < func->site_first + func->site_count; i++) {
		const struct spi_map_site *site = SPI_MAP_AT(&to->map, sites, struct spi_map_site, i);

		if (site->vaddr + site->size == vaddr)
			return 1;
		if (site->vaddr > vaddr)
			break;
	}
	return 0;
}

/* What was found on stacks: who asks later may be any thread. A place is whole before it is counted. */
static struct on_stack {
	uint64_t address;
	uint32_t trees;
} *on_stacks;
static uint32_t on_stack_count;

static void on_stack_add(uint32_t tree, uint64_t address)
{
	if (!on_stacks)
		on_stacks = spi_map_pages(FOUND_MAX * sizeof(*on_stacks));
	for (uint32_t i = 0; on_stacks && i < on_stack_count; i++)
		if (on_stacks[i].address == address) {
			__atomic_fetch_or(&on_stacks[i].trees, tree, __ATOMIC_RELEASE);
			return;
		}
	if (!on_stacks || on_stack_count == FOUND_MAX)
		return;
	on_stacks[on_stack_count] = (struct on_stack) { address, tree };
	__atomic_store_n(&on_stack_count, on_stack_count + 1, __ATOMIC_RELEASE);
}

uint32_t spi_tree_stack_functions(uint32_t trees, uint64_t *addresses, uint32_t room)
{
	const uint32_t count = __atomic_load_n(&on_stack_count, __ATOMIC_ACQUIRE);
	uint32_t n = 0;

	for (uint32_t i = 0; i < count && n < room; i++)
		if (__atomic_load_n(&on_stacks[i].trees, __ATOMIC_ACQUIRE) & trees)
			addresses[n++] = on_stacks[i].address;
	return n;
}

static void take_function(struct look *look, struct spi_tree_object *to, uint64_t func)
{
	on_stack_add(look->tree, spi_tree_map_func(to, func)->vaddr + to->object->bias);
	if ((to->funcs[func].excluded | to->funcs[func].done) & look->tree)
		return;
	spi_sites_place_held(to, func, look->tree);
	look->found += (to->funcs[func].done & look->tree) != 0;
}

static void look_at_word(struct look *look, uint64_t word, int is_pc)
{
	const struct spi_slot *slot = spi_slot_of_word(word);
	struct spi_tree_object *to;
	int64_t func;

	if (word < 4096 || (!is_pc && word == look->entry))
		return;
	if (slot)
		word = slot->ra;
	to = spi_tree_object_at(word - 1);
	func = to ? spi_tree_func_around(to, word - !is_pc) : -1;
	if (func < 0 || !spi_tree_func_is_good(to, (uint64_t) func) || (!is_pc && !is_return_address(to, spi_tree_map_func(to, (uint64_t) func), word)))
		return;
	if (look->high) {
		look->found += word > look->low && word <= look->high;
		return;
	}
	if (to->covered & look->tree)
		take_function(look, to, (uint64_t) func);
}

static void look_at_words(struct look *look, uint64_t low, uint64_t high)
{
	static uint64_t words[BLOCK];	/* control side */

	for (low &= ~UINT64_C(7); low < high; low += sizeof(words)) {
		uint64_t size = high - low < sizeof(words) ? high - low : sizeof(words);

		if (spi_memory_copy(words, low, size) < 0)
			continue;
		for (uint64_t i = 0; i < size / 8; i++)
			if (words[i])
				look_at_word(look, words[i], 0);
	}
}

/* Control side. By address, as far as there is room; one that has come since is not there. */
static struct {
	uint64_t start, end;
} mappings[MAPPINGS];
static uint32_t mapping_count;

static void mappings_read(void)
{
	struct spi_maps maps;
	struct spi_vma vma;

	mapping_count = 0;
	if (spi_maps_open(&maps) < 0)
		return;
	while (mapping_count < MAPPINGS && spi_maps_next(&maps, &vma)) {
		mappings[mapping_count].start = vma.start;
		mappings[mapping_count++].end = vma.end;
	}
	spi_maps_close(&maps);
}

static int mapping_find(uint64_t address, struct spi_vma *vma)
{
	uint32_t low = 0, high = mapping_count;

	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (address >= mappings[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == mapping_count || address < mappings[low].start)
		return spi_maps_find(address, vma, NULL, 0);
	vma->start = mappings[low].start;
	vma->end = mappings[low].end;
	return 1;
}

static void look_at_stack(struct look *look, uint64_t sp)
{
	struct spi_vma vma;

	if (!mapping_find(sp, &vma))
		return;
	if (vma.end - sp > STACK_MOST)
		vma.end = sp + STACK_MOST;
	look_at_words(look, sp, vma.end);
}

/* ---- threads ---- */

/* The stack of a thread that runs: the mapping at whose upper end its descriptor stands, which begins with its address twice. */
static int stack_by_descriptor(int tid, struct spi_vma *vma)
{
	int32_t tid_at = spi_tracer_threads_tid_at();
	struct spi_maps maps;
	int found = 0;

	if (tid_at < 0 || spi_maps_open(&maps) < 0)
		return 0;
	while (!found && spi_maps_next(&maps, vma)) {
		if (vma->prot != (PROT_READ | PROT_WRITE))
			continue;
		for (uint64_t at = vma->end - 64; at >= vma->start && at > vma->end - DESCRIPTOR_ROOM && !found; at -= 64) {
			uint64_t head[3];
			int32_t id;

			if (spi_memory_copy(head, at, sizeof(head)) < 0)
				break;
			found = head[0] == at && head[2] == at &&
				spi_memory_copy(&id, at + (uint64_t) tid_at, sizeof(id)) == 0 && id == tid;
		}
	}
	spi_maps_close(&maps);
	return found;
}

static void look_at_thread(struct look *look, const struct spi_numbers *task)
{
	int id = task->number, is_first = id == (int) spi_sys(SYS_getpid);
	struct spi_vma vma;
	uint64_t sp = 0, pc = 0;

	if (id == (int) spi_sys(SYS_gettid) || (look->high && !is_first))
		return;
	for (unsigned int i = 0; i < ASKS && !sp; i++) {
		uint64_t pause[2] = { 0, ASK_NS };

		if (i)
			spi_sys(SYS_nanosleep, pause, NULL);
		sp = spi_task_stack_pointer(task, &pc);
	}
	if (sp) {
		look_at_word(look, pc, 1);
		look_at_stack(look, sp);
	} else if (is_first ? spi_maps_find(getauxval(AT_RANDOM), &vma, NULL, 0) : stack_by_descriptor(id, &vma)) {
		look_at_words(look, vma.end - vma.start > STACK_MOST ? vma.end - STACK_MOST : vma.start, vma.end);
	}
}

static void look_at_threads(struct look *look)
{
	struct spi_numbers task;

	if (spi_numbers_open(&task, "/proc/self/task") < 0)
		return;
	mappings_read();
	while (spi_numbers_next(&task))
		look_at_thread(look, &task);
	mapping_count = 0;	/* the next look may be long after this one */
	spi_numbers_close(&task);
}

uint32_t spi_tree_stacks_look(uint32_t tree)
{
	struct look look = { .tree = tree, .entry = getauxval(AT_ENTRY) };

	for (uint32_t i = 0; i < on_stack_count; i++)	/* another tree had this bit */
		__atomic_fetch_and(&on_stacks[i].trees, ~tree, __ATOMIC_RELEASE);
	if (!spi_thread_is_tracer())	/* a payload file is being loaded in a thread of the program */
		look_at_stack(&look, spi_tree_stack_from ? spi_tree_stack_from : (uint64_t) __builtin_frame_address(0));
	look_at_threads(&look);
	look_at_threads(&look);
	return look.found;
}

/* The agent came before main(): in lttng-ust's constructor, or at the program's first instruction. */
static int came_early(void)
{
	return spi_attached_early || (spi_link_current && spi_link_current->hello_flags & SPI_HELLO_WAITS);
}

int spi_tree_main_begun(void)
{
	uint64_t address = spi_tree_find_main();
	struct spi_tree_object *to = address ? spi_tree_object_at(address) : NULL;
	int64_t func = to ? spi_tree_func_at(to, address) : -1;
	struct look look = { .low = address, .entry = getauxval(AT_ENTRY) };
	uint64_t sp = (uint64_t) __builtin_frame_address(0);
	struct spi_vma vma;

	/* rules come on the first thread before main(), and afterwards on the control thread */
	if (spi_env.preloaded && !spi_attached_early)
		return spi_sys(SYS_gettid) != spi_sys(SYS_getpid);
	if (func < 0 || !came_early())
		return 1;
	look.high = address + spi_tree_map_func(to, (uint64_t) func)->size;
	if (spi_sys(SYS_gettid) != spi_sys(SYS_getpid))
		look_at_threads(&look);
	else if (spi_maps_find(sp, &vma, NULL, 0))
		look_at_words(&look, sp, vma.end);
	return look.found != 0;
}

int spi_tree_main_runs(void)
{
	const uint64_t address = spi_tree_find_main();
	const struct spi_tree_object *to = address ? spi_tree_object_at(address) : NULL;

	return to && spi_tree_func_at(to, address) >= 0 && spi_tree_main_begun();
}
