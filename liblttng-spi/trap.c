/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * int3, and sharing a signal with the program.
 *
 * A thread that runs into one of our int3 gets a SIGTRAP, and the handler sends
 * it on to where the table says. The table is an open-addressing hash that one
 * thread adds to and handlers read without a lock: an entry's destination is
 * written before its address, a larger table is filled before it is published,
 * an old one is never freed. Entries stay for ever, because a thread may fetch an
 * int3 now and take the signal long after the byte was replaced.
 *
 * An int3 that is hit with SIGTRAP blocked kills the process. So none is put
 * where threads are known to run with signals blocked: in the C library (it
 * blocks everything while it makes threads and processes, and a vforked child has
 * no handlers at all), in a process in which some thread blocks SIGTRAP now, or
 * one that a debugger is attached to. Threads that only run the tracer are not
 * counted: they call the C library, not the program.
 *
 * Every signal that is not ours is handed to the program as the kernel would
 * have: its handler with the same arguments, mask, reset and stack, or its
 * default action with the registers of the interrupted code, so that core dumps
 * are right.
 *
 * A preloaded agent stands before libc's functions for signals (signals.c), and
 * from the first int3 on keeps SIGTRAP unblocked whatever the program asks for.
 * In the kernel's masks SIGSTKFLT, which no kernel sends on this architecture,
 * then says that the program blocks SIGTRAP: so that goes with the mask to new
 * threads, through siglongjmp() and sigreturn, without anything of ours to keep
 * in step. A SIGTRAP that is sent meanwhile is sent on as a SIGSTKFLT, which waits
 * as long as that one would have, and turns back when it arrives.
 */
#include <fcntl.h>
#include <signal.h>
#include <ucontext.h>
#include "liblttng-spi/patch-internal.h"

#define SIGNAL_BIT(n)	SPI_SIGNAL_BIT(n)
#define K_SA_RESTORER	SPI_SA_RESTORER
#define DEFERRED_TRAP	0x53504974	/* si_errno of a SIGSTKFLT that is a SIGTRAP */
#define READ_TRIES	1000
#define THREAD_LOOKS	400	/* at a thread that blocks SIGTRAP, before that counts: it may be in our own handler */
#define THREAD_LOOK_NS	UINT64_C(1000000)	/* one in so long */
#define LOOK_AGAIN_NS	UINT64_C(50000000)	/* how long a look at all threads' masks is good for */

/* ---- sharing a signal ---- */

void spi_signal_return(void) SPI_HIDDEN;
/*
 * Debuggers and libgcc know a signal frame by these very instructions, if no
 * unwind entry covers the address before them: hence the nop.
 */
__asm__(".text\n"
	"	.p2align 4\n"
	"	nop\n"
	"	.globl spi_signal_return\n"
	"	.hidden spi_signal_return\n"
	"	.type spi_signal_return, @function\n"
	"spi_signal_return:\n"
	"	movq $15, %rax\n"
	"	syscall\n"
	"	.size spi_signal_return, . - spi_signal_return\n");

static long signal_query(int number, struct spi_sigaction *action)
{
	return spi_raw4(SYS_rt_sigaction, (uint64_t) number, 0, (uint64_t) action, 8);
}

struct spi_signal *spi_signal_of[SPI_SIGNALS];
int spi_signals_interposed, spi_mask_virtual;

uint64_t spi_mask_to_kernel(uint64_t mask)
{
	if (spi_mask_virtual && (mask & SPI_MASK_PAIR))
		mask = (mask & ~SIGNAL_BIT(SIGTRAP)) | SIGNAL_BIT(SIGSTKFLT);
	return mask;
}

/*
 * The holder runs with all signals blocked, so no handler waits for the thread
 * that it interrupts. The word is the holder's process id: what a fork() left
 * locked in the child is nobody's.
 */
uint64_t spi_signal_lock(struct spi_signal *s)
{
	uint64_t all = ~UINT64_C(0), before = 0;
	int self = (int) spi_raw3(SYS_getpid, 0, 0, 0), seen;

	spi_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t) &all, (uint64_t) &before, 8);
	for (;;) {
		seen = __atomic_load_n(&s->lock, __ATOMIC_RELAXED);
		if (seen != self && __atomic_compare_exchange_n(&s->lock, &seen, self, 0, __ATOMIC_ACQUIRE,
				__ATOMIC_RELAXED))
			return before;
		spi_raw3(SYS_sched_yield, 0, 0, 0);
	}
}

void spi_signal_unlock(struct spi_signal *s, uint64_t before)
{
	__atomic_store_n(&s->lock, 0, __ATOMIC_RELEASE);
	spi_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t) &before, 0, 8);
}

