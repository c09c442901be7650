/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room base: what every other room stands on and what knows none of them. System calls, this process in /proc, the
 * environment, notes and formatting, the status memory, descriptors that the program does not count on, resource limits,
 * reading through the program's pointers, and words that threads wait for.
 *
 * Parts with a header each, which this one includes: mode.h (what this process is to the tracer, and what is permitted
 * there), participants.h (what all rooms do at fork, exec, end), hook.h (rows of functions that the agent stands before),
 * control-lock.h, lend.h, wakeup.h, trees.h, point.h (points, slots and the thread's words), payload.h (the event
 * module), agent-proto.h (messages and the status memory), signal-mask.h, hash.h.
 *
 * Threads: a function may be called by any thread in any state, in a signal handler, before main() and in a forked or
 * vforked child, unless its comment says "control side" or "control lock". Nothing here calls malloc() or leaves errno
 * changed. The status memory is written by each thread for itself and read by other processes.
 */
#ifndef SPI_BASE_H
#define SPI_BASE_H

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include "liblttng-spi/arch/arch.h"
#include "liblttng-spi/base/agent-proto.h"
#include "liblttng-spi/base/control-lock.h"
#include "liblttng-spi/base/hash.h"
#include "liblttng-spi/base/hook.h"
#include "liblttng-spi/base/lend.h"
#include "liblttng-spi/base/mode.h"
#include "liblttng-spi/base/participants.h"
#include "liblttng-spi/base/payload.h"
#include "liblttng-spi/base/point.h"
#include "liblttng-spi/base/signal-mask.h"
#include "liblttng-spi/base/trees.h"
#include "liblttng-spi/base/wakeup.h"

struct spi_payload_ops;
struct spi_thread;
struct spi_thread_own;

#define SPI_PROC_PATH	64
#define SPI_PAGE		4096u
#define SPI_PAGE_OF(address)	((address) & ~(uint64_t) (SPI_PAGE - 1))

#ifndef MADV_POPULATE_READ	/* Linux 5.14, glibc 2.35 */
#define MADV_POPULATE_READ	22
#define MADV_POPULATE_WRITE	23
#endif

#define SPI_FORK_MS	50	/* a fork that takes longer waits for somebody, most likely: a large program's takes 10 on a busy machine */

/* One line of the memory map. */
struct spi_vma {
	uint64_t start, end;
	int prot;
};

struct spi_maps {
	int fd;
	uint32_t at, have, ended, again, is_thread, in_line;
	uint64_t offset;
	char buffer[2048];
};

/*
 * The entries of a directory in /proc whose names are numbers: threads or descriptors. Any context.
 * Between open (0, or -errno) and close, next says 1 while there is another one, and again begins anew.
 */
struct spi_numbers {
	long dir;
	const char *name;	/* of the entry that next has found, */
	int number;		/* and the number */
	long at, have;		/* have < 0: the directory cannot be read */
	_Alignas(8) char buffer[2048];
};

/* ---- sys.c: system calls that leave errno alone; small string work without libc state ---- */
long spi_sys(long number, ...);			/* up to 6 arguments; -errno on failure */
uint64_t spi_parse_number(const char *s, const char **end);
int spi_fd_high(int fd);			/* move a descriptor out of the program's usual range; closes fd */
void spi_child_signals_block(uint64_t *old);	/* around a child process of our own, before main() */
void spi_child_signals_restore(const uint64_t *old);
void spi_sleep_us(uint64_t us);		/* or until a signal comes */
void *spi_map_pages(size_t size);		/* anonymous, zeroed; NULL when there are none */
uint64_t spi_process_start_time(void);	/* in clock ticks since boot: proc(5), stat, field 22; 0: not known */

/* ---- low-fds.c ---- */
/* Around what opens files in a thread of ours: it gets no number that the program may count on (low-fds.c). Control lock. */
void spi_low_fds_hold(void);
void spi_low_fds_release(void);
void spi_low_fds_wait(void);		/* who holds them waits for his controller */
void spi_low_fds_wait_end(void);
int spi_low_fds_are_held(void);
void spi_low_fds_fork_child(void);

