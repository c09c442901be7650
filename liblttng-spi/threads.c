/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The call side's slow paths: a thread's first call, its supply of return slots,
 * and finding the calls that ended without returning.
 *
 * Slots come in chunks of 256 from one arena (slots.S). A thread's chunks form a
 * stack; `cur` walks up and down in the top chunk and hops at its ends. A chunk's
 * code is a second mapping of one shared pattern, made when the chunk is first
 * used; its data is initialised then too. Both are kept for ever.
 *
 * A slot whose call was left by longjmp is found when the thread next makes or
 * ends a call: a live slot's return address word stands at its `p`, above the
 * stack pointer of everything the call does, so a call at or above a slot's `p`
 * proves it dead - on one and the same stack. Coroutines and signal stacks break
 * the order, so only slots on the thread's own stack are judged by it; others go
 * when they return, when an unwinder leaves them, or, once the thread runs short
 * of chunks, when their word on the stack is no longer theirs.
 *
 * All of it runs with the program in any state: in signal handlers, under its
 * malloc lock, in constructors. No libc call here takes a lock or allocates; the
 * one exception, pthread_setspecific() for the end-of-thread hook, is made for
 * keys below 32 only, for which libc has room in the thread itself.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <cpuid.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <linux/memfd.h>
#include <fcntl.h>
#include <unistd.h>
#include "liblttng-spi/core.h"

#define CHUNK_SLOTS	256u
#define CHUNK_BYTES	(CHUNK_SLOTS * SPI_SLOT_SIZE)
#define CHUNK_COUNT	(SPI_SLOT_COUNT / CHUNK_SLOTS)
#define CHUNK_NONE	UINT32_MAX
#define TAIL_CHAIN_MAX	256u		/* slots at one stack position before endless tail calls are folded */
#define FOREIGN_LOOK	64u		/* slots of other stacks looked past in search of dead ones */
#define SLOT_HALF	((uint64_t) SPI_SLOT_COUNT * SPI_SLOT_SIZE)

SPI_EXPORT __thread struct spi_thread spi_thread __attribute__((tls_model("initial-exec")));

extern void spi_thunk_entry_inuse(void), spi_thunk_exit_inuse(void);
extern void spi_thunk_entry_xmm(void), spi_thunk_exit_xmm(void);
extern void spi_thunk_entry_ymm(void), spi_thunk_exit_ymm(void);
static uint64_t entry_thunk, exit_thunk;	/* the pair that suits this CPU */
static uint32_t vectors_base;

/* prev: the chunk below in the owner's stack, or the next free one while it is on the free list. */
static struct chunk {
	uint32_t prev;
	uint32_t mapped;
} chunks[CHUNK_COUNT];
static uint64_t free_chunks;		/* tag << 32 | index + 1: a lock-free stack of returned chunks */
static uint32_t next_chunk;		/* never used ones start here */
static uint8_t *slot_pattern;		/* one chunk of code, the source of all mappings */
static struct spi_thread_record *records;
static pthread_key_t end_key;
static int have_end_key;
static uint64_t main_stack_low, main_stack_high;
static int32_t stack_offset = -1;	/* in libc's thread descriptor: {stack block, its size} */
static uint64_t restorers[4];		/* sa_restorer values seen: what a signal frame begins with */

extern void *__libc_stack_end;

/* ---- start ----------------------------------------------------------- */

static void choose_thunks(void)
{
	unsigned int a, b, c, d;
	int has_avx = 0, has_inuse = 0;

	if (__get_cpuid_count(1, 0, &a, &b, &c, &d) && (c & bit_OSXSAVE))
		has_avx = !!(c & bit_AVX);
	if (has_avx && __get_cpuid_count(0xd, 1, &a, &b, &c, &d))
		has_inuse = (a & 4) && (a & 2);		/* XGETBV with ecx = 1; XSAVEC */
	if (has_inuse) {
		entry_thunk = (uint64_t) spi_thunk_entry_inuse;
		exit_thunk = (uint64_t) spi_thunk_exit_inuse;
		vectors_base = 4;
	} else if (has_avx) {
		entry_thunk = (uint64_t) spi_thunk_entry_ymm;
		exit_thunk = (uint64_t) spi_thunk_exit_ymm;
	} else {
		entry_thunk = (uint64_t) spi_thunk_entry_xmm;
		exit_thunk = (uint64_t) spi_thunk_exit_xmm;
	}
}

