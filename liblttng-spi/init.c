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
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <stdlib.h>
#include <unistd.h>
#include "liblttng-spi/budget.h"
#include "liblttng-spi/instrument.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/leave.h"
#include "liblttng-spi/sandbox.h"
#include "liblttng-spi/patch-internal.h"
#include "liblttng-spi/steps.h"
#include "liblttng-spi/tree.h"

/*
 * The control lock: serialises the control side, and fork() against it. A plain
 * futex, as libc's mutexes may be instrumented. 0 free, 1 held, 2 held and
 * awaited. Taken before any lock of lttng-ust or the dynamic linker.
 */
static SPI_FORK_DATA int control_lock;
static SPI_FORK_DATA int control_owner;	/* thread id; a fork by the owner itself is lttng-ust's, while it starts */
static SPI_FORK_DATA uint64_t control_waits;	/* since then its owner waits for the controller; 0: he does not */
static SPI_FORK_DATA uint32_t control_turn = 1;	/* another each time that it is taken */
static SPI_FORK_DATA uint32_t forks_gave_up;	/* the turn in which a fork did without it: so do all others in that one */
int spi_attached_early;
static SPI_FORK_DATA int ended;
static SPI_FORK_DATA int process_id;		/* -1 in between: a child that did not go through fork() is not ours to end */

static void control_taken(void)
{
	__atomic_store_n(&control_owner, (int) spi_sys(SYS_gettid), __ATOMIC_RELAXED);
	__atomic_add_fetch(&control_turn, 1, __ATOMIC_RELAXED);
}