/* ---- proc.c: this process in /proc ---- */
const char *spi_proc_path(char path[SPI_PROC_PATH], const char *name);	/* of a file in its directory, also when its first thread has ended */
int spi_proc_text(const char *path, char *text, size_t size);	/* its beginning, ended by 0; -1: none */
int spi_path_is_descriptor(const char *path);	/* what was loaded by its descriptor: the tracer's own in another root */
int spi_maps_open(struct spi_maps *maps);
int spi_maps_next(struct spi_maps *maps, struct spi_vma *vma);	/* 1, or 0 at the end */
/* After spi_maps_next(): the path of that mapping, "" of anonymous memory. Its length; one that does not fit is cut. */
uint32_t spi_maps_path(struct spi_maps *maps, char *path, uint32_t size);
void spi_maps_close(struct spi_maps *maps);
/* 1: the mapping around the address, and its path, where `path` is not NULL. */
int spi_maps_find(uint64_t address, struct spi_vma *vma, char *path, uint32_t size);
/* The beginning of a file, ended by 0, at `path` from the directory `dir`: its size, or not above 0. Any context. */
long spi_proc_text_at(long dir, const char *path, char *text, size_t size);
int spi_numbers_open(struct spi_numbers *n, const char *path);
int spi_numbers_next(struct spi_numbers *n);
void spi_numbers_again(struct spi_numbers *n);
void spi_numbers_close(struct spi_numbers *n);
/* A file of the thread that next has found in /proc/self/task, as spi_proc_text_at(). */
long spi_task_text(const struct spi_numbers *task, const char *file, char *text, size_t size);
/* That thread's stack pointer, and where it is, while it waits in the kernel. 0: it runs, or has ended. */
uint64_t spi_task_stack_pointer(const struct spi_numbers *task, uint64_t *pc);

/* ---- env.c: the one table of environment variables ---- */
struct spi_env {
	const char *socket;		/* LTTNG_SPI_SOCKET: the controller's socket */
	const char *rules;		/* LTTNG_SPI_RULES: rules when there is no controller */
	const char *follow;		/* LTTNG_SPI_FOLLOW: the trees that came here from who executed this program */
	const char *tp;			/* LTTNG_SPI_TP: the event module's path */
	const char *codemap;		/* LTTNG_SPI_CODEMAP: spi-codemap's path */
	/* LTTNG_SPI_DEBUG: file that notes are appended to, or names of parts of the agent: log.c */
	const char *debug;
	/* LTTNG_SPI_DEBUG_FILE: directory in which each process has a file for what these say */
	const char *debug_dir;
	const char *debug_times;	/* LTTNG_SPI_DEBUG_TIMES: 1: with times */
	const char *coredump;		/* LTTNG_SPI_COREDUMP: 1: a payload's fault is the program's */
	/* LTTNG_SPI_NO_TAILCALL and so on: 1: as spi_agent_enable_*() of each agent */
	const char *no_tail_call, *direct_call_only, *trap;
	const char *string_max;		/* LTTNG_SPI_STRING_MAX: bytes kept of a string */
	const char *register_ms;	/* LTTNG_UST_REGISTER_TIMEOUT: lttng-ust waits so long for the session daemon, -1: for ever */
	const char *test_worker;	/* LTTNG_SPI_TEST_WORKER: the only way to redirect the calls of a tree */
	const char *test_steps;		/* LTTNG_SPI_TEST_STEPS: a program that steps sees our code's steps, too */
	const char *test_no_tsc;	/* LTTNG_SPI_TEST_NO_TSC: clocks are read as on a machine whose clock is not the TSC */
	const char *home, *cache_home, *cache;	/* HOME, XDG_CACHE_HOME, LTTNG_SPI_CACHE (may be ""): where spi-codemap keeps maps */
	const char *agent;		/* LD_PRELOAD's word for this library */
	int preloaded;			/* LD_PRELOAD names this library */
};

extern struct spi_env spi_env;
void spi_env_read(char **envp);
uint32_t spi_env_string_max(void);	/* 0: none is given */
void spi_env_clean(char **envp);	/* give the program the environment that it would have had */

/* ---- log.c ---- */
void spi_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern void (*spi_note_copy)(const char *line);	/* debug.c has it, too; NULL: it does not */
extern void (*spi_note_sink)(const char *line, size_t size);	/* where notes go beside the debug file; NULL: nowhere */
/* where the controller has payloads write for the user: the program must not close it; below 0: nowhere */
extern int spi_output_fd;
/*
 * What parts of the agent do, for whoever looks for an error: LTTNG_SPI_DEBUG has the parts' names, "all" or 1. Any
 * thread, any state; one system call a line.
 */
