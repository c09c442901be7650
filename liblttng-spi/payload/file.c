/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Loading a payload file that a rule names. Its constructor makes an agent (api/agent.c), whose client is the rule's.
 *
 * The file runs in the target with the target's rights. So it is opened with these, and neither the file nor a directory
 * that leads to it may be changed by anybody but root and the target's user.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "liblttng-spi/base/library-file.h"
#include "liblttng-spi/payload/internal.h"

struct spi_client *spi_client_loading;
const char *spi_client_loading_arguments;
char spi_client_loading_why[200];

/* ---- may it be loaded? ---- */

static int is_ours(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == (uid_t) spi_sys(SYS_geteuid);
}

/* NULL, or why not. */
static const char *directories_check(const char *path)
{
	char at[PATH_MAX];
	struct stat st;

	spi_format(at, sizeof(at), "%s", path);
	for (char *slash = strrchr(at, '/'); slash; slash = strrchr(at, '/')) {
		slash[slash == at] = 0;
		if (spi_sys(SYS_newfstatat, AT_FDCWD, at, &st, 0) < 0)
			return "a directory of its path cannot be looked at";
		if (!is_ours(&st) || ((st.st_mode & 022) && !(st.st_mode & S_ISVTX)))
			return "others than root and this user can write to a directory of its path";
		if (slash == at)
			break;
	}
	return NULL;
}

/* NULL, or why the dynamic linker must not have it. */
static const char *contents_check(int fd, const struct stat *file)
{
	uint64_t begin[SPI_LIBRARY_BEGIN / 8];
	const long n = spi_sys(SYS_pread64, fd, begin, sizeof(begin), 0L);

	return n < 0 ? "it cannot be read" :
		spi_library_refusal(begin, (size_t) n, (uint64_t) file->st_size, SPI_ELF_MACHINE);
}

/*
 * The file is opened once: *file is what was looked at. Directories of the name that the rule has, and of the file's
 * own name: a symbolic link may lead elsewhere.
 */
static const char *file_check(const char *path, struct stat *file)
{
	char link[SPI_PROC_PATH], name[SPI_PROC_PATH], real[PATH_MAX];
	const char *why = NULL;
	int fd = (int) spi_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	long n;

	if (fd == -ENOENT)
		return "there is no such file";
	if (fd < 0)
		return "it cannot be read with the rights of this process";
	if (spi_sys(SYS_fstat, fd, file) < 0 || !S_ISREG(file->st_mode))
		why = "it is no regular file";
	else if (!is_ours(file) || (file->st_mode & 022))
		why = !is_ours(file) ? "it belongs to another user than root and this one: copy it, or chown it" :
			"others than root and this user can write to it: chmod go-w it";
	else
		why = contents_check(fd, file);
	spi_format(name, sizeof(name), "fd/%d", fd);
	n = spi_sys(SYS_readlinkat, AT_FDCWD, spi_proc_path(link, name), real, sizeof(real) - 1);
	spi_sys(SYS_close, fd);
	if (n > 0 && n < (long) sizeof(real) - 1 && !why) {
		real[n] = 0;
		why = real[0] == '/' ? directories_check(real) : NULL;
	}
	return why ? why : directories_check(path);
}

/* ---- */

