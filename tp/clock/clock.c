/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The time stamps' clock. lttng-ust calls clock_gettime() for each event, a third
 * of the event's cost. This module puts its own reading under it, through
 * lttng-ust's clock override: the same clock, CLOCK_MONOTONIC, with its frequency
 * and identity, so the session daemon, other processes in the same buffers and
 * merging with kernel traces notice nothing.
 *
 * Each thread has an anchor, a pair of TSC and clock values read together, and
 * extrapolates from it for 2^16 ticks. The rate is made 200 ppm slow, more than a
 * steered clock's usually changes by, so the extrapolation does not run ahead of the
 * real clock and a new anchor only steps forward, by some nanoseconds. Were it
 * ahead (the kernel steers by 500 ppm at most), time would stand still for as long.
 * A thread's own time never goes back.
 *
 * Nor must a buffer's, or readers refuse the trace: a processor's buffer is written by
 * who runs there, one after the other, and by strays: threads that were moved to
 * another processor in the middle of a record. A stray writes at the same time as others,
 * and a bare reading of the TSC may be over long before the buffer's last place was read, as that is
 * in the other processor's cache. So lttng-ust asks this module also for its processor
 * (its getcpu override); who is elsewhere when the time is read, by the number that the kernel
 * keeps in the thread's rseq area, is a stray and reads the clock as libc does, in order.
 * And whoever comes after it shows that time at least, which stands in `floor` before the
 * stray has its place in the buffer. Who was moved after its reading needs nothing: its place
 * was there before anybody else ran, or it is refused and reads again.
 *
 * The floor is in memory that the controller hands to all of a user's programs, which may
 * write into the same buffers. Other writers (lttng-consumerd when it flushes, programs that are traced by LTTng
 * alone, or by another controller) know nothing of it. To them the clock is late by what lies between the readings of an anchor
 * and by the slow rate: it has to be less than it takes to hand a cache line over. A stray's time
 * is made as late as the others' usually are, so that there is room on both sides.
 *
 * Used only where the kernel's own clock is the TSC. Its clock source says so, that is the kernel
 * vouches for the TSC's rate and for its being in step on all processors; or it is one of
 * those that a hypervisor makes of the TSC, and libc's reading does without a system call: then the
 * hypervisor vouches for that (PVCLOCK_TSC_STABLE_BIT; Hyper-V's reference TSC page with a sequence number), or the vDSO
 * would have to ask the kernel. Such a machine may be moved to another one, whose TSC has another rate: so there the rate
 * is looked at again and again. Until 10 ms have shown the rate, and for ever should the
 * TSC be seen to disagree with the clock by more than steering can explain, every reading is a clock_gettime().
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <time.h>
#include <lttng/ust-clock.h>
#include <lttng/ust-getcpu.h>
#include "liblttng-spi/base/base.h"
#include "tp/clock/clock.h"

#define RATE_AFTER_NS	10000000u	/* the rate is taken over at least this long */
#define RATE_LOOKS	100u		/* for two readings to begin with that lie together */
#define SLOW_DIVISOR	5000u		/* 200 ppm */
#define AHEAD_MAX_NS	5000u		/* an anchor found this far ahead of the clock: the TSC is not what it was */
#define TOGETHER_TICKS	130u		/* a pair's readings should lie no farther apart than this, */
#define TOGETHER_VIRTUAL	300u	/* where the vDSO has to do a hypervisor's sums as well */
#define TOGETHER_SLACK	30u		/* nor much farther than the closest ones, as all threads' should lie equally far apart */
#define TOGETHER_LOOKS	64u
#define APART_SLACK	60u		/* and must not lie farther apart than this: something came between */
#define TOGETHER_TRIES	4		/* with one more; then the closest is taken */
#define DRIFT_LOOK_NS	100000000u	/* the rate of a virtual machine's is looked at over so long, */
#define DRIFT_DIVISOR	512u		/* and must not be wrong by more than this part: clocks are steered by 500 ppm at most */
#define STRAY_LATE_NS	24u
#define FLOOR_MAX_NS	1000000u
#define NOWHERE		(-3)		/* no processor's number, nor any that rseq(2) has for threads without one */

__thread struct tp_clock tp_clock __attribute__((tls_model("initial-exec")));
uint64_t tp_clock_mult;
int tp_clock_ours;

static uint32_t together = TOGETHER_TICKS;
static int has_tsc;			/* the kernel's clock is the TSC */
static int allowed;			/* and nothing spoke against it yet */
static int is_virtual;			/* by a hypervisor's word */
static uint64_t rate_tsc, rate_ns;	/* where the taking of the rate began */
static uint64_t floor_own, *floor_at = &floor_own;	/* what a stray was shown: nobody is shown less from then on */
static ptrdiff_t rseq_offset;
static char boot_id[LTTNG_UST_UUID_STR_LEN];

static int (*clock_kernels)(clockid_t clock, struct timespec *ts) = clock_gettime;

static int clock_find_in(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	int (*found)(clockid_t clock, struct timespec *ts) = handle ? dlsym(handle, name) : NULL;

	if (found)
		clock_kernels = found;
	if (handle)
		dlclose(handle);
	return found != NULL;
}

/*
 * The kernel's own. A call tree may have call sites in libc's function: each reading would go through one, and be
 * looked at whether a handler makes it. And a library that gives the program another time (libfaketime) stands before libc's.
 */
static void clock_find(void)
{
	if (!clock_find_in("linux-vdso.so.1", "__vdso_clock_gettime"))
		clock_find_in("libc.so.6", "clock_gettime");
}

static uint64_t clock_monotonic(void)
{
	struct timespec ts;

	clock_kernels(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * 1000000000u + (uint64_t) ts.tv_nsec;
}

/*
 * Read both clocks as one; the TSC afterwards, so an anchor is late rather than
 * early. The closest of a few readings, which may be some of them ago. *tsc is 0 when they could not be read together.
 */
static uint64_t clock_pair(uint64_t *tsc)
{
	uint64_t best = UINT64_MAX, best_ns = 0;

	for (int tries = 0; tries <= TOGETHER_TRIES && best > together; tries++) {
		uint64_t before = spi_ticks(), ns = clock_monotonic(), after = spi_ticks();

		if (after - before >= best)
			continue;
		best = after - before;
		best_ns = ns;
		*tsc = after;
	}
	if (best > together + APART_SLACK)
		*tsc = 0;
	return best_ns;
}

/* How close a pair can be here: some 20 to 30 ns. Returns the least number of ticks seen. */
static uint64_t clock_take_distance(void)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < TOGETHER_LOOKS; i++) {
		uint64_t before = spi_ticks(), apart;

		clock_monotonic();
		apart = spi_ticks() - before;
		if (apart < least)
			least = apart;
	}
	if (is_virtual)
		together = TOGETHER_VIRTUAL;
	if (least < together - TOGETHER_SLACK)
		together = (uint32_t) least + TOGETHER_SLACK;
	return least;
}