/* Handlers read it at any time, without the lock: `change` is odd while it is written. */
void spi_signal_program_set(struct spi_signal *s, const struct spi_sigaction *action)
{
	__atomic_store_n(&s->change, s->change | 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	spi_bytes_copy(&s->program, action, sizeof(s->program));
	__atomic_store_n(&s->change, (s->change | 1) + 1, __ATOMIC_RELEASE);
}

/* The tries are limited because a fork() may leave the child's odd for ever. */
static struct spi_sigaction program_get(const struct spi_signal *s)
{
	struct spi_sigaction copy;

	for (int i = 0; i < READ_TRIES; i++) {
		uint32_t change = __atomic_load_n(&s->change, __ATOMIC_ACQUIRE);

		spi_bytes_copy(&copy, &s->program, sizeof(copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(change & 1) && change == __atomic_load_n(&s->change, __ATOMIC_RELAXED))
			break;
	}
	return copy;
}

int spi_signal_is_ours(const struct spi_signal *s)
{
	struct spi_sigaction now;

	return s->installed && signal_query(s->number, &now) == 0 && now.handler == (uint64_t) s->handler;
}

/*
 * The handler runs with every signal blocked: it is short, and a handler of the
 * program's in between might hit an int3 while SIGTRAP is blocked. The stack and
 * whether system calls are restarted follow what the program has.
 */
long spi_signal_install(struct spi_signal *s, const struct spi_sigaction *program, struct spi_sigaction *was)
{
	struct spi_sigaction ours = {
		.handler = (uint64_t) s->handler,
		.flags = SA_SIGINFO | K_SA_RESTORER,
		.restorer = (uint64_t) spi_signal_return,
		.mask = ~UINT64_C(0),
	};

	if (program->handler == (uint64_t) SIG_DFL || program->handler == (uint64_t) SIG_IGN)
		ours.flags |= SA_ONSTACK | SA_RESTART;
	else
		ours.flags |= program->flags & (SA_ONSTACK | SA_RESTART);
	return spi_raw4(SYS_rt_sigaction, (uint64_t) s->number, (uint64_t) &ours, (uint64_t) was, 8);
}

static int signal_take_locked(struct spi_signal *s)
{
	struct spi_sigaction now;
	long ret = signal_query(s->number, &now);

	if (ret < 0)
		return (int) ret;
	if (now.handler == (uint64_t) s->handler)
		return 0;
	if (!s->taken)
		s->below = now;
	spi_signal_program_set(s, &now);
	ret = spi_signal_install(s, &now, &now);
	if (ret < 0)
		return (int) ret;
	if (now.handler != (uint64_t) s->handler)
		spi_signal_program_set(s, &now);
	s->taken = s->installed = 1;
	return 0;
}

int spi_signal_take(struct spi_signal *s)
{
	uint64_t before = spi_signal_lock(s);
	int ret = signal_take_locked(s);

	if (!ret)
		__atomic_store_n(&spi_signal_of[s->number], s, __ATOMIC_RELEASE);
	spi_signal_unlock(s, before);
	return ret;
}

/* Was it sent, by kill() or a timer, or is it about the instruction that the context stands at? */
static int signal_was_sent(const siginfo_t *info)
{
	return info->si_code <= 0 || (info->si_signo == SIGBUS && info->si_code == BUS_MCEERR_AO);
}

/*
 * Let the kernel do it: with the default action in force, a fault happens again
 * when the handler returns; anything else is sent again, and waits until then
 * because it is blocked.
 */
static void signal_default(struct spi_signal *s, const siginfo_t *info)
{
	struct spi_sigaction action = { 0 };

	spi_raw4(SYS_rt_sigaction, (uint64_t) s->number, (uint64_t) &action, 0, 8);
	s->installed = 0;
	if (signal_was_sent(info) || s->number == SIGTRAP)
		spi_raw4(SYS_rt_tgsigqueueinfo, (uint64_t) spi_raw3(SYS_getpid, 0, 0, 0),
			(uint64_t) spi_raw3(SYS_gettid, 0, 0, 0), (uint64_t) s->number, (uint64_t) info);
}

void spi_signal_hand_on(struct spi_signal *s, void *info, void *context, const void *caller)
{
	struct spi_sigaction *from = caller == (const void *) spi_signal_return ? &s->program : &s->below;
	struct spi_sigaction action = from == &s->program ? program_get(s) : *from;
	ucontext_t *uc = context;
	uint64_t mask;

	if (action.handler == (uint64_t) SIG_IGN && signal_was_sent(info))
		return;
	/* the kernel does not let a fault be ignored either */
	if (action.handler == (uint64_t) SIG_DFL || action.handler == (uint64_t) SIG_IGN) {
		signal_default(s, info);
		return;
	}
	if (action.flags & SA_RESETHAND)
		__atomic_store_n(&from->handler, (uint64_t) SIG_DFL, __ATOMIC_RELAXED);
	spi_bytes_copy(&mask, &uc->uc_sigmask, 8);
	mask |= action.mask;
	if (!(action.flags & SA_NODEFER))
		mask |= SIGNAL_BIT(s->number);
	mask = spi_mask_to_kernel(mask);
	spi_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t) &mask, 0, 8);
	((void (*)(int, void *, void *)) action.handler)(s->number, info, context);
}

