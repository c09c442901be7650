/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Processes that a rule names and that never register: programs not linked with lttng-ust.
 *
 * When the rules change, /proc is looked through once for those that run. Those to come are told in two ways. Where
 * root may listen, the opening of their files tells (executed-files.c): that is before the program begins. And the
 * kernel's proc connector tells each fork(), exec() and new name of a process's first thread as it happens, for root
 * in the initial namespaces only; elsewhere it refuses, or says nothing of its own accord (that others listen may
 * bring their events, with process numbers that are not ours). Without it /proc is looked through again every second,
 * and a note says so; with it every ten, as a process that writes over its first argument makes no event.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/inject/inject.h"
#include "broker/process/process.h"
#include "broker/scope/internal.h"
#include "injector/procfs/timed-reader.h"
#include "injector/procfs/procfs.h"
#include "rules/glob.h"

#define ACK_MS	500u
#define LOOK_MS	1000u
#define SOON_MS	5u
#define TITLES_MS 10000u

static struct loop_source connector = { .fd = -1 };
static struct loop_timer ack_timer;	/* armed until the kernel has said that it will tell */
static struct loop_timer look_timer;	/* armed while a rule names a program */
static bool refused;

/* Is it named by any rule that instruments, and is its own scope the reason? */
static bool is_named(const struct facts *facts)
{
	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next)
		if (rule->enabled && (rule->wants.asked.exec.count || rule->wants.asked.nr_pids) &&
		    rule_concerns(rule, facts, false))
			return true;
	return false;
}

/*
 * A rule that names one of the tracer's by its number is told what becomes of it; a pattern that fits them, too,
 * means others.
 */
static void own_named(const struct facts *facts)
{
	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next)
		for (unsigned int i = 0; rule->enabled && i < rule->wants.asked.nr_pids; i++)
			if (rule->wants.asked.pids[i] == facts->pid)
				broker_note("own", "process %d (%s) belongs to the session daemon or to lttng-spi: rules do not instrument "
					    "what carries the trace; lttng trace -p %d with another daemon does", (int) facts->pid,
					    facts->exec, (int) facts->pid);
}

/*
 * One that is met within fork(), where nothing is safe, is not looked at by an injector for as long as fork() lasts:
 * its agent comes by itself. NULL: nothing is to be done for it now.
 */
static struct process *unless_within_fork(struct process *p)
{
	if (p->agent || p->coming || p->injection || *p->refusal.why || !process_may_be_forked(p))
		return p;
	p = process_hear_agents(p);
	if (!p || p->agent || !process_is_forked(p))
		return p;
	process_comes_forked(p);
	return NULL;
}

static bool has_agent(pid_t pid)
{
	char *status = spi_proc_read(NULL, "%d/status", (int) pid);
	unsigned int uids[4];
	bool found = status && spi_status_ids(status, "Uid", uids) && spi_reader_maps_have(pid, uids[0], "/liblttng-spi.so");

	free(status);
	return found;
}

/*
 * How it was met: in a look at all that there are; as one that has executed a program just now; or since it, or the
 * rules, changed.
 */
enum met { MET_LOOKING, MET_STARTING, MET_CHANGED };

static void unread_tell(const struct facts *facts)
{
	static unsigned int n;

	n++;
	broker_note("unread", "%u process%s known by %s executable's name alone, last %d of user %u: the memory with the other names "
		    "could not be read in time", n, n == 1 ? " was" : "es were", n == 1 ? "its" : "their", (int) facts->pid, facts->uids[0]);
}

static void consider(pid_t pid, enum met met)
{
	struct process *p = process_find(pid);
	struct facts facts;
	char path[32];

	if (facts_read(&facts, pid) || !*facts.exec)
		return;		/* it has ended, or is a kernel thread */
	if (facts.is_unread)
		unread_tell(&facts);
	if (p && facts.start_time == p->facts.start_time)
		process_set_facts(p, &facts);
	if (!is_named(&facts))
		return;
	if (facts_are_own(&facts, true)) {
		own_named(&facts);
		return;
	}
	/*
	 * A forked child of a traced process, which may have ended since, has its parent's instrumentation, and comes
	 * by itself with its first call that is to be recorded. It is left alone, unless rules change: of those it
	 * knows nothing.
	 */
	if (!p && met == MET_LOOKING && has_agent(pid))
		return;
	p = process_get(pid, -1);
	if (!p || p->facts.start_time != facts.start_time)
		return;
	p->is_scoped = true;
	if (met == MET_CHANGED && the_daemon()->is_front_end && rules_name(facts.exec, OF_ROOT)) {
		/* what runs by the name may well be executed anew */
		snprintf(path, sizeof(path), "/proc/%d/exe", (int) pid);
		guard_file(path);
	}
	p = unless_within_fork(p);
	if (!p)
		return;
	p->starts = met == MET_STARTING;
	process_mark(p, MARK_RULES);
	processes_look();
	p->starts = p->starts && p->injection;
	injections_advance();	/* a program that starts waits for that, and what is looked for goes on meanwhile */
}