static void clock_take_rate(uint64_t tsc, uint64_t ns)
{
	uint64_t mult;

	if (ns - rate_ns < RATE_AFTER_NS || tsc <= rate_tsc)
		return;
	mult = (uint64_t) (((unsigned __int128) (ns - rate_ns) << 32) / (tsc - rate_tsc));
	__atomic_store_n(&tp_clock_mult, mult - mult / SLOW_DIVISOR, __ATOMIC_RELAXED);
}

/*
 * The machine may go on elsewhere, where the TSC has another rate. (That it may stand elsewhere is for the anchors: they are
 * too old then, or ahead.) Each thread looks for itself, while it is marked as anchoring.
 */
static void clock_look_at_rate(struct tp_clock *c, uint64_t tsc, uint64_t ns)
{
	uint64_t passed = ns - c->drift_ns, shown, apart;

	if (c->drift_tsc && passed < DRIFT_LOOK_NS)
		return;
	if (c->drift_tsc) {
		shown = (uint64_t) ((unsigned __int128) (tsc - c->drift_tsc) * tp_clock_mult >> 32);
		apart = shown > passed ? shown - passed : passed - shown;
		if (apart > passed / DRIFT_DIVISOR)
			__atomic_store_n(&allowed, 0, __ATOMIC_RELAXED);
	}
	c->drift_tsc = tsc;
	c->drift_ns = ns;
}

