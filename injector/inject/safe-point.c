/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The safe-point check.
 *
 * dlopen() allocates memory and takes the dynamic loader's locks. A thread that
 * is stopped inside malloc() or the loader holds those, and would wait for
 * itself or find half-made data. So the stack is unwound to its end, and any
 * frame in the loader, the allocator, or a function that holds a lock which
 * loading needs makes the moment unsafe: the thread runs on and is tried again.
 * Outer frames matter as much as the innermost: a signal handler may have
 * interrupted malloc().
 *
 * Unwinding uses the objects' own call frame tables through libdwfl. It works on
 * a snapshot (registers and a copy of the stack), so a first look stops the
 * thread for microseconds only, and reads all tables that the second needs.
 */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/inject/safe-point.h"
#include "injector/inject/signal-frame.h"
#include "injector/inject/ust-constructor.h"

#define SNAPSHOT_MAX	(128u << 10)	/* bytes of stack */
#define FRAMES_MAX	256u		/* deeper frames can hold none of those locks: see verdict() */
#define RSEQ_CONFIGURATION 0x420f	/* PTRACE_GET_RSEQ_CONFIGURATION */

struct spi_safe {
	const struct spi_target *target;
	Dwfl *dwfl;
	struct spi_unsafe unsafe;
	struct spi_constructor constructor;
	bool has_agent;
	bool at_handler;		/* the kernel has just made the frame for a signal's handler */
	bool in_constructor;		/* the verdict was: it waits in lttng-ust's */
	pid_t tid;
	struct user_regs_struct regs;
	struct user_regs_struct from;	/* unwinding begins: regs, then those that a signal has interrupted */
	uint64_t signal_context;	/* where these are; 0: it has come to no handler's frame */
	uint64_t stack_low;		/* of the copy */
	size_t stack_size;
	uint8_t *stack, *other;
	uint64_t frames[FRAMES_MAX];	/* an address inside the calling instruction */
	uint64_t returns[FRAMES_MAX];	/* where it goes on */
	size_t frame_count;
	size_t interrupted;		/* the frame that the outermost signal has interrupted; 0: what was stopped */
	uint64_t escape;		/* where the outermost unsafe frame returns to */
};

/* ---- unwinding ------------------------------------------------------ */

static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **file_name, Elf **elf)
{
	const struct spi_target *t = *data;
	const struct spi_mapping *m = spi_maps_find(&t->maps, base);
	int fd = m ? spi_mapping_open(t->pid, m) : -1;

	if (fd < 0)
		return -1;
	*file_name = strdup(m->path);
	*elf = NULL;
	return fd;
}

static int find_no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
			     const char *link, GElf_Word crc, char **debug_name)
{
	return -1;	/* call frame tables are in the file itself */
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	struct spi_safe *s = arg;

	if (*thread)
		return 0;
	*thread = s;
	return s->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	*thread = arg;
	return true;
}

static bool word_read(uint64_t address, uint64_t *result, void *arg)
{
	struct spi_safe *s = arg;

	if (address >= s->stack_low && address - s->stack_low + sizeof(*result) <= s->stack_size) {
		memcpy(result, s->stack + (address - s->stack_low), sizeof(*result));
		return true;
	}
	return !spi_memory_read(s->target->pid, address, result, sizeof(*result));
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *arg)
{
	return word_read(address, result, arg);
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct user_regs_struct *u = &((struct spi_safe *) arg)->from;
	const Dwarf_Word regs[17] = { u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp, u->rsp, u->r8, u->r9,
				      u->r10, u->r11, u->r12, u->r13, u->r14, u->r15, u->rip };

	return dwfl_thread_state_registers(thread, 0, 17, regs);
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct spi_safe *s = arg;
	Dwarf_Addr pc;
	Dwarf_Word sp;
	bool exact;

	if (!dwfl_frame_pc(frame, &pc, &exact))
		return DWARF_CB_ABORT;
	s->returns[s->frame_count] = pc;
	s->frames[s->frame_count++] = exact ? pc : pc - 1;
	if (spi_signal_frame_at(s->target->pid, pc) && !dwfl_frame_reg(frame, 7, &sp)) {	/* rsp: psABI, table 3.36 */
		s->signal_context = sp;
		return DWARF_CB_ABORT;
	}
	return s->frame_count < FRAMES_MAX ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* All frames, those that signals have interrupted included. Negative: it does not come to their end. */
static int unwind(struct spi_safe *s)
{
	int ret;

	s->from = s->regs;
	do {
		s->signal_context = 0;
		s->interrupted = s->frame_count;
		ret = dwfl_getthread_frames(s->dwfl, s->tid, take_frame, s);
	} while (s->signal_context && s->frame_count < FRAMES_MAX &&
		 spi_signal_frame_registers(s->signal_context, word_read, s, &s->from));
	return s->signal_context && s->frame_count < FRAMES_MAX ? -1 : ret;
}

static const Dwfl_Callbacks dwfl_callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_no_debuginfo,
};

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

