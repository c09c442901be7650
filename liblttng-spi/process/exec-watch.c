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
 * come before. So the agent stands at libc's entries (SPI_HOOKS_PROGRAMS). Nothing
 * is taken from execve(): when the new environment's execve() comes back, whatever
 * the reason, libc's is called as the program did. An injected agent stands before
 * execve(), execveat() and fexecve() by the objects' pointers as well, to close the open calls where no
 * program is followed; calls that are open at libc's other functions have no exit there.
 *
 * Before a program is given up for another its open calls are closed, in all threads, as at its
 * end, unless the kernel is going to refuse: exec-file.c. Should it refuse then, they count as over.
 *
 * A vforked child runs on its parent's memory, thread-local words included: nothing
 * of the agent's may be found changed when it has gone. So it builds its environment
 * on the stack; and its calls, which would be recorded as its parent's, and never
 * end, are not recorded: clones.c.
 */
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/ledger/ledger.h"
#include "liblttng-spi/process/internal.h"

#define STACK_MOST	12288u		/* bytes for an environment; libc gives posix_spawn()'s child 32 KB */

uint32_t spi_tree_execs;
static int always;			/* the controller wants programs followed whatever the rules say */

/* ---- what could not be followed ---- */

/* Told by the parent: a vforked child must not take the link's lock. */
static struct note {
	uint32_t state;			/* 0 free, 1 being written, 2 to be told */
	const char *reason;
	char what[320];
} notes[32];

