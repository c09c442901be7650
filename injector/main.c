/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * spi-inject: load the agent, or any library, into running processes, named by
 * pid or by a port that they have open.
 *
 * With rules in LTTNG_SPI_RULES it stays as the agent's controller until each
 * rule is in force, then leaves the process instrumented. ^C and the like are
 * held back while a thread of the target is stopped.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "injector/base/paths.h"
#include "injector/control/control.h"
#include "injector/inject/inject.h"
#include "injector/inject/target.h"
#include "rules/harmless.h"

#define HELLO_PATIENCE_MS	5000
#define EXIT_USAGE		2

static const char usage[] =
	"Usage: spi-inject [OPTION]... pid PID [LIB]\n"
	"       spi-inject [OPTION]... port PORT [LIB]\n"
	"Load LIB, the lttng-spi agent unless named, into the running process PID, or into\n"
	"every process that has the TCP or UDP port PORT open.\n"
	"\n"
	"  --deadline MS   how long to look for a safe moment, milliseconds (3000)\n"
	"  --verbose       say what each thread that was looked at is doing\n"
	"  -h, --help      show this help and exit\n"
	"  --version       show the version and exit\n"
	"\n"
	"LTTNG_SPI_RULES holds rules for the agent, separated by ';': they are in force\n"
	"when spi-inject ends, and stay. LTTNG_SPI_AGENT is the agent's path.\n"
	"Exit status: 0 all done, 1 a process could not be injected, 2 wrong usage.\n";

struct options {
	struct spi_inject_options inject;
	const char *rules;	/* NULL: none */
	int verbose;
};