void spi_control_lock(void)
{
	int seen = 0;

	if (!__atomic_compare_exchange_n(&control_lock, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		while (__atomic_exchange_n(&control_lock, 2, __ATOMIC_ACQUIRE))
			spi_sys(SYS_futex, &control_lock, FUTEX_WAIT_PRIVATE, 2L, NULL);
	control_taken();
}

#define END_MS		50	/* a process that ends waits so long for the control lock */

/*
 * For a fork, which is not to wait for a controller that may be stopped, or for who is in a callback of the dynamic linker's
 * and waits for what the forking thread has. Nobody is interrupted between taking it and what is done next: a handler's fork
 * would come in between. It may be so while this waits.
 */
#define FORK_PEER_NS	UINT64_C(1000000000)
#define FORK_MOST_NS	UINT64_C(5000000000)

static int fork_gives_up(uint64_t since, uint32_t turn)
{
	uint64_t now = spi_now_ns(), waits = __atomic_load_n(&control_waits, __ATOMIC_RELAXED);

	if (waits && waits < since)
		waits = since;
	if (__atomic_load_n(&forks_gave_up, __ATOMIC_RELAXED) != turn && now < since + FORK_MOST_NS &&
			(!waits || now < waits + FORK_PEER_NS))
		return 0;
	__atomic_store_n(&forks_gave_up, turn, __ATOMIC_RELAXED);
	return 1;
}

int spi_control_lock_fork(uint64_t signals, uint64_t *held, int may_give_up)
{
	static const struct { int64_t s, ns; } look = { 0, 10000000 };
	uint64_t since = 0;

	for (;;) {
		uint32_t turn = __atomic_load_n(&control_turn, __ATOMIC_RELAXED);
		int seen = 0;

		*held = spi_signals_hold(signals);
		/* others may be waiting, too */
		if (__atomic_compare_exchange_n(&control_lock, &seen, since ? 2 : 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			control_taken();
			return 1;
		}
		since = since ? since : spi_now_ns();
		if (may_give_up && fork_gives_up(since, turn))
			return 0;
		spi_signals_release(*held);
		seen = 1;
		__atomic_compare_exchange_n(&control_lock, &seen, 2, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		spi_sys(SYS_futex, &control_lock, FUTEX_WAIT_PRIVATE, 2L, &look);
	}
}

int spi_control_peer_wait(void)
{
	if (!spi_control_is_mine())
		return 0;
	__atomic_store_n(&control_waits, spi_now_ns(), __ATOMIC_RELAXED);
	return 1;
}

void spi_control_peer_wait_end(int waited)
{
	if (waited)
		__atomic_store_n(&control_waits, 0, __ATOMIC_RELAXED);
}

void spi_control_unlock(void)
{
	__atomic_store_n(&control_waits, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&control_owner, 0, __ATOMIC_RELAXED);
	if (__atomic_exchange_n(&control_lock, 0, __ATOMIC_RELEASE) == 2)
		spi_sys(SYS_futex, &control_lock, FUTEX_WAKE_PRIVATE, 1L);
}

int spi_control_try(void)
{
	static int waited;	/* ms; all of the process's ends together */
	struct timespec pause = { 0, 1000000 };
	int seen = 0;

	while (!__atomic_compare_exchange_n(&control_lock, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		if (waited >= END_MS || spi_control_is_mine())
			return 0;
		waited++;
		spi_sys(SYS_nanosleep, &pause, NULL);
		seen = 0;
	}
	control_taken();
	return 1;
}

int spi_control_is_mine(void)
{
	return __atomic_load_n(&control_owner, __ATOMIC_RELAXED) == (int) spi_sys(SYS_gettid);
}

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

static void start_with_controller(const char *path)
{
	struct spi_link link;
	int fd = spi_link_connect(path);

	if (fd < 0 || spi_link_open(&link, fd, SPI_HELLO_PRELOADED) < 0)
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

/* All functions that the agent stands before, room by room: hooks/hooks.h. */
extern const struct spi_hook spi_signal_hooks[], spi_mask_hooks[], spi_notify_hooks[], spi_altstack_hooks[];
extern const struct spi_hook spi_phdr_hooks[];
extern const struct spi_hook spi_leave_hooks[], spi_backtrace_hooks[], spi_cancel_hooks[];
extern const struct spi_hook spi_closing_hooks[];
extern const struct spi_hook spi_fork_hooks[], spi_clone_hooks[], spi_exec_hooks[], spi_exec_call_hooks[];
extern const struct spi_hook spi_namespace_hooks[];
extern const struct spi_hook spi_rights_hooks[], spi_sandbox_hooks[], spi_descriptor_hooks[], spi_task_hooks[];
extern const struct spi_hook spi_follow_hooks[], spi_load_hooks[];
static const struct spi_hook *const hooks[] = {
	spi_signal_hooks, spi_mask_hooks, spi_notify_hooks, spi_altstack_hooks,
	spi_phdr_hooks,
	spi_leave_hooks, spi_backtrace_hooks, spi_cancel_hooks, spi_tracer_hooks,
	spi_closing_hooks,
	spi_fork_hooks, spi_clone_hooks, spi_exec_hooks, spi_exec_call_hooks, spi_namespace_hooks,
	spi_rights_hooks, spi_sandbox_hooks, spi_descriptor_hooks, spi_task_hooks,
	spi_follow_hooks, spi_load_hooks,
	NULL,
};

/* Of an injected agent, before there is int3, or a handler of SIGTRAP is shared. */
static int signals_watch(const char **reason)
{
	*reason = "needs int3, and libc's functions for signals cannot be watched";
	return spi_hooks_enter(SPI_HOOKS_SIGNALS, spi_link_current, NULL);
}

/* What there has to be whoever begins. -1: nothing can be done here. */
static int agent_begin(char **envp)
{
	static int result = 1;

	if (result <= 0)
		return result;
	process_id = (int) spi_sys(SYS_getpid);
	spi_status_init();
	spi_env_read(envp);
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

__attribute__((constructor)) static void agent_start(int argc, char **argv, char **envp)
{
	if (agent_begin(envp) < 0 || !spi_env.preloaded) {
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
		spi_low_fds_keep();
		r = spi_module_load(NULL, error, sizeof(error));
		spi_control_unlock();
	}
	if (r >= 0)
		r = spi_attach_thread(fd, (flags & SPI_ATTACH_WAITS) != 0);
	if (r && (flags & SPI_ATTACH_CONSTRUCTOR)) {
		spi_control_lock();
		spi_low_fds_keep_end();
		spi_control_unlock();
	}
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
	if (spi_sandboxed || (process_id && !spi_process_is_mine()))
		return;		/* a copy, or a child on our memory: what there is to end is its parent's */
	if (__atomic_exchange_n(&ended, 1, __ATOMIC_ACQ_REL))
		return;
	if (spi_child_end()) {
		spi_exec_tell();
	} else if (spi_thread.busy < SPI_BUSY_ALWAYS || spi_last_thread_ended) {
		if (spi_budget_news_wait && spi_thread.record && !spi_thread.busy)
			spi_budget_news();
		spi_process_end();
		spi_thread.busy = SPI_BUSY_ALWAYS;
		if (!spi_sandbox_quiet) {
			spi_tree_process_end();
			spi_rules_process_end();
			spi_exec_tell();
		} else if (!spi_sandbox_narrow) {
			spi_control_ask();
		}
	}
	spi_thread.busy = SPI_BUSY_ALWAYS;	/* no call from here on is recorded in this thread */
	if (!spi_sandbox_narrow && spi_payload && spi_payload->fini)
		spi_payload->fini();
	spi_thread.busy = SPI_BUSY_APART(SPI_APART_END);
}

void spi_init_fork_child(void)
{
	process_id = (int) spi_sys(SYS_getpid);
	control_owner = (int) spi_sys(SYS_gettid);	/* lttng-ust may fork its helper in the child once more */
}

int spi_process_is_mine(void)
{
	return !spi_sandboxed && !spi_thread_is_foreign(&spi_thread) && spi_sys(SYS_getpid) == process_id;
}

void spi_exit_now(int status)
{
	if (spi_process_is_mine())
		spi_agent_end();
	for (;;)
		spi_sys(SYS_exit_group, (long) status);
}