/* The most that the thread was shown so far; a handler may just have renewed the anchor. */
static uint64_t clock_shown(const struct tp_clock *c)
{
	uint64_t d = spi_ticks() - c->tsc;

	if (!c->tsc)
		return c->ns;
	return c->ns + ((d < TP_CLOCK_SPAN ? d : TP_CLOCK_SPAN) * tp_clock_mult >> 32);
}

/*
 * Slow path of tp_clock_now(): the thread's anchor is missing or too old. A
 * signal handler that comes in between leaves the anchor alone and reads the
 * clock itself.
 */
uint64_t tp_clock_anchor(void)
{
	struct tp_clock *c = &tp_clock;
	uint64_t tsc, ns, least, d;

	if (!__atomic_load_n(&allowed, __ATOMIC_RELAXED) || c->anchoring)
		return clock_monotonic();
	if (!__atomic_load_n(&tp_clock_mult, __ATOMIC_RELAXED)) {
		ns = clock_pair(&tsc);
		clock_take_rate(tsc, ns);
		return clock_monotonic();
	}
	c->anchoring = 1;
	spi_barrier();
	least = clock_shown(c);
	ns = clock_pair(&tsc);
	if (!tsc)
		ns = clock_monotonic();
	else if (is_virtual)
		clock_look_at_rate(c, tsc, ns);
	if (ns < least) {
		if (least - ns > AHEAD_MAX_NS)
			__atomic_store_n(&allowed, 0, __ATOMIC_RELAXED);
		ns = least;
	}
	c->tsc = 0;
	spi_barrier();
	c->ns = ns;
	spi_barrier();
	c->tsc = tsc;		/* 0: no anchor, read again next time */
	spi_barrier();
	c->anchoring = 0;
	if (!tsc)
		return ns;
	/* the closest pair may not have been the last; and the thread may have been stopped since */
	d = spi_ticks() - tsc;
	return d < TP_CLOCK_SPAN ? ns + (d * tp_clock_mult >> 32) : clock_monotonic();
}

int tp_clock_has_tsc(void)
{
	return has_tsc;
}

uint64_t tp_clock_pair(uint64_t *ns)
{
	uint64_t tsc, now, d;

	*ns = tp_clock_now();
	if (!has_tsc)
		return *ns;
	tsc = tp_clock.tsc;
	now = spi_ticks();
	d = now - tsc;
	/* an old anchor: there are no new ones any more */
	if (tsc && d < TP_CLOCK_SPAN) {
		*ns = tp_clock.ns + (d * tp_clock_mult >> 32);
		return now;
	}
	*ns = clock_pair(&tsc);
	return tsc ? tsc : spi_ticks();
}

/* ---- lttng-ust's clock interface ---- */

/* Where the thread is: the kernel writes it whenever the thread goes on (rseq(2)). Negative in threads without. */
SPI_INLINE int32_t clock_processor(void)
{
	const volatile struct rseq *rseq = (const void *) (spi_thread_pointer() + (uint64_t) rseq_offset);

	return (int32_t) rseq->cpu_id;
}

/* lttng-ust asks once for each record, before it looks at that processor's buffer. */
static int clock_getcpu(void)
{
	int32_t processor = clock_processor();

	if (spi_unlikely(processor < 0)) {
		uint32_t now = 0;

		processor = spi_raw_failed(spi_raw3(SYS_getcpu, (uint64_t) &now, 0, 0)) ? -1 : (int32_t) now;
		tp_clock.processor = NOWHERE;
		return processor < 0 ? 0 : processor;
	}
	tp_clock.processor = processor;
	return processor;
}

