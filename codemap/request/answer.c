/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The supervising process: an answer comes from the cache, or from a child that analyses the
 * object in a sandbox and writes into a memfd. What the child wrote is verified like any foreign
 * map before it is used. A child that dies of what it read leaves one line of message.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "codemap/base/libraries.h"
#include "codemap/base/sandbox.h"
#include "codemap/map/check.h"
#include "codemap/map/each.h"
#include "codemap/map/marks.h"
#include "codemap/prototypes/prototypes.h"
#include "codemap/request/answer.h"

static void child_run(const struct request *request, struct object *object, int out, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_BAD);
	if (!libraries.cs_open)
		libraries_load();
	sandbox_enter(0);
	object_read(object);
	exit(request_run(request, object, out));
}

/* Have a child answer the request. On status EXIT_DONE, data is what it wrote. */
static struct answer answer_once(const struct request *request, struct object *object)
{
	struct answer answer = { NULL, 0, EXIT_BAD };
	int out = memfd_create("spi-codemap", MFD_CLOEXEC | MFD_ALLOW_SEALING), status;
	struct stat st;
	pid_t pid, parent = getpid();

	if (out < 0)
		fail("memfd_create: %s", strerror(errno));
	fflush(NULL);
	signal(SIGCHLD, SIG_DFL);	/* ignored, as some parents leave it, it would leave us without the child's status */
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pid)
		child_run(request, object, out, parent);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			fail("waitpid: %s", strerror(errno));
	if (WIFSIGNALED(status))
		fail("its analysis ended with signal %d (%s): the file may be broken, or was changed meanwhile; get a "
		     "good copy",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	answer.status = WEXITSTATUS(status);
	if (answer.status != EXIT_DONE || fstat(out, &st) < 0 || !st.st_size)
		return answer;
	/* Nobody is left who could write to it. */
	answer.size = (uint64_t) st.st_size;
	answer.data = mmap(NULL, answer.size, PROT_READ, MAP_SHARED, out, 0);
	if (answer.data == MAP_FAILED)
		fail("mmap: %s", strerror(errno));
	close(out);
	return answer;
}

/*
 * A child that finds that marks or debug info's index lead astray ends without a message. Then
 * another child works without them. So the cache can make an answer fast, and never wrong.
 */
struct answer answer_get(const struct request *request, struct object *object, const char *marks)
{
	struct answer answer = answer_once(request, object);

	if (answer.status == EXIT_STALE && object->marks_in >= 0) {
		cache_remove(marks);
		close(object->marks_in);
		object->marks_in = -1;
		answer = answer_once(request, object);
	}
	if (answer.status == EXIT_WALK && !object->walk_only) {
		object->walk_only = 1;
		answer = answer_once(request, object);
	}
	if (answer.status == EXIT_STALE || answer.status == EXIT_WALK)
		fail("its analysis ended without a result: please report this file");
	return answer;
}

/* Marks for the child to use, and a place for new ones. Without a cache there are neither. */
static char *marks_prepare(struct object *object)
{
	char *name = cache_name(&object->key, "marks", 0);
	uint64_t size;

	if (!name)
		return NULL;
	object->wants_marks = 1;
	object->marks_key = hash_bytes(0, name, strlen(name));
	object->marks_in = cache_open_file(name, &size);
	object->marks_out = memfd_create("spi-codemap-marks", MFD_CLOEXEC);
	return name;
}

/* Keep the new marks, when the child left any and they are what they should be. */
static void marks_keep(const struct object *object, const char *name)
{
	const struct marks_head *head;
	struct stat st;

	if (!name || object->marks_out < 0 || fstat(object->marks_out, &st) < 0 ||
	    st.st_size < (off_t) sizeof(*head))
		return;
	head = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, object->marks_out, 0);
	if (head == MAP_FAILED)
		return;
	if (head->count <= ((uint64_t) st.st_size - sizeof(*head)) / sizeof(struct mark) &&
	    marks_check(head, (const struct mark *) (head + 1), (uint64_t) st.st_size, object->marks_key))
		cache_write(name, head, (uint64_t) st.st_size);
	munmap((void *) head, (size_t) st.st_size);
}

