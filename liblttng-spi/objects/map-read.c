/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Getting a code map: from the cache (map-cache.c, call trees only); or from the
 * controller, which runs spi-codemap with this process's rights and sends the sealed
 * result; or, without a controller, by running spi-codemap ourselves. The map is then checked from end to end before
 * anything looks at it, and its build-id must be the mapped object's.
 *
 * The helper process must be invisible to the program, which has not begun yet:
 * it is waited for here, and its SIGCHLD (execve() gives every process one) is
 * taken before signals are let in again.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "codemap/map/check.h"
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/internal.h"

#define HELPER_STACK	65536u
#define MAX_PATTERNS	64
#define SEALS		(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* `patterns` is NULL where a tree's map is meant, and DETAIL where that is to have struct spi_map_detail. */
static const char detail_wanted[] = "";
#define DETAIL	detail_wanted
#define IS_TREE(patterns)	(!(patterns) || (patterns) == DETAIL)

/* ---- asking the controller --------------------------------------------------- */

/*
 * Rules that were sent together are a turn. While it lasts, an object that the controller knows to lack what they name is not
 * asked about again. What is sent later may find it changed: its debug symbols may have been installed meanwhile.
 */
static uint64_t turn = 1;

void spi_map_turn_ends(void)
{
	turn++;
}

static void lacks_take(struct spi_object *object, const char *text, size_t size, uint32_t count)
{
	size_t at = strnlen(text, size) + 1;

	_Static_assert(sizeof(object->lacks) == SPI_MAP_LACKS_MAX * sizeof(uint64_t), "all of one answer");
	object->lacks_count = 0;
	object->lacks_turn = turn;
	if (count > SPI_MAP_LACKS_MAX || at + count * sizeof(uint64_t) > size)
		return;
	memcpy(object->lacks, text + at, count * sizeof(uint64_t));
	object->lacks_count = count;
}

static int object_lacks(const struct spi_object *object, const char *patterns)
{
	uint64_t hash = spi_pattern_hash(patterns);

	for (uint32_t i = 0; object->lacks_turn == turn && i < object->lacks_count; i++)
		if (object->lacks[i] == hash)
			return 1;
	return 0;
}

static int question_send(struct spi_link *link, struct spi_object *object, const char *patterns, uint32_t limit, uint32_t flags,
	uint32_t id)
{
	struct spi_msg_map_request request = { .limit = limit, .flags = flags };
	struct spi_msg_map_file file;
	char names[SPI_PROTO_BODY_MAX / 8], room[SPI_PROC_PATH];
	struct stat st;
	size_t n_path = strlen(object->path) + 1, n_patterns = patterns ? strlen(patterns) + 1 : 1, n_file = 0;
	long r;

	if (IS_TREE(patterns))
		request.flags |= SPI_MAP_REQUEST_TREE;
	if (patterns == DETAIL)
		request.flags |= SPI_MAP_REQUEST_DETAIL;
	if (n_path + n_patterns + sizeof(file) > sizeof(names))
		return -ENAMETOOLONG;
	memcpy(names, object->path, n_path);
	memcpy(names + n_path, patterns ? patterns : "", n_patterns);
	if (spi_sys(SYS_newfstatat, AT_FDCWD, spi_object_file(object, room), &st, 0L) == 0) {
		request.device = st.st_dev;
		request.inode = st.st_ino;
		file = (struct spi_msg_map_file) { (uint64_t) st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec, st.st_ctim.tv_sec, st.st_ctim.tv_nsec };
		memcpy(names + n_path + n_patterns, &file, sizeof(file));
		n_file = sizeof(file);
	}
	memcpy(request.build_id, object->build_id, sizeof(request.build_id));
	request.build_id_size = object->build_id_size;
	request.flags |= object->is_executed ? SPI_MAP_REQUEST_EXE : 0;
	r = spi_link_send(link, SPI_MSG_MAP_REQUEST, id, &request, sizeof(request), names, n_path + n_patterns + n_file, -1);
	return r < 0 ? (int) r : 0;
}

