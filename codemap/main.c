/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * spi-codemap: what can be traced in a program or library, and how.
 *
 * This process opens files, looks into the cache, and starts a child that tells it which debug files there are (look.c), and one that does
 * the analysis in a sandbox and writes a map into a memfd. What the child wrote
 * is verified here like any foreign map before it is used; a child that dies of
 * what it read leaves one line of message and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "codemap/late.h"
#include "codemap/map-check.h"
#include "codemap/marks.h"
#include "codemap/request.h"
#include "rules/harmless.h"

static const char usage_text[] = "usage: spi-codemap map [--output FILE|--output-fd N] [--limit N] [--root DIR] [--fd "
				 "N] --pattern GLOB... FILE\n"
				 "       spi-codemap map --tree [--output FILE|--output-fd N] [--root DIR] [--fd N] FILE\n"
				 "       spi-codemap map --which [--output FILE|--output-fd N] [--root DIR] [--fd N] --pattern GLOB... FILE...\n"
				 "       spi-codemap map --each --output-fd N [--root DIR] [--fd N] --pattern GLOB... FILE\n"
				 "       spi-codemap list [--root DIR] [--fd N] [--pattern GLOB]... FILE\n"
				 "       spi-codemap find [--root DIR] NAME FILE...\n"
				 "       spi-codemap --help | --version\n";

struct options {
	const char *output, *root;
	int output_fd, fd;
	uint32_t limit;
	int is_tree, is_which, is_each;
	struct vec_of(struct pattern) patterns;
};

/* What a child left: a mapping of its memfd. */
struct answer {
	const void *data;
	uint64_t size;
	int status;
};

static void usage(void) __attribute__((noreturn));
static void usage(void)
{
	fputs(usage_text, stderr);
	exit(EXIT_USAGE);
}

static int number_parse(const char *option, const char *text, unsigned long max)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || value > max)
		fail_status(EXIT_USAGE, "--%s %s: not a number it can use", option, text);
	return (int) value;
}

static void options_parse(struct options *o, int argc, char **argv)
{
	static const struct option table[] = {
		{ "output", required_argument, NULL, 'o' }, { "output-fd", required_argument, NULL, 'O' },
		{ "limit", required_argument, NULL, 'l' }, { "root", required_argument, NULL, 'r' },
		{ "fd", required_argument, NULL, 'f' }, { "pattern", required_argument, NULL, 'p' },
		{ "tree", no_argument, NULL, 't' }, { "which", no_argument, NULL, 'w' },
		{ "each", no_argument, NULL, 'e' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	memset(o, 0, sizeof(*o));
	o->output_fd = o->fd = -1;
	while ((c = getopt_long(argc, argv, "o:p:", table, NULL)) != -1) {
		switch (c) {
		case 'o': o->output = optarg; break;
		case 'O': o->output_fd = number_parse("output-fd", optarg, INT32_MAX); break;
		case 'l': o->limit = (uint32_t) number_parse("limit", optarg, INT32_MAX); break;
		case 'r': o->root = optarg; break;
		case 'f': o->fd = number_parse("fd", optarg, INT32_MAX); break;
		case 'p': pattern_parse(vec_push(&o->patterns), optarg); break;
		case 't': o->is_tree = 1; break;
		case 'w': o->is_which = 1; break;
		case 'e': o->is_each = 1; break;
		default: usage();
		}
	}
}

static void child_run(const struct request *request, struct object *object, int out, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_BAD);
	if (!late.open)
		late_load();
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
 * The same. A child that finds that a short cut leads astray ends without a word:
 * then another goes without it. So what the cache holds can make an answer fast, never wrong.
 */
static struct answer answer_get(const struct request *request, struct object *object, const char *marks)
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
	char *name = cache_name(object, "marks", 0);
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
	uint64_t hash = request->limit;
	unsigned int i;

	for (i = 0; i < request->pattern_count; i++)
		hash = hash_bytes(hash + i, request->patterns[i].text, strlen(request->patterns[i].text) + 1);
	hash = hash_bytes(hash + (request->kind == REQUEST_LIST), object->name, strlen(object->name));
	return cache_name(object, request->kind == REQUEST_LIST ? "list" : "map", hash);
}

/* The map for the request, from the cache or from a child. On failure the message is out already. */
static struct answer map_get(struct request *request, struct object *object)
{
	const struct spi_map_header *head = NULL;
	struct answer answer = { NULL, 0, EXIT_DONE };
	char *name, *marks = NULL, *types = cache_name(object, "types", 0);
	int is_types = request->kind == REQUEST_LIST && !request->pattern_count;
	int is_tree = request->kind == REQUEST_TREE, needs_types = !is_types && !is_tree;
	uint64_t size;
	const char *why;

	name = is_types ? types : is_tree ? cache_tree_name(object) : map_cache_name(request, object);
	head = cache_read(object, name, is_tree, &answer.size);
	if (head) {
		answer.data = head;
		return answer;
	}
	if (needs_types)
		object->types = cache_read(object, types, 0, &size);
	if (needs_types && !object->types)
		marks = marks_prepare(object);
	answer = answer_get(request, object, marks);
	if (answer.status != EXIT_DONE)
		return answer;
	if (!answer.data || spi_map_check(answer.data, answer.size, &why))
		fail("its analysis gave no valid map: the file may be hostile; get a good copy");
	if (is_tree)
		cache_write_tree(object, name, answer.data, answer.size);
	else
		cache_write(name, answer.data, answer.size);
	marks_keep(object, marks);
	return answer;
}

static void write_all(int fd, const void *data, uint64_t size, const char *where)
{
	const char *p = data;

	while (size) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			fail("cannot write to %s: %s", where, n ? strerror(errno) : "no space");
		p += n;
		size -= (uint64_t) n;
	}
}

