/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * How the agent comes to life and ends.
 *
 * Preloaded, the constructor does everything before main(): it connects to the
 * front end and carries its rules out until GO, or takes LTTNG_SPI_RULES. Any
 * failure leaves the program as it would be without the agent.
 *
 * Injected, the constructor does next to nothing, as a thread of the program is
 * stopped for it; the injector then calls lttng_spi_attach() with its end of a
 * socketpair, which starts the control thread and returns.
 *
 * At the end of the process the calls still open in the ending thread get their
 * exit records, counters go to the status page, and the events are shut off. For
 * exit() that is this library's destructor. _exit() runs none, so a preloaded
 * agent stands before libc's; the child of a vfork(), whose memory is its
 * parent's, passes through untouched.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "rules/rule.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/cfi/cfi.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/unwind/unwind.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/ledger/ledger.h"
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/module/module.h"
#include "liblttng-spi/payload/payload.h"
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/tree/budget/budget.h"
#include "liblttng-spi/control/control.h"
#include "liblttng-spi/control/internal.h"

static SPI_FORK_DATA int ended;

static void *learn_stack(void *unused)
{
	spi_thread.busy = SPI_BUSY_ALWAYS;
	spi_threads_learn(learn_stack);
	return unused;
}

/*
 * What is found out about threads on one of ours is needed before main() starts
 * the first of the program's: the control thread may come to it later. It has ended
 * before anything else is done: to register for membarrier() while there are two
 * threads waits for an RCU grace period, which is 10 ms.
 */
static void learn_threads(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, learn_stack, NULL) == 0)
		pthread_join(thread, NULL);
}

void spi_control_alone_begins(void)
{
	static int has_begun;

	if (has_begun || spi_link_current || spi_env.preloaded)
		return;
	has_begun = 1;
	spi_tracer_start(1);
	learn_threads();
	spi_last_thread_init();
	spi_last_thread_look();
	spi_tracer_start(0);
}

static void start_with_controller(const char *path)
{
	struct spi_link link;
	int fd = spi_link_connect(path);

	if (fd < 0 || spi_link_hello(&link, fd, SPI_HELLO_PRELOADED) < 0 || spi_link_welcome(&link) < 0)
		return;
	if (spi_link_serve_until_go(&link) < 0)
		return;
	spi_tracer_start(0);	/* the control thread gives descriptors back, too */
	spi_link_serve_thread(&link);
}

static void start_with_rules(const char *rules)
{
	static struct spi_rule_result result;
	char rule[1400];
	uint32_t id = 0;

	spi_control_lock();
	while ((rules = spi_rules_next(rules, rule, sizeof(rule)))) {
		memset(&result, 0, sizeof(result));
		spi_rule_add(NULL, ++id, 0, rule, &result);
		if (result.status < 0 || result.declined)
			spi_note("rule '%s': %u functions, %u instrumented, %u not: %s (%d)", rule, result.matched,
				result.instrumented, result.declined, result.text, result.status);
	}
	spi_control_unlock();
}

/* All functions that the agent stands before, room by room: base/hook.h. */
extern const struct spi_hook spi_signal_hooks[], spi_mask_hooks[], spi_notify_hooks[], spi_altstack_hooks[];
extern const struct spi_hook spi_phdr_hooks[];
extern const struct spi_hook spi_leave_hooks[], spi_backtrace_hooks[], spi_cancel_hooks[];
extern const struct spi_hook spi_crash_hooks[];
extern const struct spi_hook spi_clone_hooks[], spi_exec_hooks[];
extern const struct spi_hook spi_namespace_hooks[];
extern const struct spi_hook spi_rights_hooks[], spi_sandbox_hooks[], spi_descriptor_hooks[], spi_task_hooks[];
extern const struct spi_hook spi_follow_hooks[], spi_load_hooks[];
extern const struct spi_hook spi_observer_hooks[], spi_guard_hooks[];
extern const struct spi_hook spi_ipc_stream_hooks[], spi_ipc_message_hooks[], spi_ipc_birth_hooks[];
static const struct spi_hook *const hooks[] = {
	spi_signal_hooks, spi_mask_hooks, spi_notify_hooks, spi_altstack_hooks,
	spi_phdr_hooks,
	spi_leave_hooks, spi_backtrace_hooks, spi_cancel_hooks, spi_tracer_hooks,
	spi_crash_hooks,
	spi_clone_hooks, spi_exec_hooks, spi_namespace_hooks,
	spi_rights_hooks, spi_sandbox_hooks, spi_descriptor_hooks, spi_task_hooks,
	spi_follow_hooks, spi_load_hooks,
	spi_observer_hooks, spi_guard_hooks,
	spi_ipc_stream_hooks, spi_ipc_message_hooks, spi_ipc_birth_hooks,
	NULL,
};

/* Of an injected agent, before there is int3, or a handler of SIGTRAP is shared. */
static int signals_watch(const char **reason)
{
	*reason = "only a breakpoint (int3) fits, and libc's functions for signals cannot be watched";
	return spi_hooks_enter(SPI_HOOKS_SIGNALS, spi_link_current);
}

/* What there has to be whoever begins. -1: nothing can be done here. */
static int agent_begin(char **envp)
{
	static int result = 1;

	if (result <= 0)
		return result;
	spi_mode_process();
	spi_note_sink = spi_link_note;
	spi_participants_begin();
	spi_status_init();
	spi_env_read(envp);
	spi_debug_begin();
	spi_string_max = spi_env_string_max();
	if (!spi_env.preloaded)
		spi_trap_watch = signals_watch;
	result = spi_fork_init() < 0 ? -1 : 0;
	if (result == 0)
		spi_hooks_begin(hooks);
	if (result == 0 && spi_env.preloaded) {
		spi_backtrace_init();
		spi_signals_interposed = 1;
	}
	return result;
}

