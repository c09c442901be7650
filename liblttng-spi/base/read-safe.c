/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Reading memory that may not be there: strings and structures that the
 * program's arguments point to.
 *
 * First net: ask. rt_sigprocmask() with an impossible `how` reads its mask
 * argument and then fails: EFAULT when the page cannot be read, EINVAL when it
 * can, and nothing has changed. A tenth of a microsecond, so each thread
 * remembers for a moment the pages that it asked about.
 *
 * Second net: a page may go away within that moment, so SIGSEGV and SIGBUS are
 * taken, and when the fault is in the copying loops (arch/x86-64/read-loops.S), they return
 * early (signals/fault.c).
 *
 * The TSC says how long ago that was. Reading it takes longer than copying a
 * usual string, and who records a call has read it already: see spi_thread.tsc in
 * patch/patch.h.
 *
 * The second net has holes: the program may block the signal, or, where the agent
 * was not preloaded (dispositions/actions.c), install its own handler over ours. Therefore each
 * time a thread's memory of pages is renewed, it looks whether the net is there,
 * and when it is not, remembers no pages and asks every time. A signal that the
 * program ignores is not taken at all: a child that it executes would inherit
 * that.
 */
#include <errno.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"

#define CACHE_PAGES	64u			/* direct-mapped */
#define CACHE_TICKS	(UINT64_C(1) << 21)	/* TSC: about a millisecond */
#define READ_FAULTED	(UINT64_C(1) << 63)

/* A thread's memory of readable pages. */
#define CACHE_USES	4096u

struct page_cache {
	uint64_t since;			/* TSC when it was renewed */
	uint32_t net;			/* the second net is there: pages may be remembered */
	uint32_t uses;			/* since it was renewed, while nothing but the count asks for that */
	uint64_t page[CACHE_PAGES];	/* address + 1; 0: none */
};

int (*spi_read_net)(void);
int spi_signals_interposed;

int spi_page_readable(uint64_t address)
{
	/* never 0, which would say that there is no mask to read */
	return spi_raw4(SYS_rt_sigprocmask, ~UINT64_C(0), SPI_PAGE_OF(address) + 8, 0, 8) != -EFAULT;
}

/*
 * The memory belongs to the thread's record, which a later thread takes over.
 * A signal handler in between may make a second one: that one is lost, no more.
 */
static __attribute__((noinline)) struct page_cache *cache_make(struct spi_thread *t)
{
	struct page_cache *cache;

	if (!t->own)
		return NULL;
	cache = t->own->pages;
	if (!cache) {
		cache = spi_alloc(sizeof(*cache));
		t->own->pages = cache;
	}
	t->payload[1] = cache;
	if (cache)
		cache->since = 0;	/* what another thread saw says nothing about this one's signal mask */
	return cache;
}

void spi_pages_forget(void)
{
	struct page_cache *cache = spi_thread.payload[1];

	if (cache)
		cache->since = 0;
}

static __attribute__((noinline)) void cache_renew(struct page_cache *cache, uint64_t now)
{
	for (unsigned int i = 0; i < CACHE_PAGES; i++)
		((volatile uint64_t *) cache->page)[i] = 0;
	cache->net = spi_read_net && spi_read_net();
	cache->since = now;
}

SPI_INLINE struct page_cache *cache_get(void)
{
	struct spi_thread *t = &spi_thread;
	struct page_cache *cache = t->payload[1];
	uint64_t now;

	if (spi_unlikely(!cache)) {
		cache = cache_make(t);
		if (!cache)
			return NULL;
	}
	/*
	 * Where the program cannot take the net away unseen (dispositions/actions.c), the pages it
	 * covers may be old: a look now and then will do, and the TSC need not be read.
	 */
	if (spi_likely(spi_signals_interposed) && cache->net && cache->since) {
		if (spi_likely(++cache->uses < CACHE_USES))
			return cache;
		cache->uses = 0;
		cache_renew(cache, spi_ticks());
		return cache;
	}
	now = t->tsc;
	if (!now)
		now = spi_ticks();
	if (spi_unlikely(now - cache->since > CACHE_TICKS))
		cache_renew(cache, now);
	return cache;
}

static __attribute__((noinline)) int page_ask(struct page_cache *cache, uint64_t page)
{
	if (!spi_page_readable(page))
		return 0;
	if (cache && cache->net)
		cache->page[page / SPI_PAGE % CACHE_PAGES] = page + 1;
	return 1;
}

SPI_INLINE int page_check(struct page_cache *cache, uint64_t address)
{
	uint64_t page = SPI_PAGE_OF(address);

	if (spi_likely(cache && cache->page[page / SPI_PAGE % CACHE_PAGES] == page + 1))
		return 1;
	return page_ask(cache, page);
}

static void page_forget(struct page_cache *cache, uint64_t address)
{
	if (cache)
		cache->page[address / SPI_PAGE % CACHE_PAGES] = 0;
}

SPI_INLINE uint64_t bytes_in_page(uint64_t address, uint64_t n)
{
	uint64_t left = SPI_PAGE - (address & (SPI_PAGE - 1));

	return n < left ? n : left;
}

/* A string that goes over a page's end, is too long, or stands where nobody looked lately. */
static __attribute__((noinline)) long string_copy_slow(char *dst, uint64_t src, size_t max, int *truncated,
	struct page_cache *cache)
{
	uint64_t at = 0;

	while (at < max) {
		uint64_t n = bytes_in_page(src + at, max - at), got;

		if (!page_check(cache, src + at))
			break;
		got = spi_read_string(dst + at, src + at, n);
		if (spi_unlikely(got & READ_FAULTED)) {
			page_forget(cache, src + at);
			at += got & ~READ_FAULTED;
			break;
		}
		at += got;
		if (got < n)
			return (long) at;
	}
	/* no NUL within max bytes, or before what cannot be read */
	*truncated = 1;
	if (!max)
		return 0;
	if (at == max) {
		dst[max - 1] = 0;
		return (long) max - 1;
	}
	dst[at] = 0;
	return at ? (long) at : -EFAULT;
}

long spi_string_copy(char *dst, uint64_t src, size_t max, int *truncated)
{
	struct page_cache *cache = cache_get();
	uint64_t page = SPI_PAGE_OF(src), n, got;

	*truncated = 0;
	if (spi_likely(cache && cache->page[page / SPI_PAGE % CACHE_PAGES] == page + 1)) {
		n = bytes_in_page(src, max);
		got = spi_read_string(dst, src, n);
		if (spi_likely(got < n))	/* not when it faulted: the top bit */
			return (long) got;
	}
	return string_copy_slow(dst, src, max, truncated, cache);
}

int spi_memory_copy(void *dst, uint64_t src, size_t n)
{
	struct page_cache *cache = cache_get();

	for (uint64_t at = 0, some; at < n; at += some) {
		some = bytes_in_page(src + at, n - at);
		if (!page_check(cache, src + at))
			return -EFAULT;
		if (spi_unlikely(spi_read_bytes((uint8_t *) dst + at, src + at, some) & READ_FAULTED)) {
			page_forget(cache, src + at);
			return -EFAULT;
		}
	}
	return 0;
}
