/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Programs that a traced one executes. What the agent needs was taken out of the
 * environment before main(); while a call tree follows programs, it is put into the
 * environment that a new one gets, on the stack of whoever executes it. The new
 * program's agent then connects, and is given the same rules before its main().
 *
 * A preloaded agent stands before libc's functions for that. They run in children
 * of fork() and vfork(), with other threads' locks in any state and on the parent's
 * memory: so nothing here is written but the stack, and nothing is called but the
 * system and, for what libc does better, libc's own function.
 *
 * Only programs that the agent can be preloaded into get it: 64-bit ones with the
 * usual dynamic linker, no setuid, no capabilities of the file. Others would at best
 * complain of a library that cannot be loaded.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "liblttng-spi/core.h"
#include "liblttng-spi/interpose.h"

#define ENTRIES_MAX	4096u		/* of an environment; more is left as it is */
#define OWN_MAX		10u
#define SCRIPT_LEVELS	4
#define HEAD_BYTES	1024u

uint32_t spi_tree_execs;

/* "NAME=value", made once; those without a value stay empty. */
static char own_text[8192];
static char *own[OWN_MAX];
static unsigned int own_count;
static const char *agent_path;

#define EACH_NEXT(X) \
	X(int, execvpe, (const char *file, char *const argv[], char *const envp[])) \
	X(int, posix_spawn, (pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, \
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[])) \
	X(int, posix_spawnp, (pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions, \
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[]))
EACH_NEXT(NEXT_DECLARE)

static void own_add(const char *name, const char *value)
{
	static size_t used;
	size_t n = strlen(name) + 1 + (value ? strlen(value) : 0) + 1;

	if (!value || own_count == OWN_MAX || used + n > sizeof(own_text))
		return;
	own[own_count++] = own_text + used;
	used += (size_t) spi_format(own_text + used, n, "%s=%s", name, value) + 1;
}

void spi_exec_init(void)
{
	static char path[4096];
	Dl_info self;

	EACH_NEXT(NEXT_FIND)
	if (!spi_env.preloaded || !spi_env.socket || !dladdr(own_text, &self) || !self.dli_fname || strlen(self.dli_fname) >= sizeof(path))
		return;
	strcpy(path, self.dli_fname);
	agent_path = path;
	own_add("LTTNG_SPI_SOCKET", spi_env.socket);
	own_add("LTTNG_SPI_TP", spi_env.tp);
	own_add("LTTNG_SPI_CODEMAP", spi_env.codemap);
	own_add("LTTNG_SPI_DEBUG", spi_env.debug);
	own_add("LTTNG_SPI_STRING_MAX", spi_env.string_max);
	own_add("LTTNG_SPI_TEST_WORKER", spi_env.test_worker);
}

/* ---- can the agent go there? ---- */

static int elf_fits(int fd, const Elf64_Ehdr *head)
{
	static const char linker[] = "/ld-linux-x86-64.so.2";
	Elf64_Phdr p;
	char name[128];
	long n;

	if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != EM_X86_64 ||
			head->e_phentsize != sizeof(p) || head->e_phnum > 64)
		return 0;
	for (unsigned int i = 0; i < head->e_phnum; i++) {
		if (spi_sys(SYS_pread64, (long) fd, &p, sizeof(p), (long) (head->e_phoff + i * sizeof(p))) != (long) sizeof(p))
			return 0;
		if (p.p_type != PT_INTERP)
			continue;
		n = p.p_filesz < sizeof(name) ?
			spi_sys(SYS_pread64, (long) fd, name, (long) p.p_filesz, (long) p.p_offset) : 0;
		if (n <= (long) sizeof(linker) || name[n - 1])
			return 0;
		return !strcmp(name + n - sizeof(linker), linker);
	}
	return 0;
}

static int file_fits(int fd, int level);

static int path_fits(int directory, const char *path, int level)
{
	long fd = spi_sys(SYS_openat, (long) directory, path, (long) (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), 0L);
	int fits = fd >= 0 && file_fits((int) fd, level);

	if (fd >= 0)
		spi_sys(SYS_close, fd);
	return fits;
}