/*
 * A child of a process that is to be traced, and has no agent yet that would go along; or whose parent has ended
 * since, as that of a daemon does: then nobody knows what the parent was.
 */
static void consider_child(pid_t child, pid_t parent)
{
	const struct process *p = process_find(parent);
	const bool was_known = process_find(child) != NULL;
	struct process *met;

	if ((p ? !p->is_scoped || p->agent : !kill(parent, 0) || errno != ESRCH) || has_agent(child))
		return;
	consider(child, MET_CHANGED);
	met = process_find(child);
	if (met && met->is_scoped && !was_known)
		process_missed(met, "its parent had forked it before the rules were in force");
}

/* At a glance, and perhaps not by all of its names. */
static bool may_be_named(pid_t pid, uid_t uid)
{
	char *comm = spi_proc_read(NULL, "%d/comm", (int) pid), name[64];
	bool is_named;

	spi_executable_name(name, sizeof(name), pid);
	if (comm)
		comm[strcspn(comm, "\n")] = 0;
	is_named = (*name && rules_name(name, uid)) || (comm && *comm && rules_name(comm, uid));
	free(comm);
	return is_named;
}

/* It was over before anything could be read of it; a daemon's first process, say, whose others the next look finds. */
static void start_missed(pid_t pid, uid_t uid, const char *name)
{
	struct ended *e;

	if (ended_has_missed(pid, uid))
		return;
	e = ended_add(pid, uid, name);
	snprintf(e->missed, sizeof(e->missed), MISSED_PREFIX "it ended before it could be looked at");
	missed_count();
	if (the_daemon()->is_front_end)
		plugin_lacks(pid, name, false, e->missed + strlen(MISSED_PREFIX));
	scope_look_soon();
}

/* It is gone, or a zombie. */
static bool is_over(pid_t pid)
{
	char *stat;
	const char *state;
	bool is;

	if (kill(pid, 0) && errno == ESRCH)
		return true;
	stat = spi_proc_read(NULL, "%d/stat", (int) pid);
	state = stat ? spi_stat_field(stat, 3) : NULL;
	is = !state || *state == 'Z' || *state == 'X';
	free(stat);
	return is;
}

/* Process pid executes the program in that file; NULL: it has executed one. Returns whether it did. */
static bool consider_start(pid_t pid, const char *file, bool (*has_executed)(void))
{
	const char *name = file ? strrchr(file, '/') + 1 : NULL;
	bool executed, is_named, is_there;
	char path[32];
	struct stat st = { .st_uid = 0 };

	snprintf(path, sizeof(path), "/proc/%d", (int) pid);
	is_there = !stat(path, &st);
	is_named = name ? rules_name(name, is_there ? st.st_uid : OF_ENDED) : is_there && may_be_named(pid, st.st_uid);
	if (is_named && is_there)
		injection_stop_ahead(pid, st.st_uid, st.st_gid);
	executed = !has_executed || has_executed();
	if (executed)
		consider(pid, MET_STARTING);
	injection_stop_ahead_end(pid);
	if (is_named && name && !process_find(pid) && is_over(pid))
		start_missed(pid, st.st_uid, name);
	snprintf(path, sizeof(path), "/proc/%d/exe", (int) pid);
	if (name ? rules_name(name, OF_ROOT) : may_be_named(pid, OF_ROOT))
		guard_file(file ? file : path);
	return executed;
}

static void scan(enum met met)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char) *entry->d_name))
			consider(atoi(entry->d_name), met);
	if (dir)
		closedir(dir);
}

/* ---- the connector ----------------------------------------------------------------------- */

struct connector_request {
	struct nlmsghdr head;
	struct cn_msg message;
	enum proc_cn_mcast_op op;
} __attribute__((packed));

static void look_again(struct loop_timer *timer)
{
	scan(MET_LOOKING);
	loop_timer_set(timer, refused ? LOOK_MS : TITLES_MS, look_again);
}

void scope_look_soon(void)
{
	if (look_timer.armed)
		loop_timer_set(&look_timer, SOON_MS, look_again);
}

