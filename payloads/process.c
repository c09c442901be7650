/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The payload `process`: what becomes of a process, as events spi_process:*, and as news for the command that has
 * brought it (payloads/process-news.h).
 *
 *	record=1	events are recorded, too
 *
 * A process tells of itself, by the agent's observer. What a process cannot say its parent does: each child that
 * wait4() or waitid() hands over is an event of the parent's. So an end by SIGKILL, by a system call of the program's
 * own, of a child of vfork() that executes nothing, and of a forked child that has not begun to record, is known by the
 * parent. News need no more than write(), so a process that cannot record (a forked child, a signal handler in a thread
 * that has recorded nothing) tells by news alone; each says whether the trace has it.
 *
 * A program that is executed tells so itself, also where a child of vfork() has executed it.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <lttng/spi.h>
#include "payloads/process-news.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define STACK_LEAST	8192u	/* bytes of a handler's stack, for a record */

/* ---- events ---- */

static struct {
	struct spi_record *program, *created, *executes, *ended, *waited, *signal, *loaded, *unloaded;
} events;

#define INT(name)	{ name, SPI_RECORD_INT }
#define TEXT(name)	{ name, SPI_RECORD_TEXT }
#define FIELDS_MOST	4u

static const struct event {
	struct spi_record **to;
	const char *name;
	struct spi_record_field fields[FIELDS_MOST];
} list[] = {
	{ &events.program, "program", { INT("parent"), INT("attached"), TEXT("path") } },
	{ &events.created, "created", { INT("child") } },
	{ &events.executes, "executes", { TEXT("path") } },
	{ &events.ended, "ended", { INT("code"), INT("signal"), INT("sender") } },
	{ &events.waited, "waited", { INT("child"), INT("code"), INT("signal") } },
	{ &events.signal, "signal", { INT("signal"), INT("fatal"), INT("sender"), INT("si_code") } },
	{ &events.loaded, "loaded", { { "base", SPI_RECORD_HEX }, TEXT("path") } },
	{ &events.unloaded, "unloaded", { { "base", SPI_RECORD_HEX }, TEXT("path") } },
};

static int events_add(struct spi_agent *agent)
{
	for (size_t i = 0; i < COUNT(list); i++) {
		size_t n = 0;

		while (n < FIELDS_MOST && list[i].fields[n].name)
			n++;
		*list[i].to = spi_agent_add_record(agent, "spi_process", list[i].name, list[i].fields, n);
		if (!*list[i].to)
			return -ENOMEM;
	}
	return 0;
}

/* A handler may run on a stack that is too small for a record. */
static int has_stack(void)
{
	stack_t stack;

	return sigaltstack(NULL, &stack) < 0 || !(stack.ss_flags & SS_ONSTACK) ||
		(uint64_t) __builtin_frame_address(0) - (uint64_t) stack.ss_sp >= STACK_LEAST;
}

static int record(struct spi_record *event, const uint64_t *values)
{
	return spi_record_is_on(event) && has_stack() && spi_record_write(event, 0, values, NULL, 0) == 0;
}

/* ---- news ---- */

static struct spi_agent *teller;
static uint32_t lost;

static void tell(struct process_news news, const char *text)
{
	const size_t n = text ? strnlen(text, PROCESS_NEWS_TEXT - 1) : 0;
	char bytes[sizeof(news) + n + 1];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	news.magic = PROCESS_NEWS_MAGIC;
	news.size = (uint16_t) sizeof(bytes);
	news.pid = getpid();
	news.lost = __atomic_exchange_n(&lost, 0, __ATOMIC_RELAXED);
	news.at = (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
	memcpy(bytes, &news, sizeof(news));
	memcpy(bytes + sizeof(news), text ? text : "", n);
	bytes[sizeof(news) + n] = 0;
	if (spi_agent_write(teller, bytes, sizeof(bytes)) != (long) sizeof(bytes))
		__atomic_fetch_add(&lost, news.lost + 1, __ATOMIC_RELAXED);
}

/* ---- the program ---- */

static uint32_t is_attached, is_told, is_begun;
static char program[PROCESS_NEWS_TEXT];	/* as it was executed; the linker's own name where it loads another one */

static void program_find(void)
{
	const char *path = (const char *) getauxval(AT_EXECFN);
	const ssize_t n = is_attached || !path ? readlink("/proc/self/exe", program, sizeof(program) - 1) : 0;

	if (n > 0)
		program[n] = 0;
	else
		strncpy(program, path ? path : "", sizeof(program) - 1);
}

/* What is there as the observer begins; by control side alone. */
static struct spi_object *first[512];
static size_t first_count;

/* The executable is no library, and neither is this one. */
static int is_library(const struct spi_object *object)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));

	return object != spi_object_executable() && spi_object_base(object) != (uint64_t) __ehdr_start;
}

