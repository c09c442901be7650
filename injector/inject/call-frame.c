/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The area that is laid out below a stopped thread's stack pointer: from low to
 * high addresses
 *
 *	chain	  return addresses of the gadgets (gadgets.c); calls are made from here
 *	frame	  the address of libc's signal restorer, and the context it restores
 *	slot	  words for results
 *	text	  bytes for arguments
 *	xstate	  the vector state that belongs to the context
 *
 * The context is the thread's own, as it was found. So a function that returns into the chain
 * leads the thread back to where it was.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "injector/inject/remote-internal.h"

#define STACK_ROOM		(48u << 10)	/* what dlopen() and constructors may need, bytes */
#define CONTEXT_SIZE		304u		/* the kernel's struct ucontext */

/* Bytes of vector state that a signal frame may hold for the features in `mask`. */
static uint32_t xstate_frame_size(const struct spi_gadgets *g, uint64_t mask)
{
	uint32_t size = 576;

	for (unsigned int i = 2; i < 64; i++)
		if (mask >> i & 1 && g->xstate_end[i] > size)
			size = g->xstate_end[i];
	return size;
}

/* Make what ptrace gave into what the kernel expects in a signal frame; returns its size. */
static uint32_t frame_put_xstate(const struct spi_remote *r, uint8_t *to)
{
	struct {
		uint32_t magic1, extended_size;
		uint64_t features;
		uint32_t size, padding[7];
	} software = { .magic1 = 0x46505853u };
	const uint32_t magic2 = 0x46505845u;
	uint64_t features, in_use;
	uint32_t size;

	if (r->xstate_size < 576)
		return 0;
	memcpy(&features, r->xstate + 464, 8);
	memcpy(&in_use, r->xstate + 512, 8);
	/* Tile registers are there only for programs that asked for them. */
	if (!(in_use >> 18 & 1))
		features &= ~(UINT64_C(3) << 17);
	size = xstate_frame_size(r->gadgets, features);
	if (size > r->xstate_size)
		return 0;
	software.features = features;
	software.size = size;
	software.extended_size = size + sizeof(magic2);
	memcpy(to, r->xstate, size);
	memcpy(to + 464, &software, sizeof(software));
	memcpy(to + size, &magic2, sizeof(magic2));
	return size + sizeof(magic2);
}

static void frame_put_context(const struct spi_remote *r, uint8_t *to, uint64_t xstate_at)
{
	const struct user_regs_struct *u = &r->regs;
	ucontext_t context;
	greg_t *g = context.uc_mcontext.gregs;
	uint64_t rax = u->rax, rip = u->rip;

	/* Without ptrace nobody restarts an interrupted system call: call it again. */
	if ((int64_t) u->orig_rax >= 0 && (((int64_t) rax <= -ERESTARTSYS && (int64_t) rax >= -ERESTART_RESTARTBLOCK) ||
					   ((int64_t) rax == -EINTR && u->orig_rax != SYS_close))) {
		rax = u->orig_rax == SYS_restart_syscall && r->first_call ? r->first_call : u->orig_rax;
		rip -= 2;
	}
	memset(&context, 0, sizeof(context));
	context.uc_flags = 7;			/* vector state is extended; the stack segment is given */
	context.uc_stack.ss_flags = 0x5a5a;	/* invalid: the alternate signal stack stays as it is */
	g[REG_R8] = u->r8, g[REG_R9] = u->r9, g[REG_R10] = u->r10, g[REG_R11] = u->r11;
	g[REG_R12] = u->r12, g[REG_R13] = u->r13, g[REG_R14] = u->r14, g[REG_R15] = u->r15;
	g[REG_RDI] = u->rdi, g[REG_RSI] = u->rsi, g[REG_RBP] = u->rbp, g[REG_RBX] = u->rbx;
	g[REG_RDX] = u->rdx, g[REG_RAX] = rax, g[REG_RCX] = u->rcx, g[REG_RSP] = u->rsp;
	g[REG_RIP] = rip, g[REG_EFL] = u->eflags;
	g[REG_CSGSFS] = (greg_t) ((u->cs & 0xffff) | (u->ss & 0xffff) << 48);
	context.uc_mcontext.fpregs = (void *) (uintptr_t) xstate_at;
	memcpy(&context.uc_sigmask, &r->mask, sizeof(r->mask));
	memcpy(to, &context, CONTEXT_SIZE);
}

void spi_frame_chain(const struct spi_remote *r, uint64_t *chain)
{
	const struct spi_gadgets *g = r->gadgets;

	chain[0] = g->complete ? g->store : 0;
	chain[1] = 0;
	chain[2] = g->pop_rdi;
	chain[3] = r->inner_tid;
	chain[4] = g->pop_rsi;
	chain[5] = DONE_SIGNAL;
	chain[6] = g->pop_rax;
	chain[7] = SYS_tkill;
	chain[8] = g->syscall;
}

/* Lay the area out so that its highest byte is below `top`; nothing is written yet. */
void spi_frame_place(struct spi_remote *r, uint64_t top)
{
	uint64_t xstate = (top - r->xstate_size - 8) & ~UINT64_C(63);

	r->text = xstate - SPI_REMOTE_TEXT_MAX;
	r->slot = r->text - 64;
	r->frame = r->slot - CONTEXT_SIZE - 16;		/* 16-byte aligned; the context follows it */
	r->stack = r->frame - 8 * CHAIN_WORDS;		/* as at a function's first instruction */
}

int spi_frame_write(struct spi_remote *r)
{
	uint64_t xstate = r->text + SPI_REMOTE_TEXT_MAX, size = xstate - r->stack + r->xstate_size + 8;
	uint8_t *area = calloc(1, size);
	uint32_t xstate_used;
	int ret;

	if (!area)
		return -ENOMEM;
	spi_frame_chain(r, (uint64_t *) area);
	memcpy(area + 8 * CHAIN_WORDS, &r->gadgets->sigreturn, 8);
	xstate_used = frame_put_xstate(r, area + (xstate - r->stack));
	frame_put_context(r, area + 8 * CHAIN_WORDS + 8, xstate_used ? xstate : 0);
	ret = spi_target_write(r->target, r->stack, area, size);
	free(area);
	return ret;
}

/* Is there room for the call on the thread's own stack? Coroutines and signal stacks are not trusted to have any. */
bool spi_frame_fits(const struct spi_remote *r)
{
	const struct spi_mapping *m = spi_maps_find(&r->target->maps, r->regs.rsp);

	if (!m || r->stack < m->start)
		return false;
	if (strcmp(m->path, "[stack]") && (r->regs.fs_base < m->start || r->regs.fs_base >= m->end))
		return false;
	return r->stack - m->start > STACK_ROOM;
}