/* One module for each loaded object, by its own extent: mappings that lie inside it do not cut it in pieces. */
static int report_modules(struct spi_safe *s)
{
	const struct spi_maps *maps = &s->target->maps;
	uint64_t end = 0;

	dwfl_report_begin(s->dwfl);
	for (size_t i = 0; i < maps->count; i++) {
		const struct spi_mapping *m = &maps->all[i];
		Dwfl_Module *module;
		void **data;

		if (m->start < end || !spi_mapping_is_object(s->target->pid, m))
			continue;
		end = spi_maps_object_end(s->target->pid, m);
		module = dwfl_report_module(s->dwfl, m->path, m->start, end);
		if (!module)
			continue;
		dwfl_module_info(module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
		*data = (void *) s->target;
	}
	dwfl_report_end(s->dwfl, NULL, NULL);
	return dwfl_attach_state(s->dwfl, NULL, s->target->pid, &thread_callbacks, s) ? 0 : -ENOEXEC;
}

/* ---- verdict -------------------------------------------------------- */

/* System calls in which a thread waits and holds nothing. */
static bool is_wait(int64_t number)
{
	static const uint16_t waits[] = {
		SYS_read, SYS_readv, SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_epoll_wait, SYS_epoll_pwait,
		SYS_nanosleep, SYS_clock_nanosleep, SYS_futex, SYS_wait4, SYS_waitid, SYS_accept, SYS_accept4,
		SYS_recvfrom, SYS_recvmsg, SYS_pause, SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_restart_syscall,
	};

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (waits[i] == number)
			return true;
	return false;
}

static bool is_waiting(const struct spi_safe *s)
{
	int64_t result = s->regs.rax;

	return is_wait(s->regs.orig_rax) && (result == -EINTR || (result <= -512 && result >= -516));
}

static bool in_image(const struct spi_image *image, uint64_t pc)
{
	return pc >= image->low && pc < image->high;
}

/*
 * A restartable sequence (rseq) that is left and entered again in the middle
 * would not notice that it was interrupted.
 */
static bool in_restartable_sequence(const struct spi_safe *s)
{
	struct { uint64_t area; uint32_t size, signature, flags, pad; } config;
	struct { uint32_t version, flags; uint64_t start, length, abort; } sequence;
	uint64_t at;

	if (s->regs.rip >= s->target->libc.low && s->regs.rip < s->target->libc.high)
		return false;
	if (syscall(SYS_ptrace, RSEQ_CONFIGURATION, s->tid, sizeof(config), &config) <= 0 || !config.area)
		return false;
	if (spi_memory_read(s->target->pid, config.area + 8, &at, sizeof(at)) || !at)
		return false;
	if (spi_memory_read(s->target->pid, at, &sequence, sizeof(sequence)))
		return true;
	return s->regs.rip - sequence.start < sequence.length;
}

/*
 * A handler that has not begun holds nothing. Who single-steps himself is met nowhere else: each of his steps is a signal, which
 * stops him before we do. The handler and the function that it returns to, frame 0 and 1, are the agent's where that has taken
 * the signal. (The kernel passes the address of the context in rdx, which lies above the return address: struct rt_sigframe.)
 */
static bool is_only_entered(const struct spi_safe *s, size_t frame, const struct spi_unsafe_range *here)
{
	return here->rule == SPI_UNSAFE_AGENT && frame < 2 && s->frame_count > 2 && s->at_handler && s->regs.rdx == s->regs.rsp + 8;
}

/*
 * The agent stands before functions of libc's that send and receive, and holds nothing while they wait
 * (liblttng-spi/ipc/op.c). So a thread may have been there since an earlier trace.
 */
static bool is_passed_through(const struct spi_safe *s, size_t frame, const struct spi_unsafe_range *here, bool waiting)
{
	return here->rule == SPI_UNSAFE_AGENT && waiting && s->regs.orig_rax != SYS_futex && frame &&
	       in_image(&s->target->libc, s->frames[0]);
}

static const char *verdict(struct spi_safe *s, int unwound)
{
	const struct spi_mapping *last;
	bool outside = false;
	const char *why = NULL;

	bool waiting = is_waiting(s);

	if (!s->frame_count)
		return "at a place that cannot be unwound";
	s->in_constructor = waiting && spi_constructor_waits(&s->constructor, &s->unsafe, &s->target->libc, s->frames,
							     s->frame_count, unwound >= 0);
	if (s->in_constructor)
		return NULL;
	for (size_t i = 0; i < s->frame_count; i++) {
		const struct spi_unsafe_range *here = spi_unsafe_at(&s->unsafe, s->frames[i], waiting);

		if (here && !is_only_entered(s, i, here) && !is_passed_through(s, i, here, waiting)) {
			why = why ? why : here->why;
			/* Who waits in the kernel will not be out of there soon. */
			s->escape = i + 1 < s->frame_count && (int64_t) s->regs.orig_rax < 0 ? s->returns[i + 1] : 0;
		}
		if (!in_image(&s->target->libc, s->frames[i]))
			outside = true;
	}
	if (why)
		return why;
	if (!outside)
		return "starting or ending";	/* nothing of the program's own is on its stack */
	if (unwound >= 0 || s->frame_count == FRAMES_MAX)
		return NULL;
	/*
	 * Code that was made at run time has no tables. Neither the allocator nor
	 * the loader calls such code, so what is beyond it holds none of their locks;
	 * but where they are traced, and so the agent is there, they call its stubs.
	 */
	last = spi_maps_find(&s->target->maps, s->frames[s->frame_count - 1]);
	/* A coroutine begins in a piece of libc that is described to nobody. */
	if (s->frame_count > 1 && in_image(&s->target->libc, s->frames[s->frame_count - 1]))
		return NULL;
	if (s->frame_count == s->interrupted + 1 && s->has_agent)
		return "in code that may be the tracer's";
	if (last && last->exec && (!last->path[0] || !strncmp(last->path, "[anon", 5) || !strcmp(last->path, "//anon")))
		return NULL;
	return "in code without unwind tables";
}

/* ---- interface ------------------------------------------------------ */

struct spi_safe *spi_safe_create(const struct spi_target *target, bool has_agent)
{
	struct spi_safe *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->target = target;
	s->has_agent = has_agent;
	s->stack = malloc(SNAPSHOT_MAX);
	s->other = malloc(SNAPSHOT_MAX);
	s->dwfl = dwfl_begin(&dwfl_callbacks);
	if (!s->stack || !s->other || !s->dwfl || report_modules(s)) {
		spi_safe_destroy(s);
		return NULL;
	}
	spi_unsafe_collect(&s->unsafe, target);
	spi_constructor_find(&s->constructor, target);
	return s;
}

void spi_safe_destroy(struct spi_safe *s)
{
	if (!s)
		return;
	if (s->dwfl)
		dwfl_end(s->dwfl);
	free(s->unsafe.ranges);
	free(s->stack);
	free(s->other);
	free(s);
}

static size_t copy_stack(const struct spi_safe *s, uint8_t *to, uint64_t rsp, uint64_t *low)
{
	const struct spi_mapping *m = spi_maps_find(&s->target->maps, rsp);
	uint64_t size = m ? m->end - rsp : 4096 - (rsp & 4095);

	*low = rsp;
	if (size > SNAPSHOT_MAX)
		size = SNAPSHOT_MAX;
	return spi_memory_read(s->target->pid, rsp, to, size) ? 0 : size;
}

void spi_safe_snapshot(struct spi_safe *s, pid_t tid, const struct user_regs_struct *regs, bool at_handler)
{
	s->tid = tid;
	s->at_handler = at_handler;
	s->regs = *regs;
	s->stack_size = copy_stack(s, s->stack, regs->rsp, &s->stack_low);
}

int spi_safe_judge(struct spi_safe *s, const char **why)
{
	int unwound;

	s->frame_count = 0;
	s->escape = 0;
	s->in_constructor = false;
	*why = in_restartable_sequence(s) ? "in a restartable sequence" : NULL;
	if (*why)
		return -EAGAIN;
	unwound = unwind(s);
	*why = verdict(s, unwound);
	return *why ? -EAGAIN : 0;
}

bool spi_safe_in_constructor(const struct spi_safe *s)
{
	return s->in_constructor;
}

uint64_t spi_safe_escape(const struct spi_safe *s)
{
	return s->escape;
}

/* The registers that a function preserves, and so all that unwinding can depend on. */
static bool same_place(const struct user_regs_struct *a, const struct user_regs_struct *b)
{
	return a->rip == b->rip && a->rsp == b->rsp && a->rbp == b->rbp && a->rbx == b->rbx && a->r12 == b->r12 &&
	       a->r13 == b->r13 && a->r14 == b->r14 && a->r15 == b->r15;
}

bool spi_safe_unchanged(struct spi_safe *s, const struct user_regs_struct *regs)
{
	uint64_t low;
	size_t size;

	if (!s->stack_size || !s->frame_count || !same_place(&s->regs, regs))
		return false;
	s->regs = *regs;
	if (!is_waiting(s))
		return false;
	size = copy_stack(s, s->other, regs->rsp, &low);
	return size == s->stack_size && !memcmp(s->stack, s->other, size);
}