static void floor_raise(uint64_t *place, uint64_t now)
{
	uint64_t lowest = __atomic_load_n(place, __ATOMIC_RELAXED);

	while (lowest < now && !__atomic_compare_exchange_n(place, &lowest, now, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

/* A stray's, or of somebody who writes into a buffer without having asked where it is: in order. */
static uint64_t clock_read_stray(void)
{
	uint64_t now = clock_monotonic() - STRAY_LATE_NS;

	if (now <= tp_clock.last)
		now = tp_clock.last + 1;
	floor_raise(__atomic_load_n(&floor_at, __ATOMIC_RELAXED), now);
	return now;
}

/* A floor far ahead is a process's in another time namespace, or nonsense. */
static uint64_t clock_read_floor(uint64_t now, uint64_t lowest)
{
	return lowest - now < FLOOR_MAX_NS ? lowest : now;
}

/* lttng-ust has read the last place in the buffer, and takes its own there only if nobody else has meanwhile. */
static uint64_t clock_read64(void)
{
	uint64_t now = tp_clock_now(), lowest;

	spi_barrier();
	if (spi_unlikely(clock_processor() != tp_clock.processor))
		now = clock_read_stray();
	lowest = __atomic_load_n(__atomic_load_n(&floor_at, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	if (spi_unlikely(now < lowest))
		now = clock_read_floor(now, lowest);
	if (spi_unlikely(now <= tp_clock.last))
		now = tp_clock.last + 1;
	tp_clock.processor = NOWHERE;
	tp_clock.last = now;
	return now;
}

void tp_clock_set_floor(uint64_t *place)
{
	floor_raise(place, __atomic_load_n(__atomic_load_n(&floor_at, __ATOMIC_RELAXED), __ATOMIC_RELAXED));
	__atomic_store_n(&floor_at, place, __ATOMIC_RELEASE);
}

static uint64_t clock_frequency(void)
{
	return 1000000000u;
}

static int clock_uuid(char *uuid)
{
	if (!boot_id[0])
		return -1;
	memcpy(uuid, boot_id, sizeof(boot_id));
	return 0;
}

static const char *clock_name(void)
{
	return "monotonic";
}

static const char *clock_description(void)
{
	return "Monotonic Clock";
}

static long clock_file(const char *path, char *text, size_t size)
{
	long fd = spi_raw4(SYS_openat, (uint64_t) AT_FDCWD, (uint64_t) path, O_RDONLY | O_CLOEXEC, 0), n;

	if (spi_raw_failed(fd))
		return -1;
	n = spi_raw3(SYS_read, (uint64_t) fd, (uint64_t) text, size - 1);
	spi_raw3(SYS_close, (uint64_t) fd, 0, 0);
	n = spi_raw_failed(n) ? -1 : n;
	text[n > 0 ? n : 0] = '\0';
	return n;
}

/* Whether the kernel's clock is the TSC. */
static int clock_is_tsc(void)
{
	static const char *const virtual[] = { SPI_TICKS_CLOCKS_VIRTUAL };
	char source[32];

	if (clock_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof(source)) <= 0)
		return 0;
	for (unsigned int i = 0; i < sizeof(virtual) / sizeof(virtual[0]); i++)
		is_virtual |= !strcmp(source, virtual[i]);
	if (!is_virtual && strcmp(source, SPI_TICKS_CLOCK))
		return 0;
	return clock_take_distance() < TOGETHER_VIRTUAL || !is_virtual;	/* a system call takes more */
}

void tp_clock_init(void)
{
	clock_find();
	if (tp_core->no_tsc || !clock_is_tsc())
		return;
	clock_file("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	for (unsigned int i = 0; i < RATE_LOOKS && !rate_tsc; i++)
		rate_ns = clock_pair(&rate_tsc);
	if (!rate_tsc)
		return;
	has_tsc = allowed = 1;
	if (!__rseq_size || getenv("LTTNG_UST_GETCPU_PLUGIN"))
		return;
	rseq_offset = __rseq_offset;
	/* refused once another clock plugin is in place: then its time stamps stay, and only durations come from here
	 */
	if (lttng_ust_trace_clock_set_read64_cb(clock_read64) || lttng_ust_trace_clock_set_freq_cb(clock_frequency) ||
		lttng_ust_trace_clock_set_uuid_cb(clock_uuid) || lttng_ust_trace_clock_set_name_cb(clock_name) ||
		lttng_ust_trace_clock_set_description_cb(clock_description))
		return;
	tp_clock_ours = !lttng_ust_enable_trace_clock_override() && !lttng_ust_getcpu_override(clock_getcpu);
}
