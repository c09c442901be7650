/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * May there be int3? One that is hit with SIGTRAP blocked kills the process. So
 * none is put where threads are known to run with signals blocked: in the C
 * library (it blocks everything while it makes threads and processes, and a
 * vforked child has no handlers at all), in a process in which some thread blocks
 * SIGTRAP now, or one that a debugger is attached to. Threads that only run the
 * tracer are not counted: they call the C library, not the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/internal.h"

#define THREAD_LOOKS	400	/* at a thread that blocks SIGTRAP, before that counts: it may be in our own handler */
#define THREAD_LOOK_NS	UINT64_C(1000000)	/* one in so long */
#define STILL_LOOKS	30	/* in which it sleeps and does not run once: it blocks SIGTRAP for good */

static int text_begins(const char *text, const char *with)
{
	while (*with)
		if (*text++ != *with++)
			return 0;
	return 1;
}

int spi_object_is_runtime(const struct spi_object *object)
{
	static const char *const names[] = { "libc.so", "libc-2", "ld-linux", "ld-2", "libpthread", "libdl.", "libdl-",
		"librt.", "librt-", "libnuma", "liblttng", "liburcu", "libgcc_s" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (text_begins(object->name, names[i]))
			return 1;
	return 0;
}

/* The text behind "\nKEY:\t" in a status file; NULL when there is none. */
static const char *status_value(const char *text, const char *key)
{
	for (; *text; text++) {
		const char *t = text, *k = key;

		while (*k && *t == *k) {
			t++;
			k++;
		}
		if (!*k)
			return t;
	}
	return NULL;
}

static uint64_t parse_hex(const char *s)
{
	uint64_t value = 0;

	for (;; s++) {
		if (*s >= '0' && *s <= '9')
			value = value << 4 | (uint64_t) (*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			value = value << 4 | (uint64_t) (*s - 'a' + 10);
		else
			return value;
	}
}

/* An injector that finds an agent here, as another daemon has a rule for this program, is gone in a moment. */
static int is_injector(const char *pid)
{
	char path[32], name[17];

	spi_format(path, sizeof(path), "/proc/%lu/comm", (unsigned long) spi_parse_number(pid, NULL));
	return spi_proc_text_at(AT_FDCWD, path, name, sizeof(name)) > 0 &&
		(text_begins(name, "spi-") || text_begins(name, "lttng"));
}

/* *again is set when that may be over in a moment. */
static const char *debugger_look(const char *status, int *again)
{
	const char *value = status_value(status, "\nTracerPid:\t");

	if (!value || *value == '0')
		return NULL;
	*again = is_injector(value);
	return "only a breakpoint (int3) fits, and a debugger is attached";
}

/*
 * How often it has stopped running, of a thread that sleeps. 0: it runs, is about to, or waits for a child of vfork()
 * (state D).
 */
static uint64_t sleeps_since(const char *status)
{
	const char *state = status_value(status, "\nState:\t"), *own = status_value(status, "\nvoluntary_ctxt_switches:\t");
	const char *taken = status_value(status, "\nnonvoluntary_ctxt_switches:\t");

	if (!state || *state != 'S' || !own || !taken)
		return 0;
	return spi_parse_number(own, NULL) + spi_parse_number(taken, NULL) + 1;
}

/*
 * Look at one thread. NULL, or what forbids int3. *again is set when that may be
 * over in a moment: libc blocks everything while a thread starts or ends.
 */
static const char *thread_look(const struct spi_numbers *task, int *again, uint64_t *since)
{
	const char *value, *reason;
	char text[2048];

	if (spi_task_text(task, "status", text, sizeof(text)) <= 0)
		return NULL;		/* it has ended */
	reason = debugger_look(text, again);
	if (reason)
		return reason;
	value = status_value(text, "\nSigBlk:\t");
	if ((value && !(parse_hex(value) & SPI_SIGNAL_BIT(SIGTRAP))) || task->number == (int) spi_sys(SYS_gettid) ||
			spi_thread_is_tracer_task(task) > 0)
		return NULL;
	if (!value)
		return "only a breakpoint (int3) fits, and a thread's signal mask cannot be read";
	*again = 1;
	*since = sleeps_since(text);
	return "only a breakpoint (int3) fits, and a thread blocks SIGTRAP";
}

/*
 * Give a thread that is just being started, or is in our own handler, the time to get out of that. One that sleeps on
 * does neither.
 */
static const char *look_long(const struct spi_numbers *task)
{
	const char *reason = NULL;
	uint64_t before = 0;

	for (int look = 0, still = 0, again = 1; again && still < STILL_LOOKS && look < THREAD_LOOKS; look++) {
		uint64_t left[2] = { 0, THREAD_LOOK_NS }, since = 0;

		/* All of it, whatever signals come: in a storm of them the looks would be over in no time. */
		while (look && spi_raw3(SYS_nanosleep, (uint64_t) left, (uint64_t) left, 0) == -EINTR)
			;
		again = 0;
		reason = thread_look(task, &again, &since);
		still = since && since == before ? still + 1 : 0;
		before = since;
	}
	return reason;
}

const char *spi_trap_debugger_look(void)
{
	const char *reason = NULL;
	char text[2048];

	for (int look = 0, again = 1; again && look < THREAD_LOOKS; look++) {
		if (look)
			spi_sleep_us(THREAD_LOOK_NS / 1000);
		again = 0;
		if (spi_proc_text("/proc/self/status", text, sizeof(text)) == 0)
			reason = debugger_look(text, &again);
	}
	return reason;
}

const char *spi_trap_threads_look(void)
{
	const char *reason = NULL;
	struct spi_numbers task;

	if (spi_numbers_open(&task, "/proc/self/task") < 0)
		return "only a breakpoint (int3) fits, and /proc cannot be read";
	while (!reason && spi_numbers_next(&task))
		reason = look_long(&task);
	spi_numbers_close(&task);
	return reason;
}

const char *spi_trap_handlers_look(void)
{
	struct spi_sigaction action;

	for (int number = 1; number <= 64; number++)
		if (spi_signal_query(number, &action) == 0 && action.handler != (uint64_t) SIG_DFL
			&& action.handler != (uint64_t) SIG_IGN && action.restorer != (uint64_t) spi_signal_return
			&& (action.mask & SPI_SIGNAL_BIT(SIGTRAP)))
			return "only a breakpoint (int3) fits, and a signal handler of the program blocks SIGTRAP";
	return NULL;
}