static int file_fits(int fd, int level)
{
	union {
		Elf64_Ehdr elf;
		char text[HEAD_BYTES];
	} head;
	struct stat st;
	char *name, *end;
	long n = spi_sys(SYS_pread64, (long) fd, &head, (long) sizeof(head) - 1, 0L);

	if (n < 4 || spi_sys(SYS_fstat, (long) fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_mode & (S_ISUID | S_ISGID) ||
			spi_sys(SYS_fgetxattr, (long) fd, "security.capability", NULL, 0L) > 0)
		return 0;
	if (n >= (long) sizeof(head.elf) && !memcmp(head.text, ELFMAG, SELFMAG))
		return elf_fits(fd, &head.elf);
	if (head.text[0] != '#' || head.text[1] != '!' || level == SCRIPT_LEVELS)
		return 0;
	head.text[n] = 0;
	name = head.text + 2 + strspn(head.text + 2, " \t");
	end = name + strcspn(name, " \t\n");
	if (end == name || !*end)
		return 0;
	*end = 0;
	return path_fits(AT_FDCWD, name, level + 1);
}

/* The file that execvp() would find; or NULL. `room` has 4096 bytes. */
static const char *path_search(const char *file, char *const envp[], char *room)
{
	const char *path = "/bin:/usr/bin", *end;
	size_t n = strlen(file);

	if (strchr(file, '/'))
		return file;
	for (; envp && *envp; envp++)
		if (!strncmp(*envp, "PATH=", 5))
			path = *envp + 5;
	for (; n && n < 256; path = end + 1) {
		size_t directory;

		end = path + strcspn(path, ":");
		directory = (size_t) (end - path);
		if (directory + n + 2 < 4096) {
			memcpy(room, path, directory);
			room[directory] = '/';
			strcpy(room + directory + (directory != 0), file);
			if (spi_sys(SYS_faccessat, (long) AT_FDCWD, room, (long) X_OK) == 0)
				return room;
		}
		if (!*end)
			break;
	}
	return NULL;
}

/* ---- the environment ---- */

static int is_followed(void)
{
	return __atomic_load_n(&spi_tree_execs, __ATOMIC_RELAXED) && agent_path && own_count;
}

static unsigned int entries_of(char *const envp[])
{
	unsigned int n = 0;

	while (envp && n <= ENTRIES_MAX && envp[n])
		n++;
	return n;
}

static size_t preload_bytes(char *const envp[])
{
	size_t most = 0;

	for (; envp && *envp; envp++)
		if (!strncmp(*envp, "LD_PRELOAD=", 11) && strlen(*envp) > most)
			most = strlen(*envp);
	return most + strlen(agent_path) + 16;
}

/* Into `to`, of `n` + OWN_MAX + 4 entries; LD_PRELOAD's into `preload`. */
static void env_make(char **to, char *preload, char *const envp[], size_t preload_size)
{
	static char timeout[] = "LTTNG_UST_REGISTER_TIMEOUT=10000", saved[] = "LTTNG_SPI_SAVED_LTTNG_UST_REGISTER_TIMEOUT=";
	const char *before = NULL;
	int has_timeout = 0;

	for (; envp && *envp; envp++) {
		if (!strncmp(*envp, "LD_PRELOAD=", 11)) {
			before = *envp + 11;
			continue;
		}
		if (!strncmp(*envp, "LTTNG_SPI_", 10))
			continue;
		has_timeout |= !strncmp(*envp, timeout, sizeof("LTTNG_UST_REGISTER_TIMEOUT"));
		*to++ = *envp;
	}
	spi_format(preload, preload_size, "LD_PRELOAD=%s%s%s", agent_path, before && *before ? ":" : "", before ? before : "");
	*to++ = preload;
	for (unsigned int i = 0; i < own_count; i++)
		*to++ = own[i];
	if (!has_timeout) {
		*to++ = timeout;
		*to++ = saved;
	}
	*to = NULL;
}

/* envp, or one on this function's stack that brings the agent along. */
#define ENV_FOR(fits, envp) ({ \
	char *const *env_ = (envp); \
	unsigned int n_ = is_followed() && (fits) ? entries_of(envp) : ENTRIES_MAX + 1; \
	if (n_ <= ENTRIES_MAX) { \
		size_t size_ = preload_bytes(envp); \
		char **to_ = alloca((n_ + OWN_MAX + 4) * sizeof(*to_)), *preload_ = alloca(size_); \
		env_make(to_, preload_, envp, size_); \
		env_ = to_; \
	} \
	env_; \
})

static int search_fits(const char *file, char *const envp[])
{
	char room[4096];
	const char *path = path_search(file, envp, room);

	return path && path_fits(AT_FDCWD, path, 0);
}

static int result_of(long r)
{
	if (r >= 0)
		return (int) r;
	errno = (int) -r;
	return -1;
}

/* What threads kept back would go with the program. The child of a vfork() leaves that to its parent. */
static void records_flush(void)
{
	if (spi_payload && spi_payload->flush && spi_process_is_mine())
		spi_payload->flush();
}

/* ---- libc's functions ---- */

SPI_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	char *const *env = ENV_FOR(path_fits(AT_FDCWD, path, 0), envp);

	records_flush();
	return result_of(spi_sys(SYS_execve, path, argv, env));
}

SPI_EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

SPI_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	char *const *env = ENV_FOR(search_fits(file, environ), envp);

	records_flush();
	return NEXT(execvpe)(file, argv, env);
}

SPI_EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* The words up to NULL, on this function's stack; and what stands behind. */
#define WORDS_TAKE(argv, first, behind) \
	va_list words_; \
	size_t count_ = 1; \
	char **argv; \
	va_start(words_, first); \
	for (const char *w_ = first; w_; w_ = va_arg(words_, const char *)) \
		count_++; \
	va_end(words_); \
	argv = alloca(count_ * sizeof(*argv)); \
	va_start(words_, first); \
	argv[0] = (char *) first; \
	for (size_t i_ = 0; argv[i_]; i_++) \
		argv[i_ + 1] = va_arg(words_, char *); \
	behind \
	va_end(words_);

SPI_EXPORT int execl(const char *path, const char *first, ...)
{
	WORDS_TAKE(argv, first, )
	return execve(path, argv, environ);
}

SPI_EXPORT int execlp(const char *file, const char *first, ...)
{
	WORDS_TAKE(argv, first, )
	return execvpe(file, argv, environ);
}

SPI_EXPORT int execle(const char *path, const char *first, ...)
{
	char *const *envp;
	WORDS_TAKE(argv, first, envp = va_arg(words_, char *const *);)
	return execve(path, argv, envp);
}

SPI_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	char *const *env = ENV_FOR(file_fits(fd, 0), envp);

	records_flush();
	return result_of(spi_sys(SYS_execveat, (long) fd, "", argv, env, (long) AT_EMPTY_PATH));
}

SPI_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	char *const *env = ENV_FOR(path_fits(AT_FDCWD, path, 0), envp);

	return NEXT(posix_spawn)(pid, path, actions, attr, argv, env);
}

SPI_EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	char *const *env = ENV_FOR(search_fits(file, environ), envp);

	return NEXT(posix_spawnp)(pid, file, actions, attr, argv, env);
}