static int ask_controller(struct spi_link *link, struct spi_object *object, const char *patterns, uint32_t limit, char *error,
	size_t error_size)
{
	struct {
		struct spi_msg_map head;
		char text[480];
	} answer;
	uint32_t id = ++link->next_id, works;
	int fd;
	long r;

	if (!IS_TREE(patterns) && object_lacks(object, patterns))
		return -ENOENT;
	r = question_send(link, object, patterns, limit, 0, id);
	if (r < 0)
		return (int) r;
	works = __atomic_load_n(&spi_control_works, __ATOMIC_RELAXED);
	if (works)
		__atomic_store_n(&spi_control_works, SPI_WORKS_ASKS, __ATOMIC_RELEASE);
	r = spi_link_answer(link, SPI_MSG_MAP, id, &answer, sizeof(answer) - 1, &fd);
	__atomic_store_n(&spi_control_works, works, __ATOMIC_RELEASE);
	if (r < 0)
		return (int) r;
	if (!IS_TREE(patterns) && r > (long) sizeof(answer.head))
		lacks_take(object, link->packet + sizeof(struct spi_msg) + sizeof(answer.head), (size_t) r - sizeof(answer.head), answer.head.lacks);
	answer.text[sizeof(answer.text) - 1] = 0;
	if (answer.head.status < 0 || fd < 0) {
		spi_format(error, error_size, "%s", answer.text);
		if (fd >= 0)
			spi_sys(SYS_close, fd);
		return answer.head.status < 0 ? answer.head.status : -EPROTO;
	}
	return fd;
}

/* ---- running spi-codemap ------------------------------------------------------ */

struct helper {
	const char *program;
	char *argv[MAX_PATTERNS * 2 + 12];
	char *envp[5];
	char variables[2048];		/* where its cache is */
	int output;
};

static int helper_main(void *data)
{
	struct helper *h = data;
	uint64_t none = 0;
	/* out of the way first: the program may have closed its standard descriptors */
	long output = spi_sys(SYS_fcntl, h->output, F_DUPFD, 10L);
	long null = spi_sys(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR);

	null = spi_sys(SYS_fcntl, null, F_DUPFD, 10L);
	for (long fd = 0; fd < 3; fd++)
		spi_sys(SYS_dup2, null, fd);
	spi_sys(SYS_dup2, output, 3L);
	spi_sys(SYS_close_range, 4L, ~0UL, 0L);
	spi_sys(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, 8L);
	spi_sys(SYS_execve, h->program, h->argv, h->envp);
	spi_sys(SYS_exit_group, 127L);
	return 127;
}

static int run_helper(struct helper *h)
{
	void *stack = spi_map_pages(HELPER_STACK);
	uint64_t old;
	int status = 0, pid;
	long r;

	if (!stack)
		return -ENOMEM;
	/* CLONE_VFORK: we run again once the child has its own memory; no signal of ours may run on it before */
	spi_child_signals_block(&old);
	pid = clone(helper_main, (char *) stack + HELPER_STACK, CLONE_VM | CLONE_VFORK, h);
	r = pid;
	if (pid > 0)
		do
			r = spi_sys(SYS_wait4, pid, &status, __WALL, NULL);
		while (r == -EINTR);
	spi_child_signals_restore(&old);
	spi_sys(SYS_munmap, stack, HELPER_STACK);
	if (r == -ECHILD && pid > 0)
		return 0;	/* SIGCHLD is ignored, so the kernel collected it: the map will show how it went */
	if (r < 0)
		return (int) r;
	return (status & 0x7f) ? -EIO : (status >> 8) & 0xff;
}

