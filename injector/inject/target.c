/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Looks a process over before it is touched, and refuses with one clear line what cannot be
 * injected: no trace is better than a dead or hung program.
 *
 * A process is known by its pidfd and its start time together, so a pid that is used again is never
 * mistaken for the process that was asked for.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/inject/target.h"

/* glibc's private flag for __libc_dlopen_mode(), its dlopen() before libdl moved into libc (2.34). */
#define RTLD_DLOPEN_PRIVATE	0x80000000u
#define RTLD_NOW_FLAG		2u

int spi_inject_fail(struct spi_inject_result *result, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(result->text, sizeof(result->text), format, args);
	va_end(args);
	for (char *c = result->text; *c; c++)
		if ((unsigned char) *c < ' ')
			*c = ' ';
	return -error;
}

/* "process 12 (name)" is how every message names it. */
#define TARGET_FORMAT	"process %d (%s)"
#define TARGET_ARGS(t)	(int) (t)->pid, (t)->name
#define REFUSE(t, error, format, ...) \
	spi_inject_fail((t)->result, error, TARGET_FORMAT format, TARGET_ARGS(t), ##__VA_ARGS__)

#define FORBID(t, format, ...) \
	spi_inject_fail((t)->result, EPERM, "not permitted to trace " TARGET_FORMAT format, TARGET_ARGS(t), \
			##__VA_ARGS__)

static int refuse_unknown_tracer(const struct spi_target *t, pid_t tracer)
{
	char *name = spi_proc_read(NULL, "%d/comm", (int) tracer);

	if (name)
		name[strcspn(name, "\n")] = 0;
	REFUSE(t, EBUSY, " is already traced by process %d (%s): end that first", (int) tracer, name ? name : "?");
	free(name);
	return -EBUSY;
}

/* An injection that has just ended may still be letting go of the target: wait for it, half a second at most. */
static bool wait_for_last_injector(const char *status)
{
	const char *tracer = spi_status_value(status, "TracerPid");
	struct pollfd poll_fd = { .events = POLLIN };
	char *name;

	if (!tracer || !atoi(tracer) || atoi(tracer) == gettid())
		return false;
	name = spi_proc_read(NULL, "%d/comm", atoi(tracer));
	if (name && !strncmp(name, "spi-inject", 10)) {
		poll_fd.fd = (int) syscall(SYS_pidfd_open, atoi(tracer), 0);
		if (poll_fd.fd >= 0) {
			poll(&poll_fd, 1, 500);
			close(poll_fd.fd);
		}
	}
	free(name);
	return true;
}

static int check_state(const struct spi_target *t, const char *status)
{
	const char *state = spi_status_value(status, "State");
	const char *threads = spi_status_value(status, "Threads");
	const char *tracer = spi_status_value(status, "TracerPid");
	const char *seccomp = spi_status_value(status, "Seccomp");
	const char *shadow = spi_status_value(status, "x86_Thread_features");

	/* A main thread that has ended while others run looks like a zombie, too. */
	if (state && (*state == 'X' || (*state == 'Z' && (!threads || atoi(threads) <= 1))))
		return REFUSE(t, ESRCH, " is a zombie: it has ended, only its parent has not collected it yet");
	if (spi_status_value(status, "Kthread") ? *spi_status_value(status, "Kthread") == '1' :
						  !spi_status_value(status, "VmSize") && state && *state != 'Z')
		return REFUSE(t, ENOTSUP, " is a kernel thread or is ending: only running programs can be traced");
	if (tracer && atoi(tracer) && atoi(tracer) != gettid())		/* program-start.c comes first */
		return refuse_unknown_tracer(t, atoi(tracer));
	if (state && *state == 'T')
		return REFUSE(t, EAGAIN, " is stopped by job control: continue it first (kill -CONT %d)",
				(int) t->pid);
	if (seccomp && *seccomp == '1')		/* filters are looked into once a thread is stopped: sandbox.c */
		return REFUSE(t, ENOTSUP, " runs under seccomp's strict mode, which would kill it for the system calls "
				"that loading a library makes: start it under the tracer instead");
	if (shadow && memmem(shadow, strcspn(shadow, "\n"), "shstk", 5))
		return REFUSE(t, ENOTSUP, " runs with a shadow stack: start it under the tracer instead");
	return 0;
}

/* The executable: 64-bit x86, or a refusal that says what it is. */
static int check_executable(const struct spi_target *t)
{
	char path[64], real[512];
	Elf64_Ehdr head;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int) spi_living_thread(t->pid));
	n = readlink(path, real, sizeof(real) - 1);
	if (n < 0)
		return errno != ENOENT ? spi_target_explain_refusal(t, errno) : REFUSE(t, ESRCH, " ended meanwhile");
	real[n] = 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return spi_target_explain_refusal(t, errno);
	n = pread(fd, &head, sizeof(head), 0);
	close(fd);
	if (n < (ssize_t) sizeof(Elf32_Ehdr) || memcmp(head.e_ident, ELFMAG, SELFMAG))
		return REFUSE(t, ENOTSUP, ": its executable %s is not an ELF file", real);
	if (head.e_machine != EM_X86_64 && head.e_machine != EM_386)
		return REFUSE(t, ENOTSUP, ": its executable %s is for another architecture (ELF machine %u); "
				"only x86-64 can be traced", real, head.e_machine);
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine == EM_386)
		return REFUSE(t, ENOTSUP, ": its executable %s is a 32-bit program; only 64-bit ones can be "
				"traced", real);
	if (strstr(real, "/valgrind/"))
		return REFUSE(t, ENOTSUP, " runs under valgrind, which interprets its code: trace it without "
				"valgrind");
	return 0;
}