static void write_fd(int fd, const struct answer *answer)
{
	write_all(fd, answer->data, answer->size, "the output descriptor");
	if (fcntl(fd, F_GET_SEALS) >= 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		fail("cannot seal the output: %s", strerror(errno));
}

static void write_file(const char *path, const struct answer *answer)
{
	char *temporary = mem_format("%s.%d.tmp", path, (int) getpid());
	struct stat st;
	int fd;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			fail("cannot write to %s: %s", path, strerror(errno));
		write_all(fd, answer->data, answer->size, path);
		close(fd);
		return;
	}
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		fail("cannot write to %s: %s", path, strerror(errno));
	if (write(fd, answer->data, answer->size) != (ssize_t) answer->size || close(fd) < 0 ||
		rename(temporary, path) < 0) {
		int error = errno;

		unlink(temporary);
		fail("cannot write to %s: %s", path, strerror(error));
	}
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

/* A map for each pattern: from the cache, and the others by one child. */
static void each_write(const struct request *request, struct object *object, int fd)
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
		maps[i] = cache_read(object, map_cache_name(&one, object), 0, &sizes[i]);
		if (!maps[i])
			patterns[left.pattern_count++] = request->patterns[i];
	}
	if (left.pattern_count) {
		object->types = cache_read(object, cache_name(object, "types", 0), 0, &unused);
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
		write_all(fd, &sizes[i], sizeof(sizes[i]), "the output");
		if (maps[i])
			write_all(fd, maps[i], sizes[i], "the output");
		if (maps[i])
			write_all(fd, "\0\0\0\0\0\0\0", -sizes[i] & 7, "the output");
	}
	marks_keep(object, marks);
}

/* Which of the patterns mean functions: of one file after the other. */
static struct answer which_get(const struct request *request, const struct options *o, char **files, int count)
{
	struct text all = { 0 };
	struct answer answer = { NULL, 0, EXIT_DONE };

	late_load();		/* once, and no file has been opened yet */
	for (int i = 0; i < count; i++) {
		answer = answer_get(request, object_open(files[i], o->fd, o->root), NULL);
		if (answer.status != EXIT_DONE)
			return answer;
		text_add_bytes(&all, answer.data, answer.size);
	}
	answer.data = text_end(&all);
	answer.size = all.count;
	return answer;
}

