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

static const char *file_check(const char *path)
{
	const char *why = NULL;
	struct stat st;
	int fd = (int) spi_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);

	if (fd == -ENOENT)
		return "there is no such file";
	if (fd < 0)
		return "it cannot be read with the rights of this process";
	if (spi_sys(SYS_fstat, fd, &st) < 0 || !S_ISREG(st.st_mode))
		why = "it is no file";
	else if (!is_ours(&st) || (st.st_mode & 022))
		why = "others than root and this user can write to it";
	spi_sys(SYS_close, fd);
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

struct spi_client *spi_client_load(const char *name, const char *arguments, char *why, size_t size)
{
	uint32_t busy = spi_thread.busy;
	const char *refusal;
	char path[PATH_MAX], *text;
	void *handle;

	if (path_find(name, path, sizeof(path)) < 0) {
		spi_format(why, size, "payload %s: no payload of this name comes with the agent, and a file is named by its path", name);
		return NULL;
	}
	refusal = file_check(path);
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
	handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	if (handle) {
		dlclose(handle);
		spi_format(why, size, "payload %s: it is loaded already, with other arguments or by itself", path);
		return NULL;
	}
	spi_client_loading = NULL;
	spi_client_loading_why[0] = 0;
	spi_client_loading_arguments = text + strlen(name) + 1;
	spi_thread.busy = SPI_BUSY_ALWAYS;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	spi_thread.busy = busy;
	spi_client_loading_arguments = NULL;
	if (!handle)
		spi_format(why, size, "payload %s", dlerror());
	else if (spi_client_loading_why[0])
		spi_format(why, size, "payload %s: %s", path, spi_client_loading_why);
	else if (!spi_client_loading)
		spi_format(why, size, "payload %s: its constructor does not call spi_agent_go()", path);
	if (!handle || !spi_client_loading)
		return NULL;
	spi_client_loading->file = text;
	spi_client_loading->arguments = text + strlen(name) + 1;
	return spi_client_loading;
}