/*
 * An object that uses no wide registers across calls has nothing in them that
 * its functions' callers could want back: xmm0-15 will do, and XGETBV, 7 ns on
 * some CPUs, is saved.
 */
void spi_thread_thunks(struct spi_point *point, int uses_ymm, int uses_zmm)
{
	if (!uses_ymm && !uses_zmm) {
		point->thunk = (uint64_t) spi_thunk_entry_xmm;
		point->exit_thunk = (uint64_t) spi_thunk_exit_xmm;
		return;
	}
	point->thunk = entry_thunk;
	point->exit_thunk = exit_thunk;
	point->vectors = vectors_base;
	if (uses_zmm && vectors_base)
		point->vectors |= 0xe0;
}

/* rip-relative displacement of an operand that ends `end` bytes into a slot, to the data word at `offset` */
static void put_disp(uint8_t *at, unsigned int end, unsigned int offset)
{
	int32_t disp = (int32_t) (SLOT_HALF + offset - end);

	memcpy(at, &disp, sizeof(disp));
}

static void write_pattern(uint8_t *page)
{
	memset(page, 0xcc, CHUNK_BYTES);
	for (unsigned int i = 0; i < CHUNK_SLOTS; i++) {
		uint8_t *c = page + i * SPI_SLOT_SIZE;

		c[0] = 0xff;
		c[1] = 0x15;
		put_disp(c + 2, 6, offsetof(struct spi_slot, target));
		c[6] = 0xff;
		c[7] = 0x35;
		put_disp(c + 8, 12, offsetof(struct spi_slot, ra));
		c[12] = 0xff;
		c[13] = 0x15;
		put_disp(c + 14, 18, offsetof(struct spi_slot, exit));
		c[18] = 0xc3;
	}
}