/* What the cache has the request's map, or its list, under. */
static char *map_cache_name(const struct request *request, const struct object *object)
{
	uint64_t hash = request->limit + prototypes_digest();
	unsigned int i;

	for (i = 0; i < request->pattern_count; i++)
		hash = hash_bytes(hash + i, request->patterns[i].text, strlen(request->patterns[i].text) + 1);
	hash = hash_bytes(hash + (request->kind == REQUEST_LIST), object->name, strlen(object->name));
	if (request->has_detail)
		return cache_name(&object->key, "detail", hash);
	return cache_name(&object->key, request->kind == REQUEST_LIST ? "list" : "map", hash);
}

struct answer answer_map(struct request *request, struct object *object)
{
	const struct spi_map_header *head = NULL;
	struct answer answer = { NULL, 0, EXIT_DONE };
	char *name, *marks = NULL, *types = cache_name(&object->key, "types", prototypes_digest());
	int is_types = request->kind == REQUEST_LIST && !request->pattern_count;
	int is_tree = request->kind == REQUEST_TREE && !request->has_detail, needs_types = !is_types && !is_tree;
	uint64_t size;
	const char *why;

	name = is_types ? types : is_tree ? cache_tree_name(&object->key) : map_cache_name(request, object);
	head = cache_read(&object->key, name, is_tree, &answer.size);
	if (head) {
		answer.data = head;
		return answer;
	}
	if (needs_types)
		object->types = cache_read(&object->key, types, 0, &size);
	if (needs_types && !object->types)
		marks = marks_prepare(object);
	answer = answer_get(request, object, marks);
	if (answer.status != EXIT_DONE)
		return answer;
	if (!answer.data || spi_map_check(answer.data, answer.size, &why))
		fail("its analysis gave no valid map: the file may be hostile; get a good copy");
	if (is_tree)
		cache_write_tree(&object->key, name, answer.data, answer.size);
	else
		cache_write(name, answer.data, answer.size);
	marks_keep(object, marks);
	return answer;
}

/* One entry of what a child wrote for many patterns; *at moves behind it. A map was looked at like any foreign one. */
static uint64_t each_next(const struct answer *answer, uint64_t *at, const void **map)
{
	uint64_t left = answer->data && *at < answer->size ? answer->size - *at : 0, size;

	*map = NULL;
	if (left < sizeof(size))
		fail("its analysis gave no valid answer: the file may be hostile; get a good copy");
	memcpy(&size, (const char *) answer->data + *at, sizeof(size));
	*at += sizeof(size);
	left -= sizeof(size);
	if (size == EACH_NONE || size == EACH_ALONE)
		return size;
	*map = (const char *) answer->data + *at;
	if (size > left || spi_map_check(*map, size, NULL))
		fail("its analysis gave no valid map: the file may be hostile; get a good copy");
	*at += (size + 7) & ~UINT64_C(7);
	return size;
}

void answer_each(const struct request *request, struct object *object, int fd)
{
	const unsigned int count = request->pattern_count;
	const void **maps = mem_alloc((count + 1) * sizeof(*maps));
	uint64_t *sizes = mem_alloc((count + 1) * sizeof(*sizes)), at = 0, unused;
	struct pattern *patterns = mem_alloc((count + 1) * sizeof(*patterns));
	struct request left = { .kind = REQUEST_EACH, .patterns = patterns }, one = { .kind = REQUEST_MAP, .pattern_count = 1 };
	struct answer answer;
	char *marks = NULL;
	unsigned int i;

	for (i = 0; i < count; i++) {
		one.patterns = &request->patterns[i];
		maps[i] = cache_read(&object->key, map_cache_name(&one, object), 0, &sizes[i]);
		if (!maps[i])
			patterns[left.pattern_count++] = request->patterns[i];
	}
	if (left.pattern_count) {
		object->types = cache_read(&object->key, cache_name(&object->key, "types", prototypes_digest()), 0, &unused);
		if (!object->types)
			marks = marks_prepare(object);
		answer = answer_get(&left, object, marks);
		if (answer.status != EXIT_DONE)
			exit(answer.status);
	}
	for (i = 0; i < count; i++) {
		if (!maps[i]) {
			sizes[i] = each_next(&answer, &at, &maps[i]);
			one.patterns = &request->patterns[i];
			if (maps[i])
				cache_write(map_cache_name(&one, object), maps[i], sizes[i]);
		}
		write_or_fail(fd, &sizes[i], sizeof(sizes[i]), "the output");
		if (maps[i])
			write_or_fail(fd, maps[i], sizes[i], "the output");
		if (maps[i])
			write_or_fail(fd, "\0\0\0\0\0\0\0", -sizes[i] & 7, "the output");
	}
	marks_keep(object, marks);
}