/* ---- the table ---- */

struct trap_site {
	uint64_t address;	/* 0: free */
	uint64_t to;		/* 0: forgotten */
};
struct trap_table {
	uint64_t size;		/* power of two */
	struct trap_site site[];
};
static struct trap_table *trap_table;
static uint64_t trap_count;

static struct trap_site *trap_slot(struct trap_table *table, uint64_t address)
{
	uint64_t i = (address * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (table->size - 1), seen;

	while ((seen = __atomic_load_n(&table->site[i].address, __ATOMIC_ACQUIRE)) && seen != address)
		i = (i + 1) & (table->size - 1);
	return &table->site[i];
}

static int trap_grow(void)
{
	uint64_t size = trap_table ? trap_table->size * 2 : 256;
	struct trap_table *table = spi_alloc(sizeof(*table) + size * sizeof(table->site[0]));

	if (!table)
		return -ENOMEM;
	table->size = size;
	for (uint64_t i = 0; trap_table && i < trap_table->size; i++)
		if (trap_table->site[i].address)
			*trap_slot(table, trap_table->site[i].address) = trap_table->site[i];
	__atomic_store_n(&trap_table, table, __ATOMIC_RELEASE);
	return 0;
}

int spi_trap_add(uint64_t address, uint64_t to)
{
	struct trap_site *site;

	if ((!trap_table || trap_count * 2 >= trap_table->size) && trap_grow() < 0)
		return -ENOMEM;
	site = trap_slot(trap_table, address);
	__atomic_store_n(&site->to, to, __ATOMIC_RELEASE);
	if (!site->address) {
		__atomic_store_n(&site->address, address, __ATOMIC_RELEASE);
		trap_count++;
	}
	return 0;
}

void spi_trap_forget(uint64_t low, uint64_t high)
{
	for (uint64_t i = 0; trap_table && i < trap_table->size; i++)
		if (trap_table->site[i].address >= low && trap_table->site[i].address < high)
			__atomic_store_n(&trap_table->site[i].to, 0, __ATOMIC_RELEASE);
}

static uint64_t trap_find(uint64_t address)
{
	struct trap_table *table = __atomic_load_n(&trap_table, __ATOMIC_ACQUIRE);
	struct trap_site *site;

	if (!table)
		return 0;
	site = trap_slot(table, address);
	return site->address ? __atomic_load_n(&site->to, __ATOMIC_ACQUIRE) : 0;
}

static void trap_handle(int number, void *info, void *context);
static void deferred_handle(int number, void *info, void *context);
static struct spi_signal trap_signal = { .number = SIGTRAP, .handler = trap_handle };
static struct spi_signal deferred_signal = { .number = SIGSTKFLT, .handler = deferred_handle };

/*
 * A signal for a program that blocks it. One that was sent waits on as a
 * SIGSTKFLT: in this thread if it was meant for it, else wherever one of the
 * process has it unblocked. An instruction's own trap kills, as in the kernel.
 */
static void trap_defer(siginfo_t *info)
{
	uint64_t pid = (uint64_t) spi_raw3(SYS_getpid, 0, 0, 0);

	if (!signal_was_sent(info)) {
		signal_default(&trap_signal, info);
		return;
	}
	info->si_errno = DEFERRED_TRAP;
	if (info->si_code == SI_TKILL)
		spi_raw4(SYS_rt_tgsigqueueinfo, pid, (uint64_t) spi_raw3(SYS_gettid, 0, 0, 0), SIGSTKFLT,
			(uint64_t) info);
	else
		spi_raw4(SYS_rt_sigqueueinfo, pid, SIGSTKFLT, (uint64_t) info, 0);
}

int spi_signal_undefer(int number, void *siginfo)
{
	siginfo_t *info = siginfo;

	if (!spi_mask_virtual || number != SIGSTKFLT || info->si_errno != DEFERRED_TRAP)
		return number;
	info->si_signo = SIGTRAP;
	info->si_errno = 0;
	return SIGTRAP;
}

static void deferred_handle(int number, void *info, void *context)
{
	struct spi_signal *s = spi_signal_undefer(number, info) == SIGTRAP ? &trap_signal : &deferred_signal;

	spi_signal_hand_on(s, info, context, __builtin_return_address(0));
}

static void trap_handle(int number, void *info, void *context)
{
	ucontext_t *uc = context;
	const siginfo_t *si = info;
	uint64_t to = 0, mask;

	(void) number;
	spi_bytes_copy(&mask, &uc->uc_sigmask, 8);
	if (si->si_code == SI_KERNEL || si->si_code == TRAP_BRKPT)
		to = trap_find((uint64_t) uc->uc_mcontext.gregs[REG_RIP] - 1);
	if (to)
		uc->uc_mcontext.gregs[REG_RIP] = (greg_t) to;
	else if (spi_mask_virtual && (mask & SIGNAL_BIT(SIGSTKFLT)))
		trap_defer(info);
	else
		spi_signal_hand_on(&trap_signal, info, context, __builtin_return_address(0));
}

/* ---- is it safe here? ---- */

static int text_begins(const char *text, const char *with)
{
	while (*with)
		if (*text++ != *with++)
			return 0;
	return 1;
}

/* Libraries that run with all signals blocked at times, or that the tracer's own threads run. */
static int object_is_runtime(const struct spi_object *object)
{
	static const char *const names[] = { "libc.so", "libc-2", "ld-linux", "ld-2", "libpthread", "libdl.", "libdl-",
		"librt.", "librt-", "libnuma", "liblttng", "liburcu", "libgcc_s" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (text_begins(object->name, names[i]))
			return 1;
	return 0;
}

/* The text behind "\nKEY:\t" in a status file; NULL when there is none. */
static const char *status_value(const char *text, const char *key)
{
	for (; *text; text++) {
		const char *t = text, *k = key;

		while (*k && *t == *k) {
			t++;
			k++;
		}
		if (!*k)
			return t;
	}
	return NULL;
}

static uint64_t parse_hex(const char *s)
{
	uint64_t value = 0;

	for (;; s++) {
		if (*s >= '0' && *s <= '9')
			value = value << 4 | (uint64_t) (*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			value = value << 4 | (uint64_t) (*s - 'a' + 10);
		else
			return value;
	}
}

static int name_is_tracer(const char *status)
{
	const char *end = status;

	while (*end && *end != '\n')
		end++;
	return end - status >= 4 && text_begins(end - 4, "-ust");
}

/*
 * Look at one thread. NULL, or what forbids int3. *again is set when that may be
 * over in a moment: libc blocks everything while a thread starts or ends.
 */
static const char *thread_look(long task_dir, const char *tid, uint64_t self, int *again)
{
	char path[32], text[2048];
	const char *value;
	uint64_t number = 0;
	size_t n = 0;
	long fd, got;

	for (const char *t = tid; *t && n < sizeof(path) - 8; t++) {
		path[n++] = *t;
		number = number * 10 + (uint64_t) (*t - '0');
	}
	spi_bytes_copy(path + n, "/status", 8);
	fd = spi_raw4(SYS_openat, (uint64_t) task_dir, (uint64_t) path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return NULL;		/* it has ended */
	got = spi_raw3(SYS_read, (uint64_t) fd, (uint64_t) text, sizeof(text) - 1);
	spi_raw3(SYS_close, (uint64_t) fd, 0, 0);
	if (got <= 0)
		return NULL;
	text[got] = 0;
	value = status_value(text, "\nTracerPid:\t");
	if (value && *value != '0')
		return "needs int3, and a debugger is attached";
	if (number == self || name_is_tracer(text))
		return NULL;
	value = status_value(text, "\nSigBlk:\t");
	if (!value)
		return "needs int3, and a thread's signal mask cannot be read";
	*again = parse_hex(value) & SIGNAL_BIT(SIGTRAP) ? 1 : 0;
	return *again ? "needs int3, and a thread blocks SIGTRAP" : NULL;
}

static uint64_t now_ns(void)
{
	uint64_t ts[2] = { 0, 0 };

	spi_raw3(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, (uint64_t) ts, 0);
	return ts[0] * 1000000000u + ts[1];
}

/* Give a thread that is just being started, or is in our own handler, the time to get out of that. */
static const char *thread_look_long(long task_dir, const char *tid, uint64_t self)
{
	const char *reason = NULL;

	for (int look = 0, again = 1; again && look < THREAD_LOOKS; look++) {
		uint64_t pause[2] = { 0, look ? THREAD_LOOK_NS : 0 };

		if (look)
			spi_raw3(SYS_nanosleep, (uint64_t) pause, 0, 0);
		again = 0;
		reason = thread_look(task_dir, tid, self, &again);
	}
	return reason;
}

struct directory_entry {
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

static const char *threads_look(void)
{
	uint8_t buffer[2048] __attribute__((aligned(8)));
	uint64_t self = (uint64_t) spi_raw3(SYS_gettid, 0, 0, 0);
	const char *reason = NULL;
	long fd, got = 0;

	fd = spi_raw4(SYS_openat, (uint64_t) AT_FDCWD, (uint64_t) "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		0);
	if (fd < 0)
		return "needs int3, and /proc cannot be read";
	while (!reason && (got = spi_raw3(SYS_getdents64, (uint64_t) fd, (uint64_t) buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got && !reason;) {
			struct directory_entry *entry = (struct directory_entry *) (buffer + at);

			if (entry->name[0] >= '0' && entry->name[0] <= '9')
				reason = thread_look_long(fd, entry->name, self);
			at += entry->size;
		}
	spi_raw3(SYS_close, (uint64_t) fd, 0, 0);
	return reason;
}

/* A handler of the program's that blocks SIGTRAP while it runs might run into int3. */
static const char *handlers_look(void)
{
	struct spi_sigaction action;

	for (int number = 1; number <= 64; number++)
		if (signal_query(number, &action) == 0 && action.handler != (uint64_t) SIG_DFL
			&& action.handler != (uint64_t) SIG_IGN && action.restorer != (uint64_t) spi_signal_return
			&& (action.mask & SIGNAL_BIT(SIGTRAP)))
			return "needs int3, and a signal handler of the program blocks SIGTRAP";
	return NULL;
}

void spi_mask_make_virtual(void)
{
	uint64_t mask = 0;

	spi_raw4(SYS_rt_sigprocmask, SIG_BLOCK, 0, (uint64_t) &mask, 8);
	if (spi_mask_virtual && (mask & SIGNAL_BIT(SIGTRAP))) {
		mask = spi_mask_to_kernel(mask);
		spi_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t) &mask, 0, 8);
	}
}

/* Put the translated mask in place of the program's; once more when it changed its mind meanwhile. */
void spi_action_make_virtual(int number)
{
	struct spi_sigaction action, new, was;

	if (!spi_mask_virtual || signal_query(number, &action) < 0)
		return;
	for (int tries = 0; tries < 8; tries++, action = was) {
		if (action.handler == (uint64_t) SIG_DFL || action.handler == (uint64_t) SIG_IGN
			|| action.restorer == (uint64_t) spi_signal_return || !(action.mask & SIGNAL_BIT(SIGTRAP)))
			return;
		new = action;
		new.mask = spi_mask_to_kernel(new.mask);
		spi_raw4(SYS_rt_sigaction, (uint64_t) number, (uint64_t) &new, (uint64_t) &was, 8);
		if (spi_bytes_equal((uint8_t *) &was, (uint8_t *) &action, sizeof(was)))
			return;
		spi_raw4(SYS_rt_sigaction, (uint64_t) number, (uint64_t) &was, 0, 8);
	}
}

/*
 * From here on the program cannot block SIGTRAP any more. First the handlers, so
 * that a translated mask never meets a signal that nobody takes. Who is between
 * the test of spi_mask_virtual and its system call looks again afterwards.
 */
static void virtual_start(void)
{
	if (!spi_signals_interposed || spi_mask_virtual || spi_signal_take(&deferred_signal) < 0
		|| spi_signal_take(&trap_signal) < 0)
		return;
	__atomic_store_n(&spi_mask_virtual, 1, __ATOMIC_SEQ_CST);
	spi_mask_make_virtual();
	for (int number = 1; number <= 64; number++)
		spi_action_make_virtual(number);
}

int spi_trap_ready(const struct spi_object *object, const char **reason)
{
	static uint64_t looked_at;
	static const char *looked;
	uint64_t now;

	if (object_is_runtime(object)) {
		*reason = "needs int3, which is not safe in a library that runs with signals blocked";
		return -EPERM;
	}
	virtual_start();
	now = now_ns();
	if (!looked_at || now - looked_at > LOOK_AGAIN_NS) {
		looked = handlers_look();
		if (!looked)
			looked = threads_look();
		looked_at = now_ns();
	}
	if (looked) {
		*reason = looked;
		return -EPERM;
	}
	if (spi_signal_take(&trap_signal) < 0) {
		*reason = "needs int3, and SIGTRAP cannot be taken";
		return -EPERM;
	}
	return 0;
}