static const struct spi_mapping *find_library(const struct spi_target *t, const char *name, const char *old_prefix)
{
	const struct spi_mapping *m = spi_maps_find_file(&t->maps, name);

	return m ? m : spi_maps_find_file(&t->maps, old_prefix);
}

/* Find dlopen(): in libc since 2.34; before, in libdl when that is loaded, else libc's private one. */
static int find_dlopen(struct spi_target *t)
{
	const struct spi_mapping *m;
	struct spi_image libdl;

	t->dlopen_flags = RTLD_NOW_FLAG;
	t->dlopen = spi_image_symbol(&t->libc, "dlopen", NULL);
	t->dlerror = spi_image_symbol(&t->libc, "dlerror", NULL);
	if (t->dlopen)
		return 0;
	m = find_library(t, "libdl.so.2", "libdl-2.");
	if (m && !spi_image_read(&libdl, t->pid, &t->maps, m, false)) {
		t->dlopen = spi_image_symbol(&libdl, "dlopen", NULL);
		t->dlerror = spi_image_symbol(&libdl, "dlerror", NULL);
		spi_image_free(&libdl);
		if (t->dlopen)
			return 0;
	}
	t->dlopen = spi_image_symbol(&t->libc, "__libc_dlopen_mode", NULL);
	t->dlopen_flags |= RTLD_DLOPEN_PRIVATE;
	return t->dlopen ? 0 : -ENOENT;
}

static int check_c_library(struct spi_target *t)
{
	const struct spi_mapping *libc = find_library(t, "libc.so.6", "libc-2.");
	const struct spi_mapping *loader = find_library(t, "ld-linux-x86-64.so.2", "ld-2.");
	int ret;

	if (!libc && (spi_maps_find_file(&t->maps, "ld-musl") || spi_maps_find_file(&t->maps, "libc.musl")))
		return REFUSE(t, ENOTSUP, " uses the C library musl; only programs that use glibc can be traced");
	if (!libc && !loader)
		return REFUSE(t, ENOTSUP, " is statically linked: without a dynamic loader nothing can be loaded "
				"into it; link the program dynamically");
	if (!libc || !loader)
		return REFUSE(t, ENOTSUP, " has no glibc loaded; only programs that use glibc can be traced (one "
				"that has just started: try again)");
	ret = spi_image_read(&t->libc, t->pid, &t->maps, libc, false);
	if (!ret)
		ret = spi_image_read(&t->loader, t->pid, &t->maps, loader, false);
	if (ret == -EPERM || ret == -EACCES)
		return spi_target_explain_refusal(t, -ret);
	if (!ret)
		ret = find_dlopen(t);
	if (ret && !spi_target_lives(t))
		return REFUSE(t, ESRCH, " ended meanwhile");
	if (ret)
		return REFUSE(t, ENOTSUP, ": its C library %s has no dlopen() that can be found", libc->path);
	return 0;
}

int spi_inject_yama(void)
{
	char *text = spi_proc_read(NULL, "sys/kernel/yama/ptrace_scope");
	int scope = text ? atoi(text) : 0;

	free(text);
	return scope;
}

/* For a broker of root's, as the target's user without capabilities, "be root" would be no remedy. */
static const char *yama_remedy(const struct spi_target *t, int scope)
{
	if (scope >= 3)
		return "only a reboot changes that";
	return t->expect_uid != (uid_t) -1 ? "set it to 0 (sysctl kernel.yama.ptrace_scope=0)" :
	       "be root (CAP_SYS_PTRACE), or set it to 0";
}

