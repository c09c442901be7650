/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The event module: what the agent's core gets from it.
 *
 * The core loads this library when a first rule needs events, and with it
 * liblttng-ust, which a program need not know. It stays for ever (-z nodelete):
 * lttng-ust keeps pointers into it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <lttng/ust-fork.h>
#include <lttng/ust-thread.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/module/module.h"
#include "tp/module/module.h"

static int other_fork_help;	/* liblttng-ust-fork.so does what fork_*() would: both would wait for each other */
static SPI_FORK_DATA sigset_t fork_signals;	/* of the forking thread, which holds lttng-ust's fork lock meanwhile */
static SPI_FORK_DATA int32_t fork_tid;

static int is_fork_help(struct dl_phdr_info *info, size_t size, void *found)
{
	const char *name = strrchr(info->dlpi_name, '/');

	if (!strncmp(name ? name + 1 : info->dlpi_name, "liblttng-ust-fork.so", 20))
		*(int *) found = 1;
	return 0;
}

static int op_bind(struct spi_point **points, unsigned int n, const char **errors)
{
	struct tp_point **made = tp_alloc(n * sizeof(*made));
	int fresh = 0, r;

	dl_iterate_phdr(is_fork_help, &other_fork_help);
	if (!made)
		return -ENOMEM;
	r = tp_describe(points, n, made, errors);
	for (unsigned int i = 0; r == 0 && i < n; i++) {
		if (errors[i])
			continue;
		if (points[i]->flags & SPI_POINT_ONE_EVENT)
			tp_one_attach(points[i], made[i]);
		else
			tp_call_attach(points[i], made[i]);
		fresh += !points[i]->events_of;
	}
	return r < 0 ? r : fresh;
}

static int op_backtraces(struct spi_point **points, unsigned int n)
{
	struct tp_backtrace **made = tp_alloc(n * sizeof(*made));
	int r = made ? tp_describe_backtraces(points, n, made) : -ENOMEM;

	for (unsigned int i = 0; r == 0 && i < n; i++)
		if (made[i])
			tp_backtrace_attach(points[i], made[i]);
	return r;
}

/*
 * A handler that left a record's making by siglongjmp() has left the thread within lttng-ust's read-side section, and
 * lttng-ust's own end waits for that: for ever. A thread that ends goes back to none.
 */
static void sections_leave(const struct spi_thread *t)
{
	tp_reader **place = t->payload[TP_WORD_READER], *reader;

	if (!place || place == &tp_reader_ended || !(reader = *place))
		return;
	lttng_ust_urcu_smp_mb_slave();
	_CMM_STORE_SHARED(reader->ctr, reader->ctr & ~LTTNG_UST_URCU_GP_CTR_NEST_MASK);
}

static void op_thread_end(struct spi_thread *t)
{
	int *error = tp_errno(t), error_was = *error;

	if (tp_closed < TP_EXEC)
		tp_debts_end(t);
	tp_compact_thread_end(t);
	sections_leave(t);
	t->payload[TP_WORD_READER] = &tp_reader_ended;
	*error = error_was;
	t->payload[TP_WORD_ERRNO] = NULL;
}

static int op_can_fork(void)
{
	return !other_fork_help;
}

static void op_fork_before(void)
{
	sigset_t set;

	tp_compact_fork_before();
	if (other_fork_help)
		return;
	lttng_ust_before_fork(&set);
	fork_signals = set;
	fork_tid = tp_tid();
}

static void op_fork_parent(void)
{
	sigset_t set = fork_signals;

	if (!other_fork_help)
		lttng_ust_after_fork_parent(&set);
	tp_compact_fork_parent();
}

/*
 * lttng-ust's RCU has the forking thread by what it was registered with in the parent. Where lttng-ust begins on another thread it
 * forgets that, and gives the place to others; so the thread is to register anew, and is not to take itself out when it ends (its key).
 */
static void reader_forget(void)
{
	void *reader = URCU_TLS(lttng_ust_urcu_reader);

	URCU_TLS(lttng_ust_urcu_reader) = NULL;
	for (pthread_key_t key = 0; reader && key < PTHREAD_KEYS_MAX; key++)
		if (pthread_getspecific(key) == reader)
			pthread_setspecific(key, NULL);
}

