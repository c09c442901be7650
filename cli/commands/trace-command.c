/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng trace -f FUNC COMMAND`: everything that can be wrong is found out first. Then COMMAND runs in
 * the front end's place, with its terminal, signals and exit status.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/say.h"
#include "cli/base/signals.h"
#include "cli/commands/commands.h"
#include "cli/functions/objects.h"
#include "cli/functions/program.h"
#include "cli/run/launch.h"
#include "cli/run/run.h"
#include "cli/run/scope.h"
#include "cli/run/sentinel.h"
#include "cli/ui/trace-options.h"
#include "injector/control/control.h"

#define COMMAND_HELLO_MS 15000
#define COMMAND_SAME_MS 1000

/* Before anything is started: 0, or the exit status. */
static int command_prepare(struct run *run, struct program *program, struct objects *objects)
{
	int ret = program_check(program, run->options->command);

	if (ret == 0 && launch_check() < 0)
		ret = TRACE_STATUS_ERROR;
	if (ret == 0)
		ret = objects_of_program(objects, program, run->signals);
	if (ret == -EINTR)
		ret = run_interrupted(run);
	objects->executes &= !(run->options->asked.unfollowed & SPI_FOLLOW_EXEC);
	if (ret == 0)
		ret = run_resolve(run, objects, program->is_script || program->linker_words ? program->elf : program->name,
			program->stripped);
	return ret;
}

struct command {
	pid_t pid;
	int process;			/* pidfd */
	struct sentinel sentinel;
	int requests;			/* TERM and HUP that came */
	int64_t request;		/* when the latest one came to us alone, in ms of run_now() */
};

/*
 * What was sent to us alone is passed on; what was sent to the group, as by ^C and ^\, COMMAND has got as well, unless
 * it has left the group. Returns 1 when the user insists on an end (TERM or HUP twice).
 */
static int command_pass_signal(struct command *c, int signal, int sender)
{
	int got = sentinel_got(&c->sentinel, signal);

	if (got < 0)
		got = sender == 0 && signal != SIGTERM && signal != SIGHUP;
	if (got > 0 && sender != 0 && getpgid(c->pid) != getpgrp())
		got = 0;
	if (!got)
		kill(c->pid, signal);
	if (signal != SIGTERM && signal != SIGHUP)
		return 0;
	/* To us, and then to the group: that is how timeout(1) says it once, however long it took to get there. */
	if (got > 0 && c->requests == 1 && run_now() - c->request < COMMAND_SAME_MS)
		return 0;
	c->request = got > 0 ? 0 : run_now();
	return ++c->requests > 1;
}

/* Until COMMAND ends. Returns 1 when it did; 0 when we leave it to itself; -1 when it must not run on. */
static int command_attend(struct run *run, const struct program *program, struct command *c)
{
	int64_t hello = run_now() + COMMAND_HELLO_MS;
	int signal = 0, sender = 0;

	for (;;) {
		switch (run_wait(run, c->process, run->agents.seen || run->enable ? -1 : hello, &signal, &sender)) {
		case RUN_EVENT_PROCESS:
			return 1;
		case RUN_EVENT_SIGNAL:
			if (command_pass_signal(c, signal, sender)) {
				run->killed_by = signal;
				return 0;
			}
			break;
		case RUN_EVENT_TIME:
			run_announce(run);
			say_warning("%s: the tracer in it has not connected: it may run untraced", program->name);
			hello = run_now() + (INT64_C(1) << 40);
			break;
		case RUN_EVENT_ERROR:
			say_error("%s runs on untraced: the connection to the tracer in it broke", program->name);
			run->broken = 1;
			return 0;
		case RUN_EVENT_READER:
			run_end(run);		/* the program goes on, and our end is still its end */
			break;
		case RUN_EVENT_AGENTS:
			if (run->agents.hopeless && !run->agents.ready)
				return -1;
			break;
		}
	}
}

static int command_status(struct run *run, const struct program *program, int status)
{
	if (run->enable) {
		/* the plugin's report says it */
	} else if (!run->agents.seen) {
		say_warning("%s ended before tracing began: nothing was traced", program->name);
		run->broken = 1;
	} else if (run->funcs && agents_say_absent(&run->agents)) {	/* without: the trace ended with its reader */
		run->broken = 1;
	}
	if (WIFSIGNALED(status)) {
		if (WTERMSIG(status) == SIGKILL && run->options->asked.compact)
			report_note(&run->report, "COMMAND was killed: the last calls of its threads, which packed records keep back, "
				"are not in the trace and not counted as lost");
		run->killed_by = WTERMSIG(status);
		run->is_killed = 1;
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

static int run_waits(const struct run *run)
{
	unsigned int i;

	for (i = 0; i < run->func_count && !run->funcs[i].is_late; i++)
		;
	return i < run->func_count;
}

/* Where the agent connects. The numbers of its rules too, where it connects to the plugin's broker. 0 or an exit status. */
static int command_socket(struct run *run, struct scope *scope, char *socket, size_t size, char *numbers)
{
	const struct trace_options *o = run->options;
	const char *own = NULL;
	int ret;

	if (run->enable)
		return scope_follow(scope, run, numbers, SPI_FOLLOW_MAX, socket, size);

	/* Trees say it themselves, but for those whose root is still to come. */
	if (!(o->asked.unfollowed & SPI_FOLLOW_EXEC) && (o->func_count || o->process || run_waits(run)))
		spi_control_welcome(run->agents.control, SPI_WELCOME_EXEC, o->string_max);
	ret = spi_control_listen(run->agents.control, &own);
	if (ret < 0) {
		say_error("the socket for traced programs cannot be made: %s", strerror(-ret));
		return TRACE_STATUS_ERROR;
	}
	snprintf(socket, size, "%s", own);
	return 0;
}

static int command_run(struct run *run, const struct program *program, struct scope *scope)
{
	char socket[200], numbers[SPI_FOLLOW_MAX] = "";
	struct command c = { 0 };
	int ret, status = command_socket(run, scope, socket, sizeof(socket), numbers);

	if (status)
		return status;
	c.pid = launch(program, socket, *numbers ? numbers : NULL);
	if (c.pid < 0) {
		say_error("%s: %s", program->name, strerror(-c.pid));
		return c.pid == -ENOENT ? TRACE_STATUS_NO_FILE : TRACE_STATUS_NO_EXEC;
	}
	if (run->enable) {
		scope_began(scope, c.pid);
		run_announce(run);
	}
	/* What came before, COMMAND may have missed: it is passed on. */
	sentinel_begin(&c.sentinel);
	c.process = (int) syscall(SYS_pidfd_open, c.pid, 0);
	ret = c.process < 0 ? 0 : command_attend(run, program, &c);
	sentinel_end(&c.sentinel);
	if (ret < 0) {
		kill(c.pid, SIGKILL);
		waitpid(c.pid, &status, 0);
		say_error("%s", run->agents.failure);
		status = TRACE_STATUS_ERROR;
	} else if (ret > 0 && waitpid(c.pid, &status, 0) == c.pid) {
		news_waited(&run->news, c.pid, status);
		/* Its last words are in the socket already. */
		if (run->agents.control)
			spi_control_dispatch(run->agents.control);
		status = command_status(run, program, status);
	} else {
		status = TRACE_STATUS_ERROR;
	}
	if (run->enable)
		scope_end(scope, run);
	if (c.process >= 0)
		close(c.process);
	return status;
}

/* Processes at the other ends of channels are the plugin's broker's to find: the rules are its, and COMMAND comes under them. */
static int command_ask_plugin(struct run *run, struct scope *scope, struct trace_options *options)
{
	int status = scope_launched(options) < 0 ? TRACE_STATUS_ERROR : scope_prepare(scope, options);

	run->enable = scope_enable;
	run->data = scope;
	return status ? status : scope_wait_plugin(run, "--ipc");
}

int trace_command(struct trace_options *options)
{
	struct scope scope = { .rows = 0 };
	struct program program = { 0 };
	struct objects objects = { 0 };
	struct run run;
	int status, killed_by, broken;

	status = run_init(&run, options);
	if (status == 0)
		status = command_prepare(&run, &program, &objects);
	if (status == 0 && options->asked.ipc && !run.is_payload)
		status = command_ask_plugin(&run, &scope, options);
	if (status == 0)
		status = run_begin(&run, program.name, NULL, 0);
	if (status == 0 && !run.enable)
		funcs_tell_lacks(run.funcs, run.func_count, &objects, run.agents.control);
	objects_free(&objects);
	if (status == 0)
		status = command_run(&run, &program, &scope);
	program_free(&program);
	run_end(&run);
	scope_free(&scope);
	killed_by = run.killed_by;
	broken = run.broken;
	if (killed_by)
		signals_die(killed_by);
	return status ? status : broken ? TRACE_STATUS_ERROR : 0;
}
