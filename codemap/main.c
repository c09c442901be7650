/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * spi-codemap: what can be traced in a program or library, and how. This is the command line and
 * the output.
 *
 * The process opens files and looks into the cache (request/answer.c). A sandboxed child tells
 * which debug files there are (elf/inspector.c), and another one does the analysis
 * (request/request.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "codemap/base/libraries.h"
#include "codemap/prototypes/prototypes.h"
#include "codemap/request/answer.h"
#include "rules/harmless.h"

static const char usage_text[] = "usage: spi-codemap map [--output FILE|--output-fd N] [--limit N] [--root DIR] [--fd "
				 "N] --pattern GLOB... FILE\n"
				 "       spi-codemap map --tree [--detail] [--output FILE|--output-fd N] [--root DIR] "
				 "[--fd N] FILE\n"
				 "       spi-codemap map --which [--output FILE|--output-fd N] [--root DIR] [--fd N] --pattern GLOB... FILE...\n"
				 "       spi-codemap map --each --output-fd N [--root DIR] [--fd N] --pattern GLOB... FILE\n"
				 "       spi-codemap list [--root DIR] [--fd N] [--pattern GLOB]... FILE\n"
				 "       spi-codemap find [--root DIR] NAME FILE...\n"
				 "       spi-codemap text [--output-fd N] ADDRESS BYTES\n"
				 "       spi-codemap prototypes [--quiet] FILE...\n"
				 "options of map and list: [--prototypes FILE]... [--prototypes-fd N]\n"
				 "       spi-codemap --help | --version\n";

struct options {
	const char *output, *root;
	int output_fd, fd, bundle;
	uint32_t limit;
	int is_tree, is_which, is_each, has_detail, is_quiet;
	struct vec_of(struct pattern) patterns;
	struct vec_of(const char *) prototypes;
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
		{ "each", no_argument, NULL, 'e' }, { "detail", no_argument, NULL, 'd' },
		{ "prototypes", required_argument, NULL, 'P' }, { "prototypes-fd", required_argument, NULL, 'B' },
		{ "quiet", no_argument, NULL, 'q' }, { NULL, 0, NULL, 0 },
	};
	int c;

	memset(o, 0, sizeof(*o));
	o->output_fd = o->fd = o->bundle = -1;
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
		case 'd': o->has_detail = 1; break;
		case 'q': o->is_quiet = 1; break;
		case 'P': *vec_push(&o->prototypes) = optarg; break;
		case 'B': o->bundle = number_parse("prototypes-fd", optarg, INT32_MAX); break;
		default: usage();
		}
	}
}

/* What comes with the program, then what the user has: by the controller's word, or the environment's. */
static void prototypes_load(const struct options *o)
{
	prototypes_add_installed();
	if (o->bundle >= 0)
		prototypes_add_bundle(o->bundle);
	else
		prototypes_add_users();
	for (size_t i = 0; i < o->prototypes.count; i++)
		prototypes_add(o->prototypes.at[i]);
}

static void write_fd(int fd, const struct answer *answer)
{
	write_or_fail(fd, answer->data, answer->size, "the output descriptor");
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
		write_or_fail(fd, answer->data, answer->size, path);
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

/* Which of the patterns mean functions: of one file after the other. */
static struct answer which_get(const struct request *request, const struct options *o, char **files, int count)
{
	struct text all = { 0 };
	struct answer answer = { NULL, 0, EXIT_DONE };

	libraries_load();		/* once, and no file has been opened yet */
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
	    (o.has_detail && !o.is_tree) ||
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
	request.has_detail = o.has_detail;
	if (!o.is_which)
		cache_open();
	if (!o.is_which && (!o.is_tree || o.has_detail))
		prototypes_load(&o);
	if (o.is_each) {
		answer_each(&request, object_open(argv[optind], o.fd, o.root), o.output_fd);
		return EXIT_DONE;
	}
	answer = o.is_which ? which_get(&request, &o, argv + optind, argc - optind) :
		answer_map(&request, object_open(argv[optind], o.fd, o.root));
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
	prototypes_load(&o);
	answer = answer_map(&request, object_open(argv[optind], o.fd, o.root));
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

static int command_text(int argc, char **argv)
{
	struct options o;
	int status;

	options_parse(&o, argc, argv);
	if (optind + 2 != argc)
		usage();
	status = text_write(argv[optind], argv[optind + 1], o.output_fd >= 0 ? o.output_fd : 1);
	if (status == EXIT_USAGE)
		usage();
	return status;
}

static int command_prototypes(int argc, char **argv)
{
	struct options o;
	unsigned int from;

	options_parse(&o, argc, argv);
	if (optind == argc)
		usage();
	prototypes_load(&o);
	from = prototypes_file_count();
	for (; optind < argc; optind++)
		prototypes_add(argv[optind]);
	return prototypes_print(from, o.is_quiet);
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
	if (!strcmp(argv[1], "text"))
		return command_text(argc - 1, argv + 1);
	if (!strcmp(argv[1], "prototypes"))
		return command_prototypes(argc - 1, argv + 1);
	if (!strcmp(argv[1], "find"))
		return command_find(argc - 1, argv + 1);
	usage();
}
