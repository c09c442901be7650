/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Programs that the traced one executes. What the agent needs was taken out of the
 * environment before main(); while something follows programs, it is put into the
 * environment that a new one gets. The new program's agent then connects to the
 * same controller, and is given the same rules before its main().
 *
 * All of libc's ways end in its execve() (fexecve() and execveat() apart), those
 * inside posix_spawn(), system() and popen() too, which no symbol of ours would
 * come before. So the agent's own patcher puts jumps to functions here at libc's
 * entries, as watch.c does; what is called by `next` is the moved beginning of
 * libc's. Nothing is taken from execve(): when the new environment's execve() comes
 * back, whatever the reason, libc's is called as the program did.
 *
 * Before a program is given up for another its open calls are closed, in all threads, as at its
 * end, unless the kernel is going to refuse: exec-file.c. Should it refuse then, they
 * are entered again (functions recorded with arguments, which are not known any more, count as over).
 *
 * A vforked child runs on its parent's memory, thread-local words included: nothing
 * of the agent's may be found changed when it has gone. So it builds its environment
 * on the stack; and its calls, which would be recorded as its parent's, and never
 * end, are not recorded: clones.c.
 */
#include <alloca.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include "liblttng-spi/clones.h"
#include "liblttng-spi/exec.h"
#include "liblttng-spi/interpose.h"
#include "liblttng-spi/ledger/ledger.h"
#include "liblttng-spi/sandbox.h"
#include "liblttng-spi/tree-rule.h"

#define LINK_MS		500
#define STACK_MOST	12288u		/* bytes for an environment; libc gives posix_spawn()'s child 32 KB */


uint32_t spi_tree_execs, spi_exec_watching;
static int always;			/* the controller wants programs followed whatever the rules say */

/* ---- what could not be followed ---- */

/* Told by the parent: a vforked child must not take the link's lock. */
static struct note {
	uint32_t state;			/* 0 free, 1 being written, 2 to be told */
	uint32_t is_fault;		/* of a call of the program's own */
	const char *reason;
	char program[300];
} notes[32];

