/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Many programs at once, and somebody who gives commands meanwhile.
 *
 *	crowd N PROGRAM [ARG]...
 *
 * starts PROGRAM N times and runs the commands that it reads from its input, a line
 * each, by turns, until all the programs have ended; each command at least once. Then a
 * line for each: how often, the median and the worst time in milliseconds, how often it
 * failed, the command; and one for the programs: N, median and worst from start to end,
 * how many failed.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COMMANDS_MAX	16
#define TIMES_MAX	4096
#define WORDS_MAX	32

extern char **environ;

struct times {
	double ms[TIMES_MAX];
	unsigned int nr, failed;
};

static struct {
	char *line;
	char *words[WORDS_MAX + 1];
	struct times times;
} commands[COMMANDS_MAX];
static unsigned int nr_commands;

static struct program {
	pid_t pid;		/* 0: ended */
	double began;
} *programs;
static struct times programs_times;
static posix_spawn_file_actions_t to_nowhere;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void times_add(struct times *t, double ms, int status)
{
	t->ms[t->nr++ % TIMES_MAX] = ms;
	t->failed += !WIFEXITED(status) || WEXITSTATUS(status);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

static void times_print(struct times *t, const char *what)
{
	unsigned int nr = t->nr < TIMES_MAX ? t->nr : TIMES_MAX;

	qsort(t->ms, nr, sizeof(t->ms[0]), by_size);
	printf("%u %.1f %.1f %u %s\n", t->nr, nr ? t->ms[nr / 2] : 0, nr ? t->ms[nr - 1] : 0, t->failed, what);
}

static void commands_read(void)
{
	char line[1024];

	while (nr_commands < COMMANDS_MAX && fgets(line, sizeof(line), stdin)) {
		unsigned int n = 0;
		char *copy;

		line[strcspn(line, "\n")] = 0;
		commands[nr_commands].line = strdup(line);
		copy = strdup(line);
		for (char *word = strtok(copy, " "); word && n < WORDS_MAX; word = strtok(NULL, " "))
			commands[nr_commands].words[n++] = word;
		nr_commands += n > 0;
	}
}

static pid_t run(char **words)
{
	pid_t pid;

	if (posix_spawnp(&pid, words[0], &to_nowhere, NULL, words, environ)) {
		perror(words[0]);
		exit(2);
	}
	return pid;
}

/* The programs, from a session of their own as from another terminal; then what became of them. */
static int programs_run(unsigned int nr, char **words)
{
	int status;

	setsid();
	for (unsigned int i = 0; i < nr; i++) {
		programs[i].began = now();
		programs[i].pid = run(words);
	}
	for (pid_t pid; (pid = wait(&status)) > 0;) {
		for (unsigned int i = 0; i < nr; i++) {
			if (programs[i].pid != pid)
				continue;
			programs[i].pid = 0;
			times_add(&programs_times, now() - programs[i].began, status);
			break;
		}
	}
	times_print(&programs_times, "programs");
	fflush(stdout);
	return 0;
}

static void command_run(unsigned int i)
{
	double began = now();
	int status = 0;
	pid_t pid = run(commands[i].words);

	while (waitpid(pid, &status, 0) != pid)
		;
	times_add(&commands[i].times, now() - began, status);
}

int main(int argc, char **argv)
{
	unsigned int nr = argc > 2 ? (unsigned int) atoi(argv[1]) : 0;
	pid_t crowd;

	programs = calloc(nr ? nr : 1, sizeof(*programs));
	if (!nr || nr > TIMES_MAX || !programs)
		return 2;
	posix_spawn_file_actions_init(&to_nowhere);
	posix_spawn_file_actions_addopen(&to_nowhere, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&to_nowhere, 1, "/dev/null", O_WRONLY, 0);
	commands_read();
	crowd = fork();
	if (!crowd)
		_exit(programs_run(nr, argv + 2));
	for (unsigned int i = 0; nr_commands && (i < nr_commands || !waitpid(crowd, NULL, WNOHANG)); i++)
		command_run(i % nr_commands);
	while (wait(NULL) > 0)
		;
	for (unsigned int i = 0; i < nr_commands; i++)
		times_print(&commands[i].times, commands[i].line);
	return 0;
}