static int has_started;	/* our constructor is over */

/* Is a constructor called as the program starts, by the dynamic linker alone? Else a library is being loaded. */
static int is_program_start(const uint64_t *frame)
{
	const uint64_t linker = getauxval(AT_BASE);
	struct spi_registers regs;
	int depth = 0;

	spi_function_caller(frame, &regs);
	for (; depth < 16; depth++) {
		Dl_info info;

		if (!dladdr((void *) regs.r[SPI_DWARF_PC], &info) || (uint64_t) info.dli_fbase != linker)
			return 0;
		if (spi_cfi_step(&regs, 1) < 0 || !regs.r[SPI_DWARF_PC])
			return 1;
	}
	return 0;
}

__attribute__((constructor)) static void agent_start(int argc, char **argv, char **envp)
{
	if (agent_begin(envp) < 0 || !spi_env.preloaded) {
		spi_attached_early |= !spi_env.preloaded && is_program_start(__builtin_frame_address(0));	/* of a preloaded payload file */
		has_started = 1;
		return;
	}
	if (spi_attached_early) {	/* its rules are in force: it waited in lttng-ust's constructor, and that came first */
		has_started = 1;
		spi_env_clean(envp);
		return;
	}
	spi_thread.busy = SPI_BUSY_ALWAYS;	/* what this thread calls until main() is our doing */
	spi_tracer_start(1);
	if (spi_env.socket || spi_env.rules)
		learn_threads();
	spi_last_thread_init();
	spi_last_thread_look();
	if (spi_env.socket) {
		start_with_controller(spi_env.socket);
		spi_env_clean(envp);
	} else if (spi_env.rules) {
		start_with_rules(spi_env.rules);
	}
	spi_tracer_start(0);
	spi_thread.busy = 0;
	has_started = 1;
}

/*
 * A preloaded agent that has not begun, because lttng-ust's constructor comes first and waits, is about to connect to
 * a front end, whose program this is, or to the session daemon's broker. And main() waits for the rules that it is told there,
 * which nobody would do for those of who attaches now. 0, or why not.
 */
static int awaits_another(void)
{
	static const char brokers[] = "/spi-agent";
	size_t n = !has_started && spi_env.preloaded && spi_env.socket ? strlen(spi_env.socket) : 0;

	if (!n)
		return 0;
	return n < sizeof(brokers) || strcmp(spi_env.socket + n - (sizeof(brokers) - 1), brokers) ? -EBUSY : -EALREADY;
}

/*
 * lttng_spi_attach() - the injector's call: talk to the controller on fd, which
 * the agent owns from now on. Starts a thread and returns. 0, -EBUSY while
 * another controller has the agent, or will have it at once, -EALREADY when that is the session daemon's broker, or another
 * negative errno.
 *
 * In a constructor (SPI_ATTACH_CONSTRUCTOR) the calling thread has the loader's
 * lock, and keeps it until main(): our thread could not load the event module,
 * and would hold the control lock, which the program's fork() takes, while it
 * waits. So what it will need is loaded here, or the attachment fails.
 */
SPI_EXPORT int lttng_spi_attach(int fd, uint32_t flags);
int lttng_spi_attach(int fd, uint32_t flags)
{
	char error[256];
	int r = agent_begin(environ);

	if (r < 0)
		return -EAGAIN;
	if (awaits_another())
		return awaits_another();
	if (flags & SPI_ATTACH_CONSTRUCTOR) {
		spi_attached_early = 1;
		spi_control_lock();
		spi_frames_find_unwinder();
		r = spi_module_load(NULL, error, sizeof(error));
		spi_control_unlock();
	}
	if (r >= 0)
		r = spi_attach_thread(fd, (flags & SPI_ATTACH_WAITS) != 0);
	return r;
}

/*
 * lttng_spi_wait() - the injector's second call, after SPI_ATTACH_WAITS: returns when the controller has said GO, or has gone, after three seconds at
 * most.
 */
SPI_EXPORT int lttng_spi_wait(void);
int lttng_spi_wait(void)
{
	spi_link_wait();
	return 0;
}

__attribute__((destructor)) void spi_agent_end(void)
{
	if (!spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		return;		/* a copy, or a child on our memory: what there is to end is its parent's */
	if (__atomic_exchange_n(&ended, 1, __ATOMIC_ACQ_REL))
		return;
	if (spi_child_end()) {
		spi_exec_tell();
		spi_observe_end();
		spi_clients_process_end();	/* a child's calls come to them before it begins */
	} else if (spi_thread.busy < SPI_BUSY_ALWAYS || spi_last_thread_ended) {
		if (spi_thread.record && !spi_thread.busy)
			spi_budget_news();
		spi_observe_end();	/* while it can be recorded */
		spi_process_end();
		spi_clients_process_end();
		spi_thread.busy = SPI_BUSY_ALWAYS;
		if (spi_may(SPI_MAY_TALK))
			spi_participants_run(process_end);
		else
			spi_control_ask();
	}
	spi_thread.busy = SPI_BUSY_ALWAYS;	/* no call from here on is recorded in this thread */
	if (spi_payload && spi_payload->fini)
		spi_payload->fini();
	spi_thread.busy = SPI_BUSY_APART(SPI_APART_END);
}

void spi_control_fork_child(void)
{
	spi_mode_process();
	spi_control_lock_fork_child();
	spi_link_fork_child();
}