int spi_target_explain_refusal(const struct spi_target *t, int error)
{
	char *status;
	const char *tracer;
	int scope = spi_inject_yama();

	if (error == ESRCH || error == ENOENT)
		return REFUSE(t, ESRCH, " ended meanwhile");
	status = spi_proc_read(NULL, "%d/status", (int) spi_living_thread(t->pid));
	tracer = status ? spi_status_value(status, "TracerPid") : NULL;
	if (tracer && atoi(tracer)) {
		pid_t pid = atoi(tracer);

		free(status);
		return refuse_unknown_tracer(t, pid);
	}
	free(status);
	if (geteuid() && t->uid != geteuid())
		return FORBID(t, ": it belongs to uid %u, you are uid %u; be that user or root",
			      (unsigned int) t->uid, (unsigned int) geteuid());
	if (scope)
		return FORBID(t, ": kernel.yama.ptrace_scope is %d; %s", scope, yama_remedy(t, scope));
	return FORBID(t, " (%s): it changed its user, has capabilities of its own, or made itself undumpable; "
		      "be root (CAP_SYS_PTRACE)", strerror(error));
}

static void target_read_identity(struct spi_target *t, const char *status)
{
	const char *value = spi_status_value(status, "Name");

	snprintf(t->name, sizeof(t->name), "%.*s", value ? (int) strcspn(value, "\n") : 1, value ? value : "?");
	value = spi_status_value(status, "Uid");
	t->uid = value ? strtoul(value + strcspn(value, " \t"), NULL, 10) : 0;	/* the effective one */
	value = spi_status_value(status, "Gid");
	t->gid = value ? strtoul(value + strcspn(value, " \t"), NULL, 10) : 0;
	t->inner_pid = spi_status_inner_pid(status, t->pid);
}

size_t spi_target_threads(pid_t pid, pid_t *tids, size_t max)
{
	char path[64];
	struct dirent *entry;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	tids[n++] = pid;
	while (n < max && (entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && tid != pid)
			tids[n++] = tid;
	}
	closedir(dir);
	return n;
}

int spi_target_open(struct spi_target *t, pid_t pid, const struct spi_inject_options *options,
		    struct spi_inject_result *result)
{
	const char *group;
	char *status;
	int ret;

	memset(t, 0, sizeof(*t));
	t->pid = pid;
	t->result = result;
	t->pidfd = t->mem = -1;
	t->expect_start_time = options->expect_start_time;
	t->expect_uid = options->flags & SPI_INJECT_EXPECT_UID ? options->expect_uid : (uid_t) -1;
	strcpy(t->name, "?");
	if (pid <= 0)
		return spi_inject_fail(result, ESRCH, "%d is not a process id", (int) pid);
	t->pidfd = syscall(SYS_pidfd_open, pid, 0);	/* closed on exec; first, so that all that follows is of this process */
	status = spi_proc_read(NULL, "%d/status", (int) pid);
	if (!status)
		return spi_inject_fail(result, ESRCH, "process %d: there is no such process", (int) pid);
	target_read_identity(t, status);
	group = spi_status_value(status, "Tgid");
	if (group && atoi(group) != pid) {
		ret = spi_inject_fail(result, ESRCH, "%d is a thread of process %d: name the process", (int) pid,
				atoi(group));
		goto out;
	}
	if (pid == getpid()) {
		ret = spi_inject_fail(result, EINVAL, "process %d is this program itself", (int) pid);
		goto out;
	}
	ret = spi_identity_read(t, status);
	if (ret)
		goto out;
	if (wait_for_last_injector(status)) {
		free(status);
		status = spi_proc_read(NULL, "%d/status", (int) pid);
	}
	ret = status ? check_state(t, status) : REFUSE(t, ESRCH, " ended meanwhile");
out:
	free(status);
	return ret;
}

int spi_target_look(struct spi_target *t)
{
	int ret = check_executable(t);

	if (ret)
		return ret;
	ret = t->mem < 0 ? -EPERM : spi_maps_read(&t->maps, t->pid);
	return ret ? spi_target_explain_refusal(t, -ret) : check_c_library(t);
}

void spi_target_close(struct spi_target *t)
{
	spi_image_free(&t->libc);
	spi_image_free(&t->loader);
	spi_maps_free(&t->maps);
	if (t->pidfd >= 0)
		close(t->pidfd);
	if (t->mem >= 0)
		close(t->mem);
	t->pidfd = t->mem = -1;
}

bool spi_target_lives(const struct spi_target *t)
{
	return !syscall(SYS_pidfd_send_signal, t->pidfd, 0, NULL, 0) ? true : errno == EPERM;
}