/* Payloads that come with the agent stand beside it, as installed, or in the build tree. */
static int path_find(const char *name, char *path, size_t size)
{
	static const char *const places[] = { "lttng-spi/payloads/%s.so", "../../payloads/.libs/%s.so" };
	Dl_info info;
	const char *slash;
	size_t n;

	if (name[0] == '/')
		return spi_format(path, size, "%s", name) < (int) size ? 0 : -ENAMETOOLONG;
	if (!dladdr(spi_slot_code_base, &info) || !info.dli_fname || !(slash = strrchr(info.dli_fname, '/')))
		return -ENOENT;
	n = (size_t) (slash + 1 - info.dli_fname);
	if (n + 100 > size)
		return -ENAMETOOLONG;
	memcpy(path, info.dli_fname, n);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		spi_format(path + n, size - n, places[i], name);
		if (spi_sys(SYS_faccessat, AT_FDCWD, path, R_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

static uint64_t changed_at(const struct stat *st)
{
	return (uint64_t) st->st_mtim.tv_sec * 1000000000u + (uint64_t) st->st_mtim.tv_nsec;
}

/* Is it the file that the client was made of? */
static int is_same(const struct spi_client *client, const struct stat *st)
{
	return client->device == st->st_dev && client->inode == st->st_ino && client->changed == changed_at(st);
}

int spi_client_is_old(const struct spi_client *client)
{
	char path[PATH_MAX];
	struct stat st;

	if (path_find(client->file, path, sizeof(path)) < 0 || spi_sys(SYS_newfstatat, AT_FDCWD, path, &st, 0) < 0)
		return 0;
	return !is_same(client, &st);
}

/*
 * The dynamic linker knows a file by the name it had: one that was built anew there would be taken for the old one.
 * Each further one is loaded by another name of the same directory.
 */
static void *file_open(char *path)
{
	static unsigned int again;
	void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	char other[PATH_MAX], *slash = strrchr(path, '/');

	if (!handle)
		return dlopen(path, RTLD_NOW | RTLD_LOCAL);
	dlclose(handle);
	spi_format(other, sizeof(other), "%s", path);
	other[slash + 1 - path] = 0;
	for (unsigned int i = 0; i <= again % 64; i++)
		spi_format(other + strlen(other), sizeof(other) - strlen(other), "./");
	spi_format(other + strlen(other), sizeof(other) - strlen(other), "%s", slash + 1);
	again++;
	return dlopen(other, RTLD_NOW | RTLD_LOCAL);
}

/* One that is loaded with other arguments, or by itself. */
static int is_loaded(const char *path, const struct stat *st)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

	if (handle)
		dlclose(handle);
	for (unsigned int i = 0; handle && i < SPI_CLIENTS_MAX; i++)
		if (spi_clients[i] && spi_clients[i]->inode && !is_same(spi_clients[i], st) && spi_clients[i]->is_old)
			return 0;
	return handle != NULL;
}

/* What a failed load leaves: its clients' numbers are free again, and the file goes. */
static void load_undo(void *handle, uint32_t before)
{
	for (unsigned int i = SPI_CLIENTS_MAX; i--;)
		if (spi_clients[i] && !(before & 1u << i)) {
			spi_clients[i]->state = SPI_CLIENT_FAILED;	/* workers that it has added are not asked */
			__atomic_store_n(&spi_clients[i], NULL, __ATOMIC_RELEASE);
		}
	if (handle)
		dlclose(handle);
}

static uint32_t clients_now(void)
{
	uint32_t now = 0;

	for (unsigned int i = 0; i < SPI_CLIENTS_MAX; i++)
		now |= spi_clients[i] ? 1u << i : 0;
	return now;
}

/* The dynamic linker names the file that it misses first: the payload's own, or one that the payload needs. */
static void load_failed(const char *path, const char *error, char *why, size_t size)
{
	const size_t n = strlen(path);

	if (!strncmp(error, path, n) && error[n] == ':')
		spi_format(why, size, "payload %s", error);
	else
		spi_format(why, size, "payload %s: %s", path, error);
}

/* Loads the file, whose constructor says what it wants. The client, or NULL and why. */
static struct spi_client *file_load(char *path, const char *arguments, char *why, size_t size)
{
	const uint32_t busy = spi_thread.busy, before = clients_now();
	void *handle;

	spi_client_loading = NULL;
	spi_client_loading_why[0] = 0;
	spi_client_loading_arguments = arguments;
	spi_thread.busy = SPI_BUSY_ALWAYS;
	handle = file_open(path);
	if (!handle)
		load_failed(path, dlerror(), why, size);
	else if (spi_client_loading_why[0])
		spi_format(why, size, "payload %s: %s", path, spi_client_loading_why);
	else if (!spi_client_loading)
		spi_format(why, size, "payload %s: its constructor does not call spi_agent_go()", path);
	spi_client_loading_arguments = NULL;
	if (!handle || !spi_client_loading)
		load_undo(handle, before);
	spi_thread.busy = busy;
	return handle ? spi_client_loading : NULL;
}

struct spi_client *spi_client_load(const char *name, const char *arguments, char *why, size_t size)
{
	struct spi_client *client;
	const char *refusal;
	char path[PATH_MAX], *text;
	struct stat st;

	if (path_find(name, path, sizeof(path)) < 0) {
		spi_format(why, size, "payload %s: no payload of this name comes with the agent, and a file is named by its path", name);
		return NULL;
	}
	refusal = file_check(path, &st);
	if (!refusal && is_loaded(path, &st))
		refusal = "it is loaded already, with other arguments or by itself";
	if (refusal) {
		spi_format(why, size, "payload %s: %s", path, refusal);
		return NULL;
	}
	text = spi_map_pages(strlen(name) + strlen(arguments) + 2);
	if (!text) {
		spi_format(why, size, "payload %s: the agent has no memory left", path);
		return NULL;
	}
	strcpy(text, name);
	strcpy(text + strlen(name) + 1, arguments);
	client = file_load(path, text + strlen(name) + 1, why, size);
	if (!client)
		return NULL;
	client->device = st.st_dev;
	client->inode = st.st_ino;
	client->changed = changed_at(&st);
	spi_observe_begin(client);
	spi_limit_begin(client);
	client->file = text;
	client->arguments = text + strlen(name) + 1;
	return client;
}