static int map_pattern(void)
{
	long fd = spi_sys(SYS_memfd_create, "lttng-spi-slots", MFD_CLOEXEC);
	long rw = -1, rx = -1;

	if (fd < 0)
		return (int) fd;
	if (spi_sys(SYS_ftruncate, fd, CHUNK_BYTES) == 0)
		rw = spi_sys(SYS_mmap, 0L, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
	if (rw > 0 || rw < -4095) {
		write_pattern((uint8_t *) rw);
		spi_sys(SYS_munmap, rw, CHUNK_BYTES);
		rx = spi_sys(SYS_mmap, 0L, CHUNK_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0L);
	}
	spi_sys(SYS_close, fd);
	if (rx < 0 && rx > -4096)
		return (int) rx;
	slot_pattern = (uint8_t *) rx;
	return 0;
}

static void thread_end(void *value);

/* The first thread's stack grows down to its limit; what lies below is not told by any mapping. */
static void find_main_stack(void)
{
	struct rlimit limit;
	uint64_t size = UINT64_C(1) << 36;

	if (spi_sys(SYS_prlimit64, 0L, RLIMIT_STACK, NULL, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		size = limit.rlim_cur;
	main_stack_high = ((uint64_t) __libc_stack_end | 0xfff) + 1;
	main_stack_low = main_stack_high - size;
}

int spi_threads_init(void)
{
	long p;
	int r;

	if (slot_pattern)
		return 0;
	choose_thunks();
	find_main_stack();
	r = map_pattern();
	if (r < 0)
		return r;
	p = spi_sys(SYS_mmap, spi_slot_data_base, SLOT_HALF, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1L, 0L);
	if (p < 0 && p > -4096)
		return (int) p;
	if (pthread_key_create(&end_key, thread_end) == 0)
		have_end_key = end_key < 32;	/* PTHREAD_KEY_2NDLEVEL_SIZE: above, setting one allocates */
	return 0;
}

/*
 * Where libc keeps {stack block, size} of a thread: looked for in this thread's
 * descriptor with the values that pthread_getattr_np() gives for it. Saves every
 * other thread from reading /proc/self/maps.
 */
void spi_threads_learn_stack(void)
{
	pthread_attr_t attr;
	void *low;
	size_t size, guard = 0;
	const uint64_t *words = (const uint64_t *) pthread_self();

	if (stack_offset >= 0 || pthread_getattr_np(pthread_self(), &attr))
		return;
	if (!pthread_attr_getstack(&attr, &low, &size)) {
		uint64_t high = (uint64_t) low + size;

		pthread_attr_getguardsize(&attr, &guard);
		for (int i = 0; i < 2304 / 8; i++)
			if (words[i] && words[i] + words[i + 1] == high && words[i + 1] >= size && words[i + 1] <= size + guard + 65536) {
				stack_offset = i * 8;
				break;
			}
	}
	pthread_attr_destroy(&attr);
}

/* ---- chunks ----------------------------------------------------------- */

static uint32_t chunk_of(const struct spi_slot *slot)
{
	return (uint32_t) ((slot - spi_slot_data_base) / CHUNK_SLOTS);
}

static struct spi_slot *chunk_slots(uint32_t chunk)
{
	return spi_slot_data_base + (size_t) chunk * CHUNK_SLOTS;
}

static int chunk_map(uint32_t chunk)
{
	uint8_t *code = spi_slot_code_base + (size_t) chunk * CHUNK_BYTES;
	struct spi_slot *slots = chunk_slots(chunk);
	/* an old size of 0 makes a second mapping of the same shared pages (mremap(2)) */
	long p = spi_sys(SYS_mremap, slot_pattern, 0L, CHUNK_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, code);

	if (p < 0 && p > -4096)
		return (int) p;
	for (unsigned int i = 0; i < CHUNK_SLOTS; i++)
		slots[i].p = SPI_SLOT_DEAD;
	chunks[chunk].mapped = 1;
	return 0;
}

static uint32_t chunk_get(void)
{
	uint64_t top = __atomic_load_n(&free_chunks, __ATOMIC_ACQUIRE), next;
	uint32_t chunk;

	while ((uint32_t) top) {
		chunk = (uint32_t) top - 1;
		next = ((top >> 32) + 1) << 32 | (uint32_t) (chunks[chunk].prev + 1);
		if (__atomic_compare_exchange_n(&free_chunks, &top, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return chunk;
	}
	chunk = __atomic_fetch_add(&next_chunk, 1, __ATOMIC_RELAXED);
	if (chunk >= CHUNK_COUNT) {
		__atomic_store_n(&next_chunk, CHUNK_COUNT, __ATOMIC_RELAXED);
		return CHUNK_NONE;
	}
	if (!chunks[chunk].mapped && chunk_map(chunk) < 0)
		return CHUNK_NONE;
	return chunk;
}

static void chunk_put(uint32_t chunk)
{
	uint64_t top = __atomic_load_n(&free_chunks, __ATOMIC_ACQUIRE), next;

	do {
		chunks[chunk].prev = (uint32_t) top - 1;	/* 0 becomes CHUNK_NONE */
		next = ((top >> 32) + 1) << 32 | (chunk + 1);
	} while (!__atomic_compare_exchange_n(&free_chunks, &top, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
}

static void thread_use_chunk(struct spi_thread *t, uint32_t chunk, int at_end)
{
	t->base = chunk_slots(chunk);
	t->end = t->base + CHUNK_SLOTS;
	t->cur = at_end ? t->end : t->base;
	t->record->chunk = chunk;
}

static struct spi_slot *thread_top(struct spi_thread *t)
{
	uint32_t prev;

	if (t->cur > t->base)
		return t->cur - 1;
	prev = chunks[chunk_of(t->base)].prev;
	return prev == CHUNK_NONE ? NULL : chunk_slots(prev) + CHUNK_SLOTS - 1;
}

/* Drop the top slot, which is free; hop down when its chunk is used up. */
static void thread_pop(struct spi_thread *t)
{
	if (t->cur == t->base) {
		uint32_t chunk = chunk_of(t->base);

		thread_use_chunk(t, chunks[chunk].prev, 1);
		spi_barrier();
		chunk_put(chunk);
	}
	t->cur[-1].p = SPI_SLOT_DEAD;
	spi_barrier();
	t->cur--;
}

static int on_own_stack(const struct spi_thread *t, uint64_t p)
{
	return p >= t->stack_low && p < t->stack_high;
}

/*
 * May an unwound slot go, seen from a call that is made or ends at p? The
 * unwinder is done with it once something outside of its frame goes on.
 */
static int unwound_is_done(const struct spi_thread *t, const struct spi_slot *slot, uint64_t p)
{
	if (p == SPI_SLOT_DEAD - 1)
		return 1;			/* the thread ends */
	if (slot->p > p)
		return 0;
	return on_own_stack(t, p) ? on_own_stack(t, slot->p) : p - slot->p < 65536;
}

/* Drop what is free at the top; p as for unwound_is_done(). */
static void thread_pop_free(struct spi_thread *t, uint64_t p)
{
	struct spi_slot *top;

	while ((top = thread_top(t)) && top->p != SPI_SLOT_DEAD &&
			(top->state == SPI_SLOT_FREE || (top->state == SPI_SLOT_UNWOUND && unwound_is_done(t, top, p))))
		thread_pop(t);
}

/* ---- a thread's first call -------------------------------------------- */

/*
 * The bounds of the thread's own stack; its first call may well be made on
 * another. libc's descriptor of the first thread tells nothing usable.
 */
static void find_stack(struct spi_thread *t)
{
	uint64_t self = (uint64_t) __builtin_thread_pointer();

	t->stack_low = t->stack_high = 0;
	if (spi_sys(SYS_gettid) == spi_sys(SYS_getpid)) {
		t->stack_low = main_stack_low;
		t->stack_high = main_stack_high;
	} else if (stack_offset >= 0) {
		const uint64_t *words = (const uint64_t *) (self + (uint64_t) stack_offset);

		if (words[0] && words[1] && words[0] + words[1] > words[0]) {
			t->stack_low = words[0];
			t->stack_high = words[0] + words[1];
		}
	}
	/*
	 * Not known: libc puts the thread descriptor at the top of the stack block,
	 * so what lies shortly below it is stack. What lies further below counts as
	 * another stack, which is the careful answer.
	 */
	if (!t->stack_high) {
		t->stack_high = self;
		t->stack_low = self - (UINT64_C(128) << 10);
	}
}

static struct spi_thread_record *record_get(void)
{
	struct spi_thread_record *r, *pool;
	size_t size = 65536, n = size / sizeof(*r);

	for (r = __atomic_load_n(&records, __ATOMIC_ACQUIRE); r; r = r->next) {
		uint64_t unused = 0;

		if (!__atomic_load_n(&r->in_use, __ATOMIC_RELAXED) &&
				__atomic_compare_exchange_n(&r->in_use, &unused, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return r;
	}
	pool = spi_map_pages(size);
	if (!pool)
		return NULL;
	pool[0].in_use = 1;
	for (size_t i = 0; i < n; i++) {
		pool[i].chunk = CHUNK_NONE;
		pool[i].next = &pool[i + 1];	/* the last one's is set below */
	}
	r = __atomic_load_n(&records, __ATOMIC_ACQUIRE);
	do
		pool[n - 1].next = r;
	while (!__atomic_compare_exchange_n(&records, &r, pool, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return pool;
}

struct spi_thread_record *spi_threads_first(void)
{
	return __atomic_load_n(&records, __ATOMIC_ACQUIRE);
}

/* lttng-ust names its threads PROGRAM-ust; what they call is the tracer's own work. */
static int is_tracer_thread(void)
{
	char name[16] = "";
	size_t n = 0;

	spi_sys(SYS_prctl, 16L /* PR_GET_NAME */, name, 0L, 0L, 0L);
	while (n < sizeof(name) && name[n])
		n++;
	return n >= 4 && !memcmp(name + n - 4, "-ust", 4);
}

static int thread_begin(struct spi_thread *t)
{
	uint32_t chunk;

	if (is_tracer_thread()) {
		t->busy |= SPI_BUSY_ALWAYS;
		return -1;
	}
	if (!t->record) {
		t->record = record_get();
		if (!t->record)
			return -1;
		t->record->tid = (int32_t) spi_sys(SYS_gettid);
		__atomic_fetch_add(&spi_status->threads, 1, __ATOMIC_RELAXED);
		if (have_end_key)
			pthread_setspecific(end_key, t);
	}
	find_stack(t);
	chunk = chunk_get();
	if (chunk == CHUNK_NONE)
		return -1;
	chunks[chunk].prev = CHUNK_NONE;
	thread_use_chunk(t, chunk, 0);
	return 0;
}

/* ---- calls that ended without returning -------------------------------- */

/* Tell the payload, then free the slot; it is popped when it comes to the top. */
void spi_slot_left(struct spi_thread *t, struct spi_slot *slot, enum spi_left how)
{
	spi_left_fn left = slot->point->left;

	if (slot->state != SPI_SLOT_LIVE)
		return;
	slot->state = how == SPI_LEFT_UNWOUND ? SPI_SLOT_UNWOUND : SPI_SLOT_FREE;
	if (!t->busy)
		t->busy_p = (uint64_t) __builtin_frame_address(0);
	spi_barrier();
	t->busy++;
	spi_barrier();
	if (left)
		left(slot, how);
	spi_barrier();
	t->busy--;
}

/* Is the call of `slot` certainly over, seen from a call whose return address is at p on the same stack? */
static int slot_is_dead(const struct spi_thread *t, const struct spi_slot *slot, uint64_t p)
{
	if (slot->p == p)
		return *(const uint64_t *) p != spi_slot_code(slot) + SPI_SLOT_RETURN;
	return on_own_stack(t, p) && on_own_stack(t, slot->p) && slot->p < p;
}

static struct spi_slot *slot_below(struct spi_slot *slot)
{
	uint32_t chunk = chunk_of(slot), prev;

	if (slot > chunk_slots(chunk))
		return slot - 1;
	prev = chunks[chunk].prev;
	return prev == CHUNK_NONE ? NULL : chunk_slots(prev) + CHUNK_SLOTS - 1;
}

static void thread_reclaim(struct spi_thread *t, uint64_t p)
{
	unsigned int foreign = 0;

	for (struct spi_slot *s = thread_top(t); s; s = slot_below(s)) {
		if (s->p == SPI_SLOT_DEAD)
			break;				/* being filled by the code that this signal handler interrupted */
		if (s->state != SPI_SLOT_LIVE)
			continue;
		if (slot_is_dead(t, s, p))
			spi_slot_left(t, s, SPI_LEFT_JUMPED);
		else if (on_own_stack(t, s->p) || !on_own_stack(t, p) || ++foreign > FOREIGN_LOOK)
			break;
	}
	thread_pop_free(t, p);
}

/* Slots of stacks that no longer carry their return address: coroutines that were dropped, children of posix_spawn. */
static void thread_collect(struct spi_thread *t, uint64_t p)
{
	for (struct spi_slot *s = thread_top(t); s; s = slot_below(s)) {
		uint64_t word = 0;

		if (s->state != SPI_SLOT_LIVE || s->p == SPI_SLOT_DEAD)
			continue;
		if (spi_memory_copy(&word, s->p, sizeof(word)) < 0 || word != spi_slot_code(s) + SPI_SLOT_RETURN)
			spi_slot_left(t, s, SPI_LEFT_JUMPED);
	}
	thread_pop_free(t, p);
}

/*
 * Functions that tail-call each other without end would use a slot a step, all
 * at one stack position: beyond a chain's usual length the innermost is closed
 * and its place given to the next.
 */
static void thread_fold_tail(struct spi_thread *t, uint64_t p)
{
	struct spi_slot *top = thread_top(t), *s = top;
	unsigned int n = 0;

	while (s && s->p == p && s->state == SPI_SLOT_LIVE && n < TAIL_CHAIN_MAX) {
		s = slot_below(s);
		n++;
	}
	if (n < TAIL_CHAIN_MAX)
		return;
	*(uint64_t *) p = top->ra;
	spi_slot_left(t, top, SPI_LEFT_TAIL);
	thread_pop_free(t, p);
}

static int thread_grow(struct spi_thread *t, uint64_t p)
{
	uint32_t chunk = chunk_get();

	if (chunk == CHUNK_NONE) {
		thread_collect(t, p);
		if (t->cur < t->end)
			return 0;
		chunk = chunk_get();
		if (chunk == CHUNK_NONE)
			return -1;
	}
	chunks[chunk].prev = chunk_of(t->base);
	thread_use_chunk(t, chunk, 0);
	return 0;
}

SPI_EXPORT int spi_thread_slow(uint64_t p)
{
	struct spi_thread *t = &spi_thread;
	uint64_t all = ~UINT64_C(0), old;
	struct spi_slot *top;
	int result = 0;

	if (t->busy >= SPI_BUSY_ALWAYS)
		return -1;
	/* The thread's slots are in order between signals only. */
	spi_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, 8L);
	if (!t->cur)
		result = thread_begin(t);
	if (result == 0) {
		top = thread_top(t);
		if (top && top->p <= p)
			thread_reclaim(t, p);
		top = thread_top(t);
		if (top && top->p == p)
			thread_fold_tail(t, p);
		if (t->cur == t->end)
			result = thread_grow(t, p);
	}
	spi_sys(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, 8L);
	if (result < 0 && t->record)
		t->record->count.slots_exhausted++;
	return result;
}

/* A slot that is not the top one ended (coroutines), or free ones lie below it. */
SPI_EXPORT void spi_slot_pop_slow(struct spi_slot *slot, uint64_t p)
{
	struct spi_thread *t = &spi_thread;
	uint64_t all = ~UINT64_C(0), old;

	spi_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, 8L);
	if (slot->p != SPI_SLOT_DEAD)
		slot->state = SPI_SLOT_FREE;
	thread_pop_free(t, p);
	spi_sys(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, 8L);
}

/* An unwinder leaves the frame of the live slot that is nearest above the stack pointer. See unwind.c. */
void spi_thread_unwound(uint64_t sp)
{
	struct spi_thread *t = &spi_thread;
	struct spi_slot *nearest = NULL;
	unsigned int looked = 0;

	if (!t->cur)
		return;
	for (struct spi_slot *s = thread_top(t); s && looked < 4096; s = slot_below(s), looked++) {
		if (s->state != SPI_SLOT_LIVE || s->p == SPI_SLOT_DEAD || s->p <= sp)
			continue;
		if (!nearest || s->p < nearest->p)
			nearest = s;
		/* on one stack the slots are in order: the first is the nearest */
		if (on_own_stack(t, sp) && on_own_stack(t, s->p))
			break;
	}
	if (nearest)
		spi_slot_left(t, nearest, SPI_LEFT_UNWOUND);
}

/* ---- nesting ----------------------------------------------------------- */

static void learn_restorers(void)
{
	unsigned int n = 0;

	for (long sig = 1; sig <= 64 && n < 4; sig++) {
		struct {
			uint64_t handler, flags, restorer, mask;
		} act;
		unsigned int i = 0;

		if (spi_sys(SYS_rt_sigaction, sig, NULL, &act, 8L) < 0 || !(act.flags & 0x04000000) || !act.restorer)
			continue;
		while (i < n && restorers[i] != act.restorer)
			i++;
		if (i == n)
			restorers[n++] = act.restorer;
	}
}

static int is_restorer(uint64_t word)
{
	uint64_t at = word - (uint64_t) spi_slot_code_base;

	/* a traced handler's own slot stands in the frame's place */
	if (at < SLOT_HALF)
		word = spi_slot_data_base[at / SPI_SLOT_SIZE].ra;
	for (int i = 0; i < 4 && restorers[i]; i++)
		if (word == restorers[i])
			return 1;
	return 0;
}

/* -1 when there is something between the two that cannot be read: they are on different stacks. */
static int count_signal_frames(uint64_t low, uint64_t high)
{
	uint64_t words[64];
	int n = 0;

	for (; low < high; low += sizeof(words)) {
		size_t size = high - low < sizeof(words) ? high - low : sizeof(words);

		if (spi_memory_copy(words, low, size) < 0)
			return -1;
		for (size_t w = 0; w < size / 8; w++)
			n += is_restorer(words[w]);
	}
	return n;
}

/*
 * A call came while the thread was recording one. Either a signal handler made
 * it: a call of the program's, to be recorded; or the recording itself did, with
 * a function of libc's that is instrumented too. Between the two calls' stack
 * positions a handler has left a signal frame, which begins with the address of
 * the program's sigreturn stub. A handler on its own signal stack is as far away
 * as another stack is.
 */
SPI_EXPORT int spi_thread_nested(uint64_t p)
{
	struct spi_thread *t = &spi_thread;
	int frames;

	if (t->busy >= SPI_BUSY_ALWAYS)
		return 0;
	if (t->busy < 8 && t->record) {
		if (p > t->busy_p || t->busy_p - p > 65536) {
			if (t->busy == 1)
				return 1;
		} else {
			if (!restorers[0])
				learn_restorers();
			frames = count_signal_frames(p, t->busy_p);
			if (frames < 0 ? t->busy == 1 : frames >= (int) t->busy)
				return 1;
		}
	}
	if (t->record)
		t->record->count.nested_skipped++;
	return 0;
}

/* ---- ends --------------------------------------------------------------- */

static void thread_leave_all(struct spi_thread *t, enum spi_left how)
{
	for (struct spi_slot *s = thread_top(t); s; s = slot_below(s))
		if (s->state == SPI_SLOT_LIVE && s->p != SPI_SLOT_DEAD)
			spi_slot_left(t, s, how);
	thread_pop_free(t, SPI_SLOT_DEAD - 1);
}

/* The thread's last own code, from libc's key destructors: pthread_exit and cancel have unwound everything by now. */
static void thread_end(void *value)
{
	struct spi_thread *t = value;
	struct spi_thread_record *record = t->record;
	uint64_t all = ~UINT64_C(0), old;

	if (t != &spi_thread || !record)
		return;
	spi_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, 8L);
	if (t->cur)
		thread_leave_all(t, SPI_LEFT_THREAD_END);
	if (spi_payload && spi_payload->thread_end)
		spi_payload->thread_end(t);
	if (t->cur && !thread_top(t)) {
		record->chunk = CHUNK_NONE;
		chunk_put(chunk_of(t->base));
		t->cur = t->base = t->end = NULL;
	}
	spi_status_fold(record);
	memset(record->payload, 0, sizeof(record->payload));
	memset(t->payload, 0, sizeof(t->payload));
	if (!t->cur) {
		t->record = NULL;
		__atomic_store_n(&record->in_use, 0, __ATOMIC_RELEASE);
	}
	spi_sys(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, 8L);
}

/*
 * Calls that other threads are in when the process ends. With one event a call
 * nothing would show them at all; they are recorded by the ending thread. Only
 * the arena is looked at, which stays whatever those threads do meanwhile. (An
 * entry record without exit says the same for calls with two events.)
 */
static void others_leave(struct spi_thread *t)
{
	for (struct spi_thread_record *r = spi_threads_first(); r; r = r->next) {
		uint32_t chunk = r->chunk;

		if (r == t->record || !r->in_use)
			continue;
		for (unsigned int depth = 0; chunk < CHUNK_COUNT && depth < 64; chunk = chunks[chunk].prev, depth++)
			for (struct spi_slot *s = chunk_slots(chunk) + CHUNK_SLOTS - 1; s >= chunk_slots(chunk); s--)
				if (s->state == SPI_SLOT_LIVE && s->p != SPI_SLOT_DEAD && s->point &&
						(s->point->flags & SPI_POINT_ONE_EVENT))
					spi_slot_left(t, s, SPI_LEFT_PROCESS_END);
	}
}

void spi_process_end(void)
{
	struct spi_thread *t = &spi_thread;

	if (t->cur)
		thread_leave_all(t, SPI_LEFT_PROCESS_END);
	others_leave(t);
	if (spi_payload && t->record && spi_payload->thread_end)
		spi_payload->thread_end(t);
	spi_status_fold_all();
}

/* Only the forking thread goes on; the records of the others are free to be used again. */
void spi_threads_fork_child(void)
{
	struct spi_thread *t = &spi_thread;

	for (struct spi_thread_record *r = spi_threads_first(); r; r = r->next)
		if (r != t->record) {
			r->in_use = 0;
			r->chunk = CHUNK_NONE;
		}
	if (t->record)
		t->record->tid = (int32_t) spi_sys(SYS_gettid);
}