/* Nothing begins: lttng-ust's locks are given back, and nothing is recorded until op_child_begins(). */
static void op_fork_child(void)
{
	sigset_t set = fork_signals;

	tp_debts_forget(&spi_thread);
	if (tp_closed != TP_ENDED)
		tp_closed = TP_EXEC;
	tp_due_forget_all();
	tp_compact_fork_child();
	if (other_fork_help)
		return;
	lttng_ust_after_fork_parent(&set);
	/* the child may begin on another thread, and only that one forgets by itself */
	if (spi_thread.payload[TP_WORD_READER])
		tp_in_name_forget(fork_tid);
	reader_forget();
	/* Other threads' readers are not here, and lttng-ust's destructors would wait for one that was reading. */
	lttng_ust_urcu_before_fork();
	lttng_ust_urcu_after_fork_child();
	spi_thread.payload[TP_WORD_READER] = NULL;
}

/*
 * lttng-ust waits for a session daemon by two files in /dev/shm. One that is missing it has a child make: that runs the program's handlers of fork(), and
 * ends with a SIGCHLD for a program that has no children. So they are made here, as lttng-ust does (2.13, get_wait_shm()): a page of
 * zeros that its owner alone writes, or everybody does.
 */
static void wait_file_make(const char *path, uint64_t mode)
{
	long fd = spi_raw4(SYS_openat, (uint64_t) AT_FDCWD, (uint64_t) path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	if (fd < 0)
		return;
	if (spi_raw3(SYS_fchmod, (uint64_t) fd, mode, 0) < 0 || spi_raw3(SYS_ftruncate, (uint64_t) fd, 4096, 0) < 0)
		spi_raw3(SYS_unlinkat, (uint64_t) AT_FDCWD, (uint64_t) path, 0);
	spi_raw3(SYS_close, (uint64_t) fd, 0, 0);
}

static void wait_files_make(void)
{
	char own[64];

	spi_format(own, sizeof(own), "/dev/shm/lttng-ust-wait-8-%u", (unsigned int) spi_raw3(SYS_getuid, 0, 0, 0));
	wait_file_make(own, 0640);
	wait_file_make("/dev/shm/lttng-ust-wait-8", 0666);
}

/* The thread that begins the child; signals are held. */
static void op_child_begins(void)
{
	sigset_t set;

	tp_runs_fork_child();
	tp_function_fork_child();
	if (!other_fork_help) {
		wait_files_make();
		lttng_ust_before_fork(&set);
		lttng_ust_after_fork_child(&set);
	}
	if (tp_closed != TP_ENDED)
		tp_closed = TP_OPEN;
	tp_compact_child_begins();
	tp_alone_forked();
}

/* What follows may be in a snapshot that has nothing of what was before: numbers are described again. */
static void op_flush(void)
{
	tp_compact_flush_all();
	tp_site_forget_all();
	tp_function_again();
	tp_compact_expect_cut();
}

static void op_fini(void)
{
	if (tp_close_begin(SPI_CLOSE_FOR_END))
		tp_compact_close(1);
}

static int op_close_begin(enum spi_close_for what)
{
	int is_first = tp_close_begin(what);

	if (is_first && what != SPI_CLOSE_FOR_RULES)
		tp_compact_close(what == SPI_CLOSE_FOR_END);
	return is_first;
}

static void op_close_end(enum spi_close_for what)
{
	int *error = tp_errno(&spi_thread), error_was = *error;

	if (what != SPI_CLOSE_FOR_RULES)
		tp_compact_open();
	tp_close_end(what);
	*error = error_was;
}

static void op_function_say(const struct spi_function_told *function)
{
	if (tp_closed <= TP_CAREFUL)
		tp_function_tell(function);
}

static int op_thread_ready(int has_memory)
{
	struct spi_thread *t = &spi_thread;
	int is_ready;

	if (tp_closed)		/* lttng-ust may be over, and nothing is recorded */
		return 0;
	is_ready = tp_thread_ready(has_memory);
	if (is_ready > 0 && tp_compact_of(t))
		tp_compact_of(t)->record = t->record;	/* a forked child's thread has its own only now */
	return is_ready;
}

static void op_set_string_max(uint32_t bytes)
{
	tp_string_max = !bytes ? TP_STRING_DEFAULT : bytes < TP_STRING_LEAST ? TP_STRING_LEAST : bytes > TP_STRING_MOST ? TP_STRING_MOST : bytes;
}

/* From liblttng-ust-common, as its own liblttng-ust-fd.so uses it; in no public header. */
extern int lttng_ust_safe_close_fd(int fd, int (*close_cb)(int fd));

static int op_set_tags(struct spi_point *point, const char *tags)
{
	if (point->flags & SPI_POINT_COMPACT) {
		tp_compact_tags(tags);
		tp_compact_retag(point, tags);
	}
	return tp_context_set(point, tags);
}

/* These are about to be called, for the first time or again: a session may not have been told of their functions. */
static void op_installed(struct spi_point **points, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (points[i]->said && !(points[i]->flags & SPI_POINT_COMPACT))
			points[i]->flags |= SPI_POINT_UNNAMED;
}

/* The next channel may well be where the last one was in memory, and knows no function yet. */
static void functions_unheard(void)
{
	tp_function_unheard();
	tp_pair_latest = NULL;		/* its next call looks */
}

static void op_set_run(uint32_t run)
{
	const int had_run = *tp_runs_name();

	if (!tp_runs_set(run))
		return;
	if (had_run)		/* its session is gone, and a channel of another's may be where that had its own */
		tp_due_forget_all();
	functions_unheard();
}

static void op_attached(int is_first)
{
	tp_reader *reader;

	tp_compact_attached();
	if (!is_first || tp_closed)
		return;
	functions_unheard();
	reader = tp_read_lock(&spi_thread);
	tp_function_look();
	tp_read_unlock(reader);
}

static int op_tree_prepare(struct spi_object *object, int compact, const volatile int **gate, const char **why)
{
	return compact ? tp_compact_prepare(object, gate, why) : tp_generic_ready(object, gate, why);
}

static int op_tree_bind(struct spi_point *point)
{
	return point->flags & SPI_POINT_COMPACT ? tp_compact_bind_one(point) : tp_tree_bind(point);
}

static const struct spi_payload_ops ops = {
	.abi = SPI_PAYLOAD_ABI,
	.size = sizeof(ops),
	.bind = op_bind,
	.bind_generic = tp_bind_generic,
	.backtraces = op_backtraces,
	.thread_end = op_thread_end,
	.can_fork = op_can_fork,
	.fork_before = op_fork_before,
	.fork_parent = op_fork_parent,
	.fork_child = op_fork_child,
	.child_begins = op_child_begins,
	.fini = op_fini,
	.set_clock_floor = tp_clock_set_floor,
	.set_string_max = op_set_string_max,
	.close_fd = lttng_ust_safe_close_fd,
	.set_tags = op_set_tags,
	.tree_prepare = op_tree_prepare,
	.tree_bind = op_tree_bind,
	.bind_compact = tp_compact_bind,
	.flush = op_flush,
	.tree_changed = tp_compact_changed,
	.close_begin = op_close_begin,
	.close_thread = tp_close_thread,
	.close_call = tp_close_call,
	.close_end = op_close_end,
	.thread_ready = op_thread_ready,
	.detached = tp_compact_detached,
	.attached = op_attached,
	.set_run = op_set_run,
	.budget_prepare = tp_budget_prepare,
	.budget_event = tp_budget_event,
	.installed = op_installed,
	.libraries_update = tp_libraries_update,
	.library_event = tp_library_event,
	.function_say = op_function_say,
	.state_dump = tp_state_dump,
	.rule_tell = tp_rule_tell,
	.record_prepare = tp_record_prepare,
	.record_write = tp_record_write,
};

/* This library depends on lttng-ust's, so this runs first: events can still be recorded. */
__attribute__((destructor)) static void module_end(void)
{
	if (tp_core)
		tp_core->process_end();
}

SPI_EXPORT const struct spi_payload_ops *spi_payload_init(const struct spi_core_ops *core, const char **error);

const struct spi_payload_ops *spi_payload_init(const struct spi_core_ops *core, const char **error)
{
	static const char *const refusal = "LTTng-UST refused the providers spi_call and spi_run";
	static int is_refused;

	if (core->abi != SPI_PAYLOAD_ABI || core->size < sizeof(*core)) {
		*error =
			"liblttng-spi-tp.so and liblttng-spi.so are of different versions: install both from one build";
		return NULL;
	}
	if (tp_core) {
		*error = refusal;
		return is_refused ? NULL : &ops;
	}
	tp_core = core;
	if (tp_thread_ready(0) < 0) {	/* this thread's memory is allocated here: first-call.c */
		*error = "no memory is left for lttng-ust's variables";
		tp_core = NULL;
		return NULL;
	}
	dl_iterate_phdr(is_fork_help, &other_fork_help);
	tp_in_name_init();
	tp_clock_init();
	tp_alone_init();
	tp_context_register();
	tp_library_init();
	tp_state_dump_init();
	tp_rules_init();
	is_refused = tp_left_register() < 0 || tp_runs_register() < 0;
	*error = refusal;
	return is_refused ? NULL : &ops;
}