/* A line with names that others chose. */
__attribute__((format(printf, 2, 3))) static void say(FILE *out, const char *format, ...)
{
	char line[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	spi_put_harmless(line, strlen(line), out);
	fputc('\n', out);
}

static int fail_usage(const char *format, const char *what)
{
	fprintf(stderr, "spi-inject: ");
	fprintf(stderr, format, what);
	fprintf(stderr, ": see spi-inject --help\n");
	return EXIT_USAGE;
}

/* ---- rules ---------------------------------------------------------- */

struct session {
	const struct options *options;
	struct spi_control *control;
	uint32_t first_rule;	/* id of the first: an agent that was here before may still know other ids */
	unsigned int waiting;	/* rules without answer */
	int hello, gone, failed;
};

/* Rules end at a newline, or at a ';' outside parentheses. */
static unsigned int add_rules(struct spi_agent *agent, const char *list, uint32_t first)
{
	unsigned int n = 0, depth = 0;
	char *copy = strdup(list), *start = copy;

	if (!copy)
		return 0;
	for (char *c = copy;; c++) {
		bool end = !*c;

		depth += *c == '(';
		depth -= *c == ')' && depth;
		if (!end && *c != '\n' && (*c != ';' || depth))
			continue;
		*c = 0;
		start += strspn(start, " \t");
		if (*start && !spi_agent_rule_add(agent, first + n, 0, start))
			n++;
		start = c + 1;
		if (end)
			break;
	}
	free(copy);
	return n;
}

static void on_hello(struct spi_agent *agent, void *data)
{
	struct session *s = data;

	s->hello = 1;
	if (s->options->rules)
		s->waiting = add_rules(agent, s->options->rules, s->first_rule);
	if (spi_agent_flags(agent) & SPI_HELLO_PRELOADED)
		spi_agent_go(agent);
}

static void on_rule_done(struct spi_agent *agent, const struct spi_msg_rule_done *done, const char *text, void *data)
{
	struct session *s = data;
	int pid = (int) spi_agent_pid(agent);
	unsigned int number = done->rule - s->first_rule + 1;

	if (done->status) {
		say(stderr, "spi-inject: process %d: rule %u: %s", pid, number, *text ? text : strerror(-done->status));
		s->failed = 1;
	} else {
		printf("%d: rule %u: %u function%s instrumented, %u not%s\n", pid, number, done->instrumented,
		       done->instrumented == 1 ? "" : "s", done->declined, done->flags & SPI_DONE_GENERIC ? ", as address events" : "");
	}
	if (s->waiting)
		s->waiting--;
}

static void on_declined(struct spi_agent *agent, const char *object, const char *function, const char *reason,
		void *data)
{
	say(stdout, "%d: not instrumented: %s:%s: %s", (int) spi_agent_pid(agent), object, function, reason);
}

static void on_note(struct spi_agent *agent, const char *text, void *data)
{
	say(stderr, "spi-inject: process %d: %s", (int) spi_agent_pid(agent), text);
}

static void on_gone(struct spi_agent *agent, void *data)
{
	struct session *s = data;

	s->gone = 1;
}

/* Serve the agent until it is there and its rules are in force. 0 or 1, the exit status. */
static int serve(const struct options *options, pid_t pid, int fd, int signals)
{
	static const struct spi_control_ops ops = {
		.on_hello = on_hello, .on_rule_done = on_rule_done, .on_declined = on_declined,
		.on_note = on_note, .on_gone = on_gone,
	};
	struct session s = { .options = options, .first_rule = (uint32_t) time(NULL) << 8 };
	struct pollfd polled[2] = { { .events = POLLIN }, { .fd = signals, .events = POLLIN } };
	int ret = spi_control_create(&s.control, &ops, &s);

	if (ret) {
		close(fd);
	} else {
		spi_control_welcome(s.control, SPI_WELCOME_KEEP, 0);
		ret = spi_control_adopt(s.control, fd, pid) ? 0 : -errno;
		polled[0].fd = spi_control_fd(s.control);
	}
	while (!ret && !s.gone && (!s.hello || s.waiting)) {
		int n = poll(polled, 2, s.hello ? -1 : HELLO_PATIENCE_MS);

		if (n < 0 && errno != EINTR)
			ret = -errno;
		else if (!n)
			ret = -ETIMEDOUT;
		else if (polled[1].revents)
			ret = -EINTR;
		else if ((ret = spi_control_dispatch(s.control)) > 0)
			ret = 0;
	}
	spi_control_destroy(s.control);
	if (ret == -ETIMEDOUT)
		fprintf(stderr, "spi-inject: process %d: the agent is loaded but does not answer\n", (int) pid);
	else if (ret && ret != -EINTR)
		fprintf(stderr, "spi-inject: process %d: %s\n", (int) pid, strerror(-ret));
	else if (s.gone && (!s.hello || s.waiting))
		fprintf(stderr, "spi-inject: process %d ended, or its agent left, before all was in force\n",
				(int) pid);
	return ret || s.failed || !s.hello || s.waiting;
}

/* ---- injecting ------------------------------------------------------ */

static void print_progress(const char *line, void *data)
{
	say(stderr, "spi-inject: %s", line);
}

static int inject(const struct options *options, pid_t pid, int signals)
{
	struct spi_inject_result result = { .size = sizeof(result), .fd = -1 };
	const char *library = options->inject.library ? options->inject.library : spi_path_agent(), *slash;
	int ret = spi_inject(pid, &options->inject, &result);
	char *name;

	if (ret) {
		say(stderr, "spi-inject: %s", result.text);
		return 1;
	}
	name = spi_proc_read(NULL, "%d/comm", (int) pid);
	if (name)
		spi_make_harmless(name, strcspn(name, "\n"), "");
	slash = strrchr(library, '/');
	printf("%d (%.*s): %s %s; thread %d stopped for %u us", (int) pid, name ? (int) strcspn(name, "\n") : 0,
	       name ? name : "", slash ? slash + 1 : library, result.already ? "was loaded already" : "loaded",
	       (int) result.tid, result.stop_us);
	if (options->verbose)
		printf(", %u stops, the longest to look %u us", result.tries, result.looked_us);
	putchar('\n');
	fflush(stdout);
	free(name);
	return result.fd >= 0 ? serve(options, pid, result.fd, signals) : 0;
}

static int inject_port(const struct options *options, unsigned int port, int signals)
{
	pid_t *pids;
	int n = spi_port_processes(port, &pids), status = 0;

	if (n <= 0) {
		if (n)
			fprintf(stderr, "spi-inject: port %u: %s\n", port, strerror(-n));
		else
			fprintf(stderr, "spi-inject: port %u: no process that you may see has it open%s\n", port,
				geteuid() ? "; be root to see other users'" : "");
		return 1;
	}
	for (int i = 0; i < n; i++) {
		struct pollfd stop = { .fd = signals, .events = POLLIN };

		if (poll(&stop, 1, 0) > 0) {
			status = 1;
			break;
		}
		status |= inject(options, pids[i], signals);
	}
	free(pids);
	return status;
}

static int parse_number(const char *text, unsigned long max, unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *value <= max ? 0 : -EINVAL;
}

static int parse_options(int argc, char **argv, struct options *options)
{
	enum { DEADLINE = 256, VERBOSE, VERSION };
	static const struct option known[] = {
		{ "deadline", required_argument, NULL, DEADLINE }, { "verbose", no_argument, NULL, VERBOSE },
		{ "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, VERSION }, { NULL, 0, NULL, 0 },
	};
	unsigned long number;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":h", known, NULL)) != -1) {
		switch (option) {
		case DEADLINE:
			if (parse_number(optarg, 3600000, &number) || !number)
				return fail_usage("--deadline %s: not a number of milliseconds from 1 to 3600000",
						optarg);
			options->inject.deadline_ms = number;
			break;
		case VERBOSE:
			options->verbose = 1;
			options->inject.progress = print_progress;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		case VERSION:
			puts("spi-inject " SPI_VERSION);
			exit(0);
		case ':':
			return fail_usage("%s wants a value", argv[optind - 1]);
		default:
			return fail_usage("unknown option %s", argv[optind - 1]);
		}
	}
	return 0;
}

/* Signals that would end us wait in a descriptor, so that nothing of the target's is left half done. */
static int hold_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* A parent that ignores it would leave us without what spi-codemap ended with. */
	signal(SIGCHLD, SIG_DFL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

int main(int argc, char **argv)
{
	struct options options = { .inject.size = sizeof(options.inject) };
	const char *slash, *library;
	unsigned long number;
	int ret = parse_options(argc, argv, &options);

	if (ret)
		return ret;
	argc -= optind;
	argv += optind;
	if (argc < 2 || argc > 3)
		return fail_usage("%s", argc > 3 ? "too many arguments" : "name a process or a port");
	library = argc == 3 ? argv[2] : NULL;
	slash = library ? strrchr(library, '/') : NULL;
	options.inject.library = library;
	if (!library || !strncmp(slash ? slash + 1 : library, "liblttng-spi.so", 15))
		options.inject.flags |= SPI_INJECT_ATTACH;
	options.rules = getenv("LTTNG_SPI_RULES");
	if (!strcmp(argv[0], "pid")) {
		if (parse_number(argv[1], 0x7fffffff, &number) || !number)
			return fail_usage("%s is not a process id", argv[1]);
		return inject(&options, (pid_t) number, hold_signals());
	}
	if (!strcmp(argv[0], "port")) {
		if (parse_number(argv[1], 65535, &number) || !number)
			return fail_usage("%s is not a port from 1 to 65535", argv[1]);
		return inject_port(&options, number, hold_signals());
	}
	return fail_usage("%s: name a process (pid) or a port (port)", argv[0]);
}