static void note_put_as(const char *program, const char *reason, int is_fault)
{
	for (unsigned int i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		uint32_t is_free = 0;

		if (!__atomic_compare_exchange_n(&notes[i].state, &is_free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		spi_format(notes[i].program, sizeof(notes[i].program), "%s", program);
		notes[i].reason = reason;
		notes[i].is_fault = (uint32_t) is_fault;
		__atomic_store_n(&notes[i].state, 2, __ATOMIC_RELEASE);
		return;
	}
}

static void note_put(const char *program, const char *reason)
{
	note_put_as(program, reason, 0);
}

void spi_exec_fault(const char *call, const char *reason)
{
	note_put_as(call, reason, 1);
}

static void tell(void)
{
	if (!spi_may(SPI_MAY_TALK) && !spi_thread_is_tracer())
		return;		/* the control thread does when it is asked to */
	for (unsigned int i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		if (__atomic_load_n(&notes[i].state, __ATOMIC_ACQUIRE) != 2)
			continue;
		spi_note("%s%s: %s", notes[i].is_fault ? "" : "not followed: ", notes[i].program, notes[i].reason);
		__atomic_store_n(&notes[i].state, 0, __ATOMIC_RELEASE);
	}
}

/* Any thread of the program; it waits no longer than spi_control_try() does. */
void spi_exec_tell(void)
{
	if (!spi_control_try())
		return;
	tell();
	spi_control_unlock();
}

void spi_exec_tell_held(void)
{
	tell();
}

/* A child that has just been forked has no link yet: its control thread is opening one. */
static void link_wait(void)
{
	struct timespec pause = { 0, 1000000 };

	for (int i = 0; i < LINK_MS && spi_link_is_opening(); i++)
		spi_sys(SYS_nanosleep, &pause, NULL);
}

/* A child that is not traced, and not followed. */
void spi_exec_note(const char *program, const char *reason)
{
	note_put(program, reason);
}

void spi_exec_fork_child(void)
{
	for (unsigned int i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (notes[i].state)
			notes[i].state = 0;	/* the parent's to tell */
}

/* ---- execve() ---- */

static int exec_begins(void)
{
	int state = 0;

	spi_participants_run(exec_begins, &state);
	return state;
}

static int is_followed(void)
{
	return (always || __atomic_load_n(&spi_tree_execs, __ATOMIC_RELAXED)) && spi_exec_socket();
}

static int is_reachable(void)
{
	return spi_sys(SYS_faccessat, (long) AT_FDCWD, spi_exec_socket(), (long) W_OK) == 0;
}

/* This program is over: 1; 0 when it is the tracer that executes another. */
static int program_leave(int cannot_follow)
{
	struct spi_thread *t = &spi_thread;

	if (t->busy)
		return 0;
	if (spi_mode == SPI_MODE_CHILD_WAITS) {	/* nothing is open */
		spi_exec_tell();
		return 0;
	}
	spi_process_execs();
	t->busy |= SPI_BUSY_ALWAYS;
	if (cannot_follow)
		link_wait();
	spi_participants_run(exec_tells);
	spi_exec_tell();
	t->busy &= ~SPI_BUSY_ALWAYS;
	return 1;
}

int spi_exec_leave(int directory, const char *path, int flags)
{
	const char *reason;

	if (!spi_may(SPI_MAY_TALK | SPI_MAY_HERE) ||
			spi_exec_look(directory, path, flags, &reason) == SPI_EXEC_FAILS)
		return 0;
	return program_leave(0);
}

/* With the new environment, in a frame of its own. Returns when that failed, or was not to be. */
static void exec_followed(int directory, const char *path, char *const argv[], char *const envp[], int flags, int is_at)
{
	size_t size = spi_exec_env_size(envp);
	char **env;

	if (!size || size > STACK_MOST) {
		if (size)
			note_put(path, "its environment is too large");
		return;
	}
	env = spi_exec_env_fill(alloca(size), envp);
	if (is_at)
		spi_sys(SYS_execveat, (long) directory, path, argv, env, (long) flags);
	else
		spi_sys(SYS_execve, path, argv, env);
}

/* Returns when it did not work, or was not tried: then the program's own call is to be made. 1: its calls were closed. */
static int exec_try(int directory, const char *path, char *const argv[], char *const envp[], int flags, int is_at)
{
	const char *reason;
	enum spi_exec_kind kind;
	int followed, left = 0;

	if (!spi_may(SPI_MAY_TALK))	/* looking alone could be its end */
		return 0;
	kind = spi_exec_look(directory, path, flags, &reason);
	if (kind == SPI_EXEC_FAILS)
		return 0;
	followed = is_followed();
	if (followed && !is_reachable()) {
		if (kind == SPI_EXEC_FITS)
			reason = "the tracer's socket cannot be reached from it: trace it with -p or --exec";
		kind = SPI_EXEC_UNFIT;
	}
	if (followed && kind == SPI_EXEC_UNFIT)
		note_put(path, reason);
	if (spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		left = program_leave(followed && kind == SPI_EXEC_UNFIT);
	if (followed && kind == SPI_EXEC_FITS)
		exec_followed(directory, path, argv, envp, flags, is_at);
	return left;
}

/* It is the program's own call that came back. */
static int exec_failed(int left, int late, int ret)
{
	spi_participants_run(exec_over, late);
	if (left)
		spi_process_goes_on();
	return ret;
}

/* What the program executes by syscall(). When this returns, it failed: once more will give libc's caller the error. */
void spi_exec_by_syscall(int directory, const char *path, char *const argv[], char *const envp[], int flags, int is_at)
{
	int late = exec_begins(), left = exec_try(directory, path, argv, envp, flags, is_at);

	if (!left && !late)
		return;
	if (is_at)
		spi_sys(SYS_execveat, (long) directory, path, argv, envp, (long) flags);
	else
		spi_sys(SYS_execve, path, argv, envp);
	exec_failed(left, late, 0);
}

static int (*next_execve)(const char *path, char *const argv[], char *const envp[]);
static int exec_execve(const char *path, char *const argv[], char *const envp[])
{
	int late = exec_begins(), left = exec_try(AT_FDCWD, path, argv, envp, 0, 0);

	return exec_failed(left, late, next_execve(path, argv, envp));
}

static int (*next_execveat)(int directory, const char *path, char *const argv[], char *const envp[], int flags);
static int exec_execveat(int directory, const char *path, char *const argv[], char *const envp[], int flags)
{
	int late = exec_begins(), left = exec_try(directory, path, argv, envp, flags, 1);

	return exec_failed(left, late, next_execveat(directory, path, argv, envp, flags));
}

static int (*next_fexecve)(int fd, char *const argv[], char *const envp[]);
static int exec_fexecve(int fd, char *const argv[], char *const envp[])
{
	int late = exec_begins(), left = exec_try(fd, "", argv, envp, AT_EMPTY_PATH, 1);

	return exec_failed(left, late, next_fexecve(fd, argv, envp));
}

static void take_back(void)
{
	spi_lend_over();
	spi_exec_tell();
}

#define SPAWN(name) \
	static int (*next_##name)(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, \
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[]); \
	static int exec_##name(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, \
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[]) \
	{ \
		int late = exec_begins(), was_lent = spi_lend(SPI_LEND_WHILE); \
		int ret = next_##name(pid, path, actions, attr, argv, envp); \
	\
		spi_participants_run(exec_over, late); \
		if (was_lent) \
			take_back(); \
		return ret; \
	}
SPAWN(posix_spawn)
SPAWN(posix_spawnp)

/* Called from within libc (daemon(), quick_exit()), and where the agent came too late to stand before it: init.c. */
static void (*next_exit)(int status);
static void exec_exit(int status)
{
	if (spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		spi_process_ends();
	next_exit(status);
}

/* ---- libc's functions ---- */

#define PROGRAMS	"programs that it executes are not traced"

static struct watched {
	const char *name;
	const char *lacking;		/* what there is not where it cannot be watched; NULL: nothing that is worth a note */
	void *with;			/* instead of it; or */
	void **next;
	spi_entry_fn entry;		/* before it */
	struct spi_point *point;
} watched[] = {
	{ "execve", PROGRAMS, (void *) exec_execve, (void **) &next_execve, NULL, NULL },
	{ "execveat", PROGRAMS, (void *) exec_execveat, (void **) &next_execveat, NULL, NULL },
	{ "fexecve", PROGRAMS, (void *) exec_fexecve, (void **) &next_fexecve, NULL, NULL },
	{ "posix_spawn", PROGRAMS, (void *) exec_posix_spawn, (void **) &next_posix_spawn, NULL, NULL },
	{ "posix_spawnp", PROGRAMS, (void *) exec_posix_spawnp, (void **) &next_posix_spawnp, NULL, NULL },
	{ "_exit", "calls that are open when it is called have no exits", (void *) exec_exit, (void **) &next_exit, NULL, NULL },
	{ "clone", NULL, NULL, NULL, spi_clone_entry, NULL },
	{ "prctl", NULL, NULL, NULL, spi_sandbox_prctl, NULL },
	{ "abort", NULL, NULL, NULL, spi_closing_abort, NULL },
	{ "unshare", "user namespaces are refused", (void *) spi_namespaces_unshare, (void **) &spi_namespaces_next_unshare, NULL, NULL },
	{ "setns", "user namespaces are refused", (void *) spi_namespaces_setns, (void **) &spi_namespaces_next_setns, NULL, NULL },
	{ "_Fork", "what its children call is not told from the program's own calls", (void *) spi_clones_fork, (void **) &spi_clones_next_fork, NULL, NULL },
	{ "syscall", "threads and children that it makes are not told from their maker", (void *) spi_clones_syscall, (void **) &spi_clones_next_syscall, NULL, NULL },
};
#define WATCHED (sizeof(watched) / sizeof(watched[0]))

static void watched_make(struct watched *w, struct spi_object *libc, const struct spi_map *map)
{
	uint64_t address = (uint64_t) spi_find_in_libc(w->name);
	int64_t i = address ? spi_map_func_at(map, address - libc->bias) : -1;
	const char *reason = "it is not there";
	struct spi_point *p = NULL;

	if (i >= 0 && spi_map_func_is_good(map, (uint64_t) i))
		p = spi_near_alloc(libc, sizeof(*p), 64);
	if (!p)
		goto fail;
	p->address = address;
	p->object = libc;
	p->func = SPI_MAP_AT(map, funcs, struct spi_map_func, i);
	p->map = map;
	p->flags = SPI_POINT_APART;
	if (w->with) {
		p->thunk = (uint64_t) spi_hook_thunk;
	} else {
		p->entry = w->entry;
		spi_thread_thunks(p, 1, 1);
	}
	if (spi_patch_prepare(p, &reason) < 0)
		goto fail;
	reason = "it would need int3, each time";
	if (w->with == (void *) spi_clones_syscall && spi_patch_worker(p) == SPI_WORKER_TRAP)
		goto fail;
	if (w->with)
		p->payload = w->with;
	w->point = p;
	return;
fail:
	if (w->lacking)
		spi_note("libc's %s() cannot be watched, so %s: %s", w->name, w->lacking, reason);
}

static void watched_write(int install)
{
	struct spi_point *list[WATCHED];
	const char *errors[WATCHED];
	uint32_t n = 0;

	/* before the jump is there, and after it is gone: the agent's own may be called meanwhile */
	for (unsigned int i = 0; install && i < WATCHED; i++)
		if (watched[i].point && watched[i].with)
			*watched[i].next = (void *) watched[i].point->body;
	for (unsigned int i = 0; i < WATCHED; i++)
		if (watched[i].point && watched[i].point->installed != (uint32_t) install)
			list[n++] = watched[i].point;
	spi_points_write(list, n, errors, install);
	if (!install)
		spi_clones_syscall_unwatched();
	__atomic_store_n(&spi_exec_watching, (uint32_t) spi_exec_is_watched(), __ATOMIC_RELEASE);
}

/* Its tree's map if there is one; else what is needed of it. */
static const struct spi_map *map_get(struct spi_link *link, struct spi_object *libc)
{
	static struct spi_map map;	/* stays mapped: the points refer to it */
	char patterns[200] = "", error[400];
	int used = 0;

	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		if (to->object == libc)
			return &to->map;
	for (unsigned int i = 0; i < WATCHED; i++)
		used += spi_format(patterns + used, sizeof(patterns) - (size_t) used, "%s%s", i ? "\n" : "", watched[i].name);
	return spi_map_fetch(link, libc, patterns, 0, &map, error, sizeof(error)) < 0 ? NULL : &map;
}

void spi_exec_start(struct spi_link *link)
{
	static int made;
	struct spi_object *libc = spi_objects_list();
	const struct spi_map *map;

	while (libc && (!libc->seen || strcmp(libc->name, "libc.so.6")))
		libc = libc->next;
	if (!libc)
		return;
	if (!made) {
		map = map_get(link, libc);
		if (!map)
			return;
		for (unsigned int i = 0; i < WATCHED; i++)
			watched_make(&watched[i], libc, map);
		made = 1;
	}
	watched_write(1);
}

int spi_exec_watches(const void *function)
{
	for (unsigned int i = 0; i < WATCHED; i++)
		if (watched[i].with == function || (const void *) watched[i].entry == function)
			return watched[i].point && watched[i].point->installed;
	return 0;
}

int spi_exec_is_watched(void)
{
	return watched[0].point && watched[0].point->installed;
}

void spi_exec_start_always(struct spi_link *link)
{
	always = 1;
	spi_exec_start(link);
}

void spi_exec_stop(void)
{
	tell();
	if (!always)
		watched_write(0);
}

void spi_exec_stop_always(void)
{
	always = 0;
	if (!spi_tree_existing)
		spi_exec_stop();
}