static int record_library(struct spi_record *event, const struct spi_object *object)
{
	return record(event, (const uint64_t[]) { spi_object_base(object), (uint64_t) spi_object_path(object) });
}

/* Once a program, by the first thread that can record. Returns whether the trace has it. */
static int record_program(void)
{
	if (!is_begun || __atomic_load_n(&is_told, __ATOMIC_RELAXED))
		return is_told != 0;
	if (!record(events.program, (const uint64_t[]) { (uint32_t) getppid(), is_attached, (uint64_t) program }) ||
			__atomic_exchange_n(&is_told, 1, __ATOMIC_RELAXED))
		return is_told != 0;
	for (size_t i = 0; i < first_count; i++)
		record_library(events.loaded, first[i]);
	return 1;
}

static void begun(struct spi_agent *agent, void *data)
{
	char all[PROCESS_NEWS_TEXT];
	size_t n = 0;

	(void) agent;
	(void) data;
	is_begun = 1;
	tell((struct process_news) { .kind = PROCESS_BEGUN, .other = getppid(), .code = (int) is_attached,
		.is_recorded = (uint8_t) record_program() }, program);
	all[0] = 0;
	for (size_t i = 0; i < first_count; i++) {
		const char *name = spi_object_name(first[i]);
		const size_t size = strlen(name);

		if (n + size + 3 > sizeof(all))
			continue;
		memcpy(all + n, n ? ", " : "", n ? 2 : 0);
		n += n ? 2 : 0;
		memcpy(all + n, name, size + 1);
		n += size;
	}
	if (n)
		tell((struct process_news) { .kind = PROCESS_LIBRARIES, .is_recorded = (uint8_t) (is_told != 0) }, all);
}

/* ---- what the observer is told ---- */

static void created(struct spi_agent *agent, int32_t child, void *data)
{
	int is_recorded;

	(void) agent;
	(void) data;
	if (child <= 0) {	/* a parent that does not know its child's number is told of by the child */
		if (child == 0)
			tell((struct process_news) { .kind = PROCESS_IS_CHILD, .other = getppid() }, NULL);
		return;
	}
	record_program();
	is_recorded = record(events.created, (const uint64_t[]) { (uint32_t) child });
	tell((struct process_news) { .kind = PROCESS_CREATED, .other = child, .is_recorded = (uint8_t) is_recorded },
		NULL);
}

static void executes(struct spi_agent *agent, const char *path, void *data)
{
	int is_recorded;

	(void) agent;
	(void) data;
	record_program();
	is_recorded = record(events.executes, (const uint64_t[]) { (uint64_t) path });
	tell((struct process_news) { .kind = PROCESS_EXECUTES, .is_recorded = (uint8_t) is_recorded }, path);
}

static __thread int32_t sender;		/* of the signal that ends the process by this thread */

static void ended(struct spi_agent *agent, int32_t code, int32_t number, void *data)
{
	const int32_t from = number ? sender : 0;
	int is_recorded;

	(void) agent;
	(void) data;
	record_program();
	is_recorded = record(events.ended, (const uint64_t[]) { (uint32_t) code, (uint32_t) number, (uint32_t) from });
	tell((struct process_news) { .kind = PROCESS_ENDED, .code = code, .signal = number, .other = from,
		.is_recorded = (uint8_t) is_recorded }, NULL);
}

/* Whose number siginfo_t has: a process that has sent it, or the child whose end it tells. */
static int32_t sender_of(const siginfo_t *info)
{
	return info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL ||
		(info->si_signo == SIGCHLD && info->si_code > 0) ? info->si_pid : 0;
}

static void got_signal(struct spi_agent *agent, int32_t number, int32_t is_fatal, const void *info, void *data)
{
	const siginfo_t *si = info;
	int is_recorded;

	(void) agent;
	(void) data;
	sender = si ? sender_of(si) : 0;
	is_recorded = record(events.signal, (const uint64_t[]) { (uint32_t) number, (uint32_t) is_fatal,
		(uint32_t) sender, (uint32_t) (si ? si->si_code : 0) });
	tell((struct process_news) { .kind = PROCESS_SIGNAL, .signal = number, .is_fatal = (uint32_t) is_fatal,
		.other = sender, .code = si ? si->si_code : 0, .is_recorded = (uint8_t) is_recorded }, NULL);
}

/* What is there at the beginning is told when that can be recorded. */
static void came(struct spi_agent *agent, struct spi_object *object, void *data)
{
	int is_recorded;

	(void) agent;
	(void) data;
	if (!is_library(object))
		return;
	if (!is_begun) {
		if (first_count < COUNT(first))
			first[first_count++] = object;
		return;
	}
	is_recorded = record_library(events.loaded, object);
	tell((struct process_news) { .kind = PROCESS_LOADED, .is_recorded = (uint8_t) is_recorded },
		spi_object_path(object));
}