static int command_map(int argc, char **argv)
{
	struct request request = { .kind = REQUEST_MAP };
	struct options o;
	struct answer answer;

	options_parse(&o, argc, argv);
	if (optind == argc || (optind + 1 != argc && (!o.is_which || o.fd >= 0)) ||
	    (o.is_tree ? o.patterns.count || o.limit || o.is_which : !o.patterns.count) ||
	    (o.is_each && (o.output || o.output_fd < 0 || o.limit || o.is_tree || o.is_which)))
		usage();
	if (o.is_tree)
		request.kind = REQUEST_TREE;
	if (o.is_which)
		request.kind = REQUEST_WHICH;
	if (!o.output && o.output_fd < 0 && isatty(1))
		fail_status(EXIT_USAGE, "a map is not for a terminal: use --output FILE");
	request.patterns = o.patterns.at;
	request.pattern_count = (unsigned int) o.patterns.count;
	request.limit = o.limit;
	if (!o.is_which)
		cache_open();
	if (o.is_each) {
		each_write(&request, object_open(argv[optind], o.fd, o.root), o.output_fd);
		return EXIT_DONE;
	}
	answer = o.is_which ? which_get(&request, &o, argv + optind, argc - optind) :
		map_get(&request, object_open(argv[optind], o.fd, o.root));
	if (answer.status != EXIT_DONE)
		return answer.status;
	if (o.output)
		write_file(o.output, &answer);
	else
		write_fd(o.output_fd >= 0 ? o.output_fd : 1, &answer);
	return EXIT_DONE;
}

/* "prog: no types: split debug info, prog.dwo" */
static void lost_print(const struct spi_map_header *head)
{
	const char *strings = (const char *) head + head->strings.offset, *lost = strings + head->debug_lost;
	const char *path = strings + head->object_name, *slash = strrchr(path, '/');
	const char *line = mem_format("%s: %s", slash ? slash + 1 : path, lost);

	if (!lost[0])
		return;
	spi_put_harmless(line, strlen(line), stderr);
	fputc('\n', stderr);
}

static int command_list(int argc, char **argv)
{
	struct request request = { .kind = REQUEST_LIST };
	const struct spi_map_header *head;
	const struct spi_map_func *func;
	struct options o;
	struct answer answer;
	uint32_t i;

	options_parse(&o, argc, argv);
	if (optind + 1 != argc)
		usage();
	request.patterns = o.patterns.at;
	request.pattern_count = (unsigned int) o.patterns.count;
	cache_open();
	answer = map_get(&request, object_open(argv[optind], o.fd, o.root));
	if (answer.status != EXIT_DONE)
		return answer.status;
	head = answer.data;
	func = (const struct spi_map_func *) ((const uint8_t *) head + head->funcs.offset);
	for (i = 0; i < head->funcs.count; i++) {
		const char *name = (const char *) head + head->strings.offset + func[i].pretty;

		spi_put_harmless(name, strlen(name), stdout);
		putchar('\n');
	}
	if (fflush(stdout) || ferror(stdout))
		fail("cannot write: %s", strerror(errno));
	lost_print(head);
	return EXIT_DONE;
}

static int command_find(int argc, char **argv)
{
	struct request request = { .kind = REQUEST_FIND };
	struct text lines = { 0 };
	struct options o;
	int i, status;

	options_parse(&o, argc, argv);
	if (optind + 2 > argc)
		usage();
	request.find_name = argv[optind];
	for (i = optind + 1; i < argc; i++) {
		struct answer answer = answer_get(&request, object_open(argv[i], o.fd, o.root), NULL);

		if (answer.status != EXIT_DONE)
			return answer.status;
		if (answer.size)
			text_add_bytes(&lines, answer.data, answer.size);
	}
	status = find_print(text_end(&lines), lines.count);
	if (fflush(stdout) || ferror(stdout))
		fail("cannot write: %s", strerror(errno));
	return status;
}

#ifdef __SANITIZE_ADDRESS__
/* Memory is freed by ending, and the leak checker needs what the sandbox refuses. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:exitcode=99";
}
#endif

int main(int argc, char **argv)
{
	if (argc < 2)
		usage();
	if (!strcmp(argv[1], "--help")) {
		fputs(usage_text, stdout);
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("spi-codemap, code map format %u\n", SPI_MAP_VERSION);
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "map"))
		return command_map(argc - 1, argv + 1);
	if (!strcmp(argv[1], "list"))
		return command_list(argc - 1, argv + 1);
	if (!strcmp(argv[1], "find"))
		return command_find(argc - 1, argv + 1);
	usage();
}