static void note_put(const char *kind, const char *what, const char *reason)
{
	for (unsigned int i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		uint32_t is_free = 0;

		if (!__atomic_compare_exchange_n(&notes[i].state, &is_free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		spi_format(notes[i].what, sizeof(notes[i].what), "%s%s", kind, what);
		notes[i].reason = reason;
		__atomic_store_n(&notes[i].state, 2, __ATOMIC_RELEASE);
		return;
	}
}

/* A child that is not traced, or a program that is not followed. */
void spi_exec_note(const char *program, const char *reason)
{
	note_put("not followed: ", program, reason);
}

void spi_exec_fault(const char *call, const char *reason)
{
	note_put("", call, reason);
}

void spi_exec_tell_held(void)
{
	if (!spi_may(SPI_MAY_TALK) && !spi_thread_is_tracer())
		return;		/* the control thread does when it is asked to */
	spi_control_late_tell();
	for (unsigned int i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		if (__atomic_load_n(&notes[i].state, __ATOMIC_ACQUIRE) != 2)
			continue;
		spi_note("%s: %s", notes[i].what, notes[i].reason);
		__atomic_store_n(&notes[i].state, 0, __ATOMIC_RELEASE);
	}
}

/* Any thread of the program; it waits no longer than spi_control_try() does. */
void spi_exec_tell(void)
{
	if (!spi_control_try())
		return;
	spi_exec_tell_held();
	spi_control_unlock();
}

void spi_exec_fork_child(void)
{
	for (unsigned int i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (notes[i].state)
			notes[i].state = 0;	/* the parent's to tell */
}

/* ---- execve() ---- */

static int is_followed(void)
{
	return (always || __atomic_load_n(&spi_tree_execs, __ATOMIC_RELAXED)) && spi_exec_socket();
}

static int is_reachable(void)
{
	return spi_sys(SYS_faccessat, (long) AT_FDCWD, spi_exec_socket(), (long) W_OK) == 0;
}

/* What is over with this program. A forked child that has not begun has payloads' calls alone. */
enum left { LEFT_NOTHING, LEFT_PAYLOADS, LEFT_ALL };

/* This program is over, unless it is the tracer that executes another. */
static enum left program_leave(int directory, const char *path)
{
	const int waits = spi_mode == SPI_MODE_CHILD_WAITS;
	struct spi_thread *t = &spi_thread;
	char by_descriptor[SPI_PROC_PATH];

	if (t->busy)
		return LEFT_NOTHING;
	if (!path[0]) {
		spi_format(by_descriptor, sizeof(by_descriptor), "/proc/self/fd/%d", directory);
		path = by_descriptor;
	}
	spi_debug(SPI_DEBUG_PROCESS, "executes %s", path);
	spi_participants_run(program_begins, path);
	if (waits) {	/* nothing is open */
		spi_exec_tell();
		return LEFT_PAYLOADS;
	}
	spi_process_execs();
	t->busy |= SPI_BUSY_ALWAYS;
	spi_participants_run(exec_tells);
	spi_exec_tell();
	t->busy &= ~SPI_BUSY_ALWAYS;
	return LEFT_ALL;
}

/* With the new environment, in a frame of its own. Returns when that failed, or was not to be. */
static void exec_followed(int directory, const char *path, char *const argv[], char *const envp[], int flags, int is_at)
{
	size_t size = spi_exec_env_size(envp);
	char **env;

	if (!size || size > STACK_MOST) {
		if (size)
			spi_exec_note(path, "its environment is too large");
		return;
	}
	env = spi_exec_env_fill(alloca(size), envp);
	if (is_at)
		spi_sys(SYS_execveat, (long) directory, path, argv, env, (long) flags);
	else
		spi_sys(SYS_execve, path, argv, env);
}

/* Returns when it did not work, or was not tried: then the program's own call is to be made. */
static enum left exec_try(int directory, const char *path, char *const argv[], char *const envp[], int flags, int is_at)
{
	const char *reason;
	enum spi_exec_kind kind;
	enum left left = LEFT_NOTHING;
	int followed = is_followed();

	if (!spi_may(SPI_MAY_TALK))	/* looking alone could be its end */
		return LEFT_NOTHING;
	if (!followed && !spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		return LEFT_NOTHING;
	kind = spi_exec_look(directory, path, flags, &reason);
	if (kind == SPI_EXEC_FAILS)
		return LEFT_NOTHING;
	if (followed && !is_reachable()) {
		if (kind == SPI_EXEC_FITS)
			reason = "the tracer's socket cannot be reached from it: trace it with -p or --exec";
		kind = SPI_EXEC_UNFIT;
	}
	if (followed && kind == SPI_EXEC_UNFIT)
		spi_exec_note(path, reason);
	if (spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		left = program_leave(directory, path);
	if (followed && kind == SPI_EXEC_FITS)
		exec_followed(directory, path, argv, envp, flags, is_at);
	return left;
}

/* It is the program's own call that came back. */
static int exec_failed(enum left left, int ret)
{
	if (left == LEFT_ALL)
		spi_process_goes_on();
	if (left != LEFT_NOTHING)
		spi_participants_run(program_fails);
	return ret;
}

/* What the program executes by syscall(). When this returns, it failed: once more will give libc's caller the error. */
void spi_exec_by_syscall(int directory, const char *path, char *const argv[], char *const envp[], int flags, int is_at)
{
	enum left left = exec_try(directory, path, argv, envp, flags, is_at);

	if (left == LEFT_NOTHING)
		return;
	if (is_at)
		spi_sys(SYS_execveat, (long) directory, path, argv, envp, (long) flags);
	else
		spi_sys(SYS_execve, path, argv, envp);
	exec_failed(left, 0);
}

static __typeof__(&execve) next_execve;
static int own_execve(const char *path, char *const argv[], char *const envp[])
{
	enum left left = exec_try(AT_FDCWD, path, argv, envp, 0, 0);

	return exec_failed(left, SPI_NEXT(execve)(path, argv, envp));
}

static __typeof__(&execveat) next_execveat;
static int own_execveat(int directory, const char *path, char *const argv[], char *const envp[], int flags)
{
	enum left left = exec_try(directory, path, argv, envp, flags, 1);

	return exec_failed(left, SPI_NEXT(execveat)(directory, path, argv, envp, flags));
}

static __typeof__(&fexecve) next_fexecve;
static int own_fexecve(int fd, char *const argv[], char *const envp[])
{
	enum left left = exec_try(fd, "", argv, envp, AT_EMPTY_PATH, 1);

	return exec_failed(left, SPI_NEXT(fexecve)(fd, argv, envp));
}

static void take_back(void)
{
	spi_lend_over();
	spi_exec_tell();
}

#define SPAWN(name) \
	static __typeof__(&name) next_##name; \
	static int own_##name(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, \
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[]) \
	{ \
		int was_lent = spi_lend(SPI_LEND_WHILE); \
		int ret = SPI_NEXT(name)(pid, path, actions, attr, argv, envp); \
	\
		if (was_lent) \
			take_back(); \
		if (!ret && spi_unlikely(spi_watched & SPI_WATCH_CHILDREN)) \
			spi_child_tell(pid ? (int32_t) *pid : -1); \
		return ret; \
	}
SPAWN(posix_spawn)
SPAWN(posix_spawnp)

#define PROGRAMS	.set = SPI_HOOKS_PROGRAMS, .lost = "programs that it executes are not traced"
#define EITHER	.ways = SPI_HOOK_POINTERS | SPI_HOOK_ENTRY
const struct spi_hook spi_exec_hooks[] = {
	{ SPI_HOOK_ROW(execve), EITHER, PROGRAMS },
	{ SPI_HOOK_ROW(execveat), EITHER, PROGRAMS },
	{ SPI_HOOK_ROW(fexecve), EITHER, PROGRAMS },
	{ SPI_HOOK_ROW(posix_spawn), .ways = SPI_HOOK_ENTRY, PROGRAMS },
	{ SPI_HOOK_ROW(posix_spawnp), .ways = SPI_HOOK_ENTRY, PROGRAMS },
	{ NULL },
};

/* ---- begin and end ---- */

void spi_exec_start(struct spi_link *link)
{
	spi_hooks_enter(SPI_HOOKS_PROGRAMS, link);
}

void spi_exec_start_always(struct spi_link *link)
{
	always = 1;
	spi_exec_start(link);
}

void spi_exec_stop(void)
{
	spi_exec_tell_held();
	if (!always && !(spi_watched & SPI_WATCH_PROGRAMS))
		spi_hooks_leave(SPI_HOOKS_PROGRAMS);
}

void spi_exec_stop_always(void)
{
	always = 0;
	if (!spi_tree_existing)
		spi_exec_stop();
}