static void went(struct spi_agent *agent, struct spi_object *object, void *data)
{
	int is_recorded;

	(void) agent;
	(void) data;
	if (!is_begun || !is_library(object))
		return;
	is_recorded = record_library(events.unloaded, object);
	tell((struct process_news) { .kind = PROCESS_UNLOADED, .is_recorded = (uint8_t) is_recorded },
		spi_object_path(object));
}

/* ---- children that are waited for ---- */

/* Calls under way in this thread; a handler of SIGCHLD may wait while its thread does. */
static __thread struct waiting {
	volatile uint32_t is_used;
	int32_t options;
	int status;			/* for a caller that does not want it */
	const void *where;		/* the status, or waitid()'s siginfo_t */
} waitings[4];

static int is_waitid(struct spi_call *call)
{
	const char *name = spi_function_mangled_name(spi_call_callee(call));

	return *name && name[strlen(name) - 1] == 'd';
}

static void *enter(struct spi_call *call, void *data)
{
	struct spi_arguments at = { 0 };
	struct waiting *w = waitings;
	uint64_t *a[4];

	(void) data;
	for (size_t i = 0; i < COUNT(a); i++)
		a[i] = spi_call_pop_argument(call, &at, sizeof(**a));
	while (w < waitings + COUNT(waitings) && w->is_used)
		w++;
	if (w == waitings + COUNT(waitings) || !a[3])
		return NULL;
	w->is_used = 1;
	w->options = (int32_t) (is_waitid(call) ? *a[3] : *a[2]);
	w->where = (const void *) (is_waitid(call) ? *a[2] : *a[1]);
	if (!w->where && !is_waitid(call)) {
		*a[1] = (uint64_t) &w->status;
		w->where = &w->status;
	}
	return w;
}

static void tell_waited(int32_t child, int code, int number)
{
	int is_recorded;

	record_program();
	is_recorded = record(events.waited, (const uint64_t[]) { (uint32_t) child, (uint32_t) code,
		(uint32_t) number });
	tell((struct process_news) { .kind = PROCESS_WAITED, .other = child, .code = code, .signal = number,
		.is_recorded = (uint8_t) is_recorded }, NULL);
}

static void leave(struct spi_call *call, void *data)
{
	struct waiting *w = spi_call_user_data(call);
	const int32_t result = (int32_t) spi_call_return_value(call);

	(void) data;
	if (!w)
		return;
	w->is_used = 0;
	if (spi_call_ending(call) != SPI_CALL_RETURNED || !w->where)
		return;
	if (is_waitid(call)) {
		const siginfo_t *info = w->where;

		if (result == 0 && !(w->options & WNOWAIT) && info->si_pid > 0 && info->si_code == CLD_EXITED)
			tell_waited(info->si_pid, info->si_status, 0);
		else if (result == 0 && !(w->options & WNOWAIT) && info->si_pid > 0 &&
				(info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED))
			tell_waited(info->si_pid, -1, info->si_status);
	} else if (result > 0) {
		const int status = *(const int *) w->where;

		if (WIFEXITED(status))
			tell_waited(result, WEXITSTATUS(status), 0);
		else if (WIFSIGNALED(status))
			tell_waited(result, -1, WTERMSIG(status));
	}
}

/* ---- begin ---- */

/* The trace of a process that runs may be begun once more; lttng-ust keeps the events. */
static int again(struct spi_agent *agent, void *data)
{
	const char *asked = spi_agent_argument(agent, "record");

	(void) data;
	return asked && *asked == '1' && !events.program ? events_add(agent) : 0;
}

static void detached(struct spi_agent *agent, void *data)
{
	(void) agent;
	(void) data;
	is_begun = is_told = 0;
	first_count = 0;
	is_attached = 1;
}

__attribute__((constructor)) static void begin(void)
{
	const struct spi_agent_options options = {
		.size = sizeof(options), .version = LTTNG_SPI_VERSION, .name = "process",
		.flags = SPI_PAYLOAD_SIGNAL_SAFE | SPI_PAYLOAD_SMALL_STACK,
	};
	static const char wrong[] = "process: this payload goes with lttng trace --process-events\n";
	const struct spi_observer observer = { .size = sizeof(observer), .created = created, .executes = executes,
		.ended = ended, .signal_from = got_signal, .loaded = came, .unloaded = went, .begun = begun,
		.detached = detached };
	const char *asked;

	teller = spi_agent_create(&options);
	if (!teller)
		return;
	asked = spi_agent_argument(teller, "record");
	if (!asked) {
		spi_agent_write(teller, wrong, sizeof(wrong) - 1);
		return;
	}
	is_attached = spi_agent_is_injected(teller) != 0;
	program_find();
	if (*asked == '1' && events_add(teller) < 0)
		return;
	spi_agent_set_entry(teller, enter, NULL);
	spi_agent_set_exit(teller, leave, NULL);
	spi_agent_set_observer(teller, &observer);
	spi_agent_set_again(teller, again, NULL);
	spi_agent_go(teller);
}