static void helper_environment(struct helper *h)
{
	const struct { const char *name, *value; } given[] = {
		{ "HOME", spi_env.home }, { "XDG_CACHE_HOME", spi_env.cache_home }, { "LTTNG_SPI_CACHE", spi_env.cache } };
	size_t used = 0;
	int n = 0;

	h->envp[n++] = "PATH=/usr/bin:/bin";
	for (unsigned int i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (given[i].value && strlen(given[i].value) + 32 < sizeof(h->variables) - used) {
			h->envp[n++] = h->variables + used;
			used += 1 + (size_t) spi_format(h->variables + used, sizeof(h->variables) - used, "%s=%s",
				given[i].name, given[i].value);
		}
	h->envp[n] = NULL;
}

int spi_codemap_run(const char *const *words, unsigned int count, int output)
{
	struct helper h = { .program = spi_env.codemap ? spi_env.codemap : SPI_CODEMAP_PATH, .output = output };

	if (count >= sizeof(h.argv) / sizeof(h.argv[0]))
		return -E2BIG;
	for (unsigned int i = 0; i < count; i++)
		h.argv[i] = (char *) words[i];
	h.argv[count] = NULL;
	helper_environment(&h);
	return run_helper(&h);
}

static int run_codemap(struct spi_object *object, const char *patterns, uint32_t limit, char *error, size_t error_size)
{
	struct helper h = { .program = spi_env.codemap ? spi_env.codemap : SPI_CODEMAP_PATH };
	char limit_text[16], text[4096];
	size_t n = patterns ? strlen(patterns) : 0;
	int argc = 0, r;
	char *p = text;
	long fd;

	if (n >= sizeof(text))
		return -ENAMETOOLONG;
	memcpy(text, patterns ? patterns : "", n + 1);
	fd = spi_sys(SYS_memfd_create, "lttng-spi-map", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return (int) fd;
	h.output = (int) fd;
	spi_format(limit_text, sizeof(limit_text), "%u", limit);
	h.argv[argc++] = "spi-codemap";
	h.argv[argc++] = "map";
	h.argv[argc++] = "--output-fd";
	h.argv[argc++] = "3";
	if (IS_TREE(patterns))
		h.argv[argc++] = "--tree";
	if (patterns == DETAIL)
		h.argv[argc++] = "--detail";
	helper_environment(&h);
	if (limit) {
		h.argv[argc++] = "--limit";
		h.argv[argc++] = limit_text;
	}
	for (int i = 0; *p && i < MAX_PATTERNS; i++) {
		char *end = strchr(p, '\n');

		h.argv[argc++] = "--pattern";
		h.argv[argc++] = p;
		if (!end)
			break;
		*end = 0;
		p = end + 1;
	}
	h.argv[argc++] = object->path;
	h.argv[argc] = NULL;
	r = run_helper(&h);
	if (r == 0)
		return (int) fd;
	spi_sys(SYS_close, fd);
	if (r == 3)
		return -ENOENT;
	spi_format(error, error_size, "%s failed on %s with status %d", h.program, object->path, r);
	return r < 0 ? r : -EIO;
}

/* ---- the map ------------------------------------------------------------------ */

/* What it says of the process as a whole. */
void spi_map_note(const struct spi_map *map)
{
	if (map->head->flags & SPI_MAP_COPIES_STACKS)
		spi_stacks_copied = 1;
}

static int open_map(int fd, struct spi_object *object, struct spi_map *map, char *error, size_t error_size)
{
	const char *why = NULL;
	struct stat st;
	long p, seals = spi_sys(SYS_fcntl, fd, F_GET_SEALS);

	if (seals < 0) {
		spi_format(error, error_size, "the program closed the descriptor of the code map of %s", object->name);
		return -EBADF;
	}
	if ((seals & SEALS) != SEALS) {
		spi_format(error, error_size, "the code map of %s is not sealed", object->name);
		return -EPROTO;
	}
	if (spi_sys(SYS_fstat, fd, &st) < 0 || st.st_size < (long) sizeof(struct spi_map_header))
		return -EPROTO;
	p = spi_sys(SYS_mmap, 0L, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0L);
	if (p < 0 && p > -4096)
		return (int) p;
	map->head = (const struct spi_map_header *) p;
	map->size = (uint64_t) st.st_size;
	if (spi_map_check(map->head, map->size, &why) < 0) {
		spi_format(error, error_size, "the code map of %s is damaged: %s", object->name, why ? why : "unknown");
		spi_map_release(map);
		return -EPROTO;
	}
	if (map->head->build_id_size != object->build_id_size ||
			memcmp(map->head->build_id, object->build_id, object->build_id_size)) {
		spi_format(error, error_size, "%s was replaced on disk since the process loaded it; restart the process",
			object->name);
		spi_map_release(map);
		return -ESTALE;
	}
	spi_map_note(map);
	return 0;
}

/*
 * 0 and a checked map; -ENOENT when no function matches; another errno with
 * `error` filled in.
 */
int spi_map_fetch(struct spi_link *link, struct spi_object *object, const char *patterns, uint32_t limit, struct spi_map *map,
	char *error, size_t error_size)
{
	int fd, r;

	error[0] = 0;
	fd = link ? ask_controller(link, object, patterns, limit, error, error_size) :
		run_codemap(object, patterns, limit, error, error_size);
	if (fd < 0)
		return fd;
	r = open_map(fd, object, map, error, error_size);
	if (spi_sys(SYS_fcntl, fd, F_GET_SEALS) >= 0)	/* a program that closes foreign numbers may have another file there */
		spi_sys(SYS_close, fd);
	return r;
}

int spi_map_fetch_tree(struct spi_link *link, struct spi_object *object, struct spi_map *map, char *error, size_t error_size)
{
	int r;

	if (spi_map_from_cache(object, map) == 0)
		return 0;
	r = spi_map_fetch(link, object, NULL, 0, map, error, error_size);
	if (r == 0 && !(map->head->flags & SPI_MAP_IS_TREE)) {
		spi_format(error, error_size, "the code map of %s is not one for call trees", object->name);
		spi_map_release(map);
		return -EPROTO;
	}
	return r;
}

void spi_map_announce_tree(struct spi_link *link, struct spi_object *object)
{
	if (!spi_map_is_in_cache(object))
		question_send(link, object, NULL, 0, SPI_MAP_REQUEST_SOON, ++link->next_id);
}

int spi_map_detail_get(struct spi_link *link, struct spi_object *object, char *error, size_t error_size)
{
	struct spi_map *map;
	int r;

	error[0] = 0;
	if (object->detail)
		return 0;
	map = spi_alloc(sizeof(*map));
	if (!map)
		return -ENOMEM;
	r = spi_map_fetch(link, object, DETAIL, 0, map, error, error_size);
	if (r == 0 && !map->head->detail) {
		spi_format(error, error_size, "the code map of %s has no detail", object->name);
		spi_map_release(map);
		return -EPROTO;
	}
	if (r == 0)
		__atomic_store_n(&object->detail, map, __ATOMIC_RELEASE);
	return r;
}

int64_t spi_map_func_below(const struct spi_map *map, uint64_t vaddr)
{
	const struct spi_map_func *funcs = SPI_MAP_AT(map, funcs, struct spi_map_func, 0);
	int64_t low = 0, high = (int64_t) map->head->funcs.count - 1;

	while (low <= high) {
		int64_t middle = (low + high) / 2;

		if (funcs[middle].vaddr <= vaddr)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return high;
}

int64_t spi_map_func_at(const struct spi_map *map, uint64_t vaddr)
{
	int64_t i = spi_map_func_below(map, vaddr);

	return i >= 0 && SPI_MAP_AT(map, funcs, struct spi_map_func, i)->vaddr == vaddr ? i : -1;
}

void spi_map_release(struct spi_map *map)
{
	if (map->head)
		spi_sys(SYS_munmap, map->head, (map->size + 4095) & ~UINT64_C(4095));
	map->head = NULL;
}