static void connector_refused(int error)
{
	int ret = opened_listen(consider_start);

	loop_timer_cancel(&ack_timer);
	broker_note("connector", "future processes of --exec are %slooked for every second: the kernel refuses its process events (%s); "
		    "run %s as root, outside of containers", ret ? "" :
		    "found when their file is opened; those that are named otherwise are ", strerror(error),
		    the_daemon()->is_front_end ? "lttng trace" : "lttng-sessiond");
	loop_remove(&connector);
	injections_keep_ready(!ret);
	refused = true;
	loop_timer_set(&look_timer, LOOK_MS, look_again);
}

static void connector_silent(struct loop_timer *timer)
{
	connector_refused(EOPNOTSUPP);
}

static void connector_ready(struct loop_source *source, uint32_t events)
{
	_Alignas(struct nlmsghdr) char buffer[4096];
	struct sockaddr_nl from = { 0 };
	socklen_t size = sizeof(from);
	ssize_t n = recvfrom(source->fd, buffer, sizeof(buffer), MSG_DONTWAIT, (struct sockaddr *) &from, &size);

	if (n < 0 && errno == ENOBUFS) {
		scan(MET_LOOKING);	/* events were lost */
		return;
	}
	if (n < 0 || from.nl_pid)
		return;		/* nothing, or not from the kernel */
	for (struct nlmsghdr *head = (struct nlmsghdr *) buffer; NLMSG_OK(head, n); head = NLMSG_NEXT(head, n)) {
		const struct cn_msg *message = NLMSG_DATA(head);
		const struct proc_event *event = (const struct proc_event *) message->data;

		if (head->nlmsg_len < NLMSG_LENGTH(sizeof(*message) + sizeof(*event)) ||
		    message->id.idx != CN_IDX_PROC)
			continue;
		if (event->what == PROC_EVENT_NONE && event->event_data.ack.err) {
			connector_refused(event->event_data.ack.err);
			return;
		}
		if (event->what == PROC_EVENT_NONE) {
			loop_timer_cancel(&ack_timer);
			opened_named_only();
		}
		if (event->what == PROC_EVENT_EXEC)
			consider_start(event->event_data.exec.process_tgid, NULL, NULL);
		if (event->what == PROC_EVENT_FORK && event->event_data.fork.child_pid == event->event_data.fork.child_tgid)
			consider_child(event->event_data.fork.child_tgid, event->event_data.fork.parent_tgid);
		if (event->what == PROC_EVENT_COMM && event->event_data.comm.process_pid == event->event_data.comm.process_tgid)
			consider(event->event_data.comm.process_tgid, MET_CHANGED);
	}
}

static void connector_open(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	struct connector_request request = {
		.head = { .nlmsg_len = sizeof(request), .nlmsg_type = NLMSG_DONE },
		.message = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .len = sizeof(request.op) },
		.op = PROC_CN_MCAST_LISTEN,
	};
	int fd = socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
	int room = 1 << 20;

	if (fd < 0) {
		connector_refused(errno);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	if (bind(fd, (struct sockaddr *) &address, sizeof(address)) ||
	    send(fd, &request, sizeof(request), 0) != sizeof(request) ||
	    loop_add(&connector, fd, EPOLLIN, connector_ready)) {
		connector_refused(errno);
		close(fd);
		return;
	}
	broker_note_clear("connector");
	opened_listen(consider_start);
	loop_timer_set(&ack_timer, ACK_MS, connector_silent);
}

/* ---- rules ----------------------------------------------------------------------------------- */

void scope_update(void)
{
	bool execs = false, pids = false;

	broker_note_clear("own");
	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next) {
		if (!rule->enabled || !rule_instruments(rule))
			continue;
		execs |= rule->wants.asked.exec.count != 0;
		pids |= rule->wants.asked.nr_pids != 0;
	}
	/* Listening begins before looking: nobody slips through between the two. */
	if (execs && connector.fd < 0 && !refused)
		connector_open();
	if (execs) {
		opened_guard_begin(consider_start);
		guard_programs();
	}
	if (!refused)
		injections_keep_ready(execs);
	if (!execs) {
		scope_close();
		broker_note_clear("connector");
	}
	if (execs) {
		scan(MET_CHANGED);
		if (!look_timer.armed)
			loop_timer_set(&look_timer, TITLES_MS, look_again);
		return;
	}
	for (const struct rule *rule = pids ? rules_now()->rules : NULL; rule; rule = rule->next)
		for (unsigned int i = 0; i < rule->wants.asked.nr_pids; i++)
			consider(rule->wants.asked.pids[i], MET_CHANGED);
}

void scope_close(void)
{
	loop_timer_cancel(&ack_timer);
	loop_timer_cancel(&look_timer);
	loop_remove(&connector);
	opened_end();
	opened_guard_end();
	injections_keep_ready(false);
	refused = false;
}