enum spi_debug_part {
	SPI_DEBUG_AGENT, SPI_DEBUG_RULES, SPI_DEBUG_TREE, SPI_DEBUG_WORKER, SPI_DEBUG_PATCH, SPI_DEBUG_PAYLOAD,
	SPI_DEBUG_OBJECTS, SPI_DEBUG_PROCESS, SPI_DEBUG_SIGNALS, SPI_DEBUG_PARTS,
};
extern uint32_t spi_debug_parts;	/* 1 << enum spi_debug_part */
void spi_debug_begin(void);		/* the environment was read */
void spi_debug_line(enum spi_debug_part part, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define spi_debug(part, ...) \
	do { \
		if (spi_unlikely(spi_debug_parts >> (part) & 1)) \
			spi_debug_line(part, __VA_ARGS__); \
	} while (0)
/* snprintf for the little that is needed: %s %d %u %lx %lu %c %%; no locale, no malloc */
int spi_format(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- status.c ---- */
extern struct spi_status_page *spi_status;
int spi_status_init(void);
int spi_status_fd(void);			/* a new descriptor of the memory's memfd; -errno */
int spi_status_record_get(struct spi_thread_own *own);	/* a record for own->record; signals blocked. -1: no memory */
int spi_status_child_thread(struct spi_thread *t);	/* the same for the thread that has forked, in the child that begins */
/* So many more points are installed, or fewer: told as this process's, not as its parent's. Any thread. */
void spi_status_points_change(int change);
void spi_status_fork_child(void);	/* every record is the parent's; the calling thread gets another */
/* A call of the calling thread is not recorded. Any state; it touches no vector register. */
void spi_call_missed(enum spi_lost why);

/* ---- thread.c ---- */
struct spi_thread_own *spi_threads_first(void);	/* base/thread.c */
struct spi_thread_own *spi_thread_own_get(void);	/* one that no living thread has; NULL: no memory */
extern int spi_stacks_copied;	/* frames are taken off stacks and put back */

/* ---- payload.c ---- */
extern const struct spi_payload_ops *spi_payload;	/* base/payload.c; NULL: it is not loaded */
extern uint32_t spi_string_max;			/* bytes kept of a string; 0: the module's default */

/* ---- limits.c ---- */
/* What a resource limit leaves too little of for the tracer in a child (0) or in a program that is executed (1). NULL: nothing. Anywhere. */
const char *spi_limits_because(int is_program);
const char *spi_files_because(void);	/* of these, of open files */
int spi_processes_are_few(void);	/* 0: their limit may be near, or cannot be told */

/* ---- memory.c ---- */
/* mmap(); 0 on failure. */
uint64_t spi_mmap(uint64_t address, uint64_t size, int prot, int flags, int fd);
void spi_munmap(uint64_t address, uint64_t size);
/* Code to run at `rx`, which is reserved (0: anywhere), and to write at *rw. Returns rx, 0 on failure. */
uint64_t spi_code_map(uint64_t rx, uint64_t size, uint8_t **rw);
uint64_t spi_patch_lock(void);			/* blocks all signals; returns the mask to give back */
void spi_patch_unlock(uint64_t before);
int spi_patch_lock_soon(uint64_t *before);	/* where the program may hold locks of its own; -1: a fork waits, maybe for this thread */
uint64_t spi_patch_lock_fork(void);
void spi_patch_unlock_fork(uint64_t before);
/* Zeroed anonymous memory, never freed. */
void *spi_alloc(size_t size);

/* ---- read-safe.c ---- */
/* Is there memory that can be read at this address? One system call without side effects. signals/fault.c */
int spi_page_readable(uint64_t address);
extern int (*spi_read_net)(void);	/* would a fault of the reading loops, here and now, be caught? NULL: no. base/read-safe.c */
/* This thread's signal mask has changed: what it remembers of readable pages was for another one. signals/fault.c */
void spi_pages_forget(void);
/*
 * Both copy functions look at the TSC. A payload that has just read it for the
 * call's time stamp puts it into spi_thread.tsc and clears that before the
 * call is over: 10 of 16 ns for a string of 30 characters. 0: they read it.
 */
long spi_string_copy(char *dst, uint64_t src, size_t max, int *truncated);
int spi_memory_copy(void *dst, uint64_t src, size_t n);
/*
 * The program's signal masks. spi_signals_interposed: dispositions/actions.c stands before
 * libc. spi_mask_virtual: and SIGTRAP is never blocked in the kernel, SIGSTKFLT
 * says what the program wants. It stays so once it is.
 */
extern int spi_signals_interposed SPI_HIDDEN, spi_mask_virtual SPI_HIDDEN;

/* ---- tracer-threads.c ---- */
/* On a thread of the agent's own: by its start routine and id it finds out where libc keeps these. */
void spi_tracer_threads_learn(uint64_t start, int tid);
void spi_tracer_threads_except(uint64_t start);	/* a start routine in the tracer's code, of threads that are the program's */
int32_t spi_tracer_threads_tid_at(void);	/* where libc's descriptor of a thread has its id; -1: not known */
/* Threads that start there are the tracer's. */
void spi_tracer_code_add(uint64_t low, uint64_t high);
int spi_within_lttng(uint64_t p);		/* base/payload.h */
/*
 * The tracing begins before main() (1), or has begun (0): whether the calling thread is the only one is found out. If so, whatever
 * threads there are until then are lttng-ust's or ours, and nobody else opens or closes files: what spi_tracer_is_alone() tells it.
 */
void spi_tracer_start(int begins);
int spi_tracer_is_alone(void);
int spi_tracer_code_has(uint64_t address);	/* is it lttng-ust's or ours? Any thread */
/* A detached thread of the agent's, which takes no signals. 0, or an error number. */
int spi_tracer_thread(void *(*run)(void *), void *data);
int spi_thread_is_tracer(void);		/* this thread; async-signal-safe */
int spi_thread_is_tracer_task(const struct spi_numbers *task);

SPI_INLINE int spi_raw_failed(long ret)
{
	return ret < 0 && ret > -4096;
}

/* May this process have a file of that size? If not (RLIMIT_FSIZE), to make a memfd so large has the kernel send SIGXFSZ, which ends it. */
SPI_INLINE int spi_file_fits(uint64_t bytes)
{
	uint64_t limit[2];

	return spi_raw4(SYS_prlimit64, 0, 1 /* RLIMIT_FSIZE */, 0, (uint64_t) limit) < 0 || bytes <= limit[0];
}

/* Any thread. */
SPI_INLINE void spi_word_set(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	spi_raw3(SYS_futex, (uint64_t) word, FUTEX_WAKE_PRIVATE, INT32_MAX);
}

/* CLOCK_MONOTONIC. Any context. */
SPI_INLINE uint64_t spi_now_ns(void)
{
	struct timespec ts = { 0, 0 };

	spi_raw3(SYS_clock_gettime, CLOCK_MONOTONIC, (uint64_t) &ts, 0);
	return (uint64_t) ts.tv_sec * 1000000000u + (uint64_t) ts.tv_nsec;
}

/*
 * A lock in one word: 0 free, 1 held, 2 held and awaited. Its holder must not be interrupted by a handler that takes
 * the lock.
 */
SPI_INLINE void spi_word_lock(int *word)
{
	int seen = 0;

	if (!__atomic_compare_exchange_n(word, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE))
			spi_raw4(SYS_futex, (uint64_t) word, FUTEX_WAIT_PRIVATE, 2, 0);
}

SPI_INLINE void spi_word_unlock(int *word)
{
	if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
		spi_raw3(SYS_futex, (uint64_t) word, FUTEX_WAKE_PRIVATE, 1);
}

/* While it has this value, and no longer than so many milliseconds. */
SPI_INLINE void spi_word_wait(uint32_t *word, uint32_t value, uint32_t ms)
{
	uint64_t now = spi_now_ns(), until = now + ms * UINT64_C(1000000);

	for (; __atomic_load_n(word, __ATOMIC_ACQUIRE) == value && now < until; now = spi_now_ns()) {
		uint64_t left[2] = { (until - now) / 1000000000u, (until - now) % 1000000000u };

		spi_raw4(SYS_futex, (uint64_t) word, FUTEX_WAIT_PRIVATE, value, (uint64_t) left);
	}
}

#endif /* SPI_BASE_H */
