/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Processes that a rule names and that never register: programs not linked with
 * lttng-ust.
 *
 * When the rules change, /proc is looked through once for those that run. Those
 * to come are told by the kernel's proc connector, each exec() as it happens; the
 * kernel does so for root in the initial namespaces only; elsewhere it refuses, or
 * says nothing of its own accord (that others listen may bring their events, with
 * process numbers that are not ours). Without it, /proc is looked through again
 * every second, and a note says so.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker/broker.h"
#include "injector/target.h"

#define ACK_MS	500u
#define LOOK_MS	1000u
#define OWN_DEPTH 4u	/* spi-codemap's child below a helper of ours */

static struct loop_source connector = { .fd = -1 };
static struct loop_timer ack_timer;	/* armed until the kernel has said that it will tell */
static struct loop_timer look_timer;	/* armed while it does not, and a rule names an executable */
static bool refused;

/* Is it named by any rule that instruments, and is its own scope the reason? */
static bool is_named(const struct facts *facts)
{
	for (const struct rule *rule = broker.rules->rules; rule; rule = rule->next)
		if (rule->enabled && (rule->wants.nr_execs || rule->wants.nr_pids) &&
		    rule_concerns(rule, facts, false))
			return true;
	return false;
}

static pid_t parent_of(pid_t pid)
{
	char *status = spi_proc_read(NULL, "%d/status", (int) pid);
	const char *parent = status ? spi_status_value(status, "PPid") : NULL;
	pid_t ret = parent ? atoi(parent) : 0;

	free(status);
	return ret;
}

static bool is_path_of(pid_t pid, const char *path)
{
	char link[32], other[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int) pid);
	n = readlink(link, other, sizeof(other) - 1);
	other[n > 0 ? n : 0] = 0;
	return n > 0 && !strcmp(other, path);
}

/*
 * A child of the daemon: was it forked by it, or by a broker before us? Or has the kernel made it the daemon's child when
 * its own parent ended, as it does with any program where the daemon is the first process of a container?
 */
static bool is_forked_by_daemon(pid_t pid)
{
	static const char consumer[] = "--consumerd-cmd-sock", *const names[] = {
		"lttng-consumerd", "lt-lttng-consumerd", "spi-broker", "spi-codemap",
	};
	char link[32], path[4096];
	const char *name;
	char *arguments;
	size_t size;
	ssize_t n;
	bool found;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int) pid);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	/* It has forked and not executed: its worker with the users' rights. */
	if (n > 0 && is_path_of(broker.daemon.pid, path))
		return true;
	name = strrchr(path, '/');
	for (unsigned int i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name + 1, names[i]))
			return true;
	/* A consumer daemon that was given another name: lttng-sessiond --consumerd64-path */
	arguments = spi_proc_read(&size, "%d/cmdline", (int) pid);
	found = arguments && memmem(arguments, size, consumer, sizeof(consumer) - 1);
	free(arguments);
	return found;
}

bool facts_are_own(const struct facts *facts, bool deep)
{
	pid_t pid = facts->pid, above = facts->parent;

	for (unsigned int i = 0; i < (deep ? OWN_DEPTH : 1); i++) {
		if (pid == getpid() || pid == broker.daemon.pid || above == getpid())
			return true;
		if (above == broker.daemon.pid)
			return is_forked_by_daemon(pid);
		pid = above;
		above = pid > 1 ? parent_of(pid) : 0;
	}
	return false;
}

/* A rule that names one of the tracer's by its number is told what becomes of it; a pattern that fits them, too, means others. */
static void own_named(const struct facts *facts)
{
	for (const struct rule *rule = broker.rules->rules; rule; rule = rule->next)
		for (unsigned int i = 0; rule->enabled && i < rule->wants.nr_pids; i++)
			if (rule->wants.pids[i] == facts->pid)
				broker_note("own", "process %d (%s) belongs to the session daemon or to lttng-spi: rules do not instrument "
					    "what carries the trace; lttng trace -p %d with another daemon does", (int) facts->pid,
					    facts->exec, (int) facts->pid);
}

/*
 * One that is met within fork(), where nothing is safe, is not looked at by an injector for as long as fork() lasts: its
 * agent comes by itself. NULL: nothing is to be done for it now.
 */
static struct process *unless_within_fork(struct process *p)
{
	if (p->agent || p->coming || p->injection || *p->why || !process_may_be_forked(p))
		return p;
	p = process_hear_agents(p);
	if (!p || p->agent || !process_is_forked(p))
		return p;
	process_comes_forked(p);
	return NULL;
}

static void consider(pid_t pid)
{
	struct process *p = process_find(pid);
	struct facts facts;

	if (facts_read(&facts, pid) || !*facts.exec)
		return;		/* it has ended, or is a kernel thread */
	if (p && facts.start_time == p->facts.start_time)
		process_facts_set(p, &facts);
	if (!is_named(&facts))
		return;
	if (facts_are_own(&facts, true)) {
		own_named(&facts);
		return;
	}
	p = process_get(pid, -1);
	if (!p || p->facts.start_time != facts.start_time)
		return;
	p->scoped = true;
	p = unless_within_fork(p);
	if (p)
		process_apply(p);
}

static void scan(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char) *entry->d_name))
			consider(atoi(entry->d_name));
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
	scan();
	loop_timer_set(timer, LOOK_MS, look_again);
}

static void connector_refused(int error)
{
	loop_timer_cancel(&ack_timer);
	broker_note("connector", "processes to come are not found by name (exec=) at once, but looked for every second: the "
		    "kernel refuses its process events: %s; needs CAP_NET_ADMIN in the initial network and pid namespaces: "
		    "run lttng-sessiond as root, outside of containers", strerror(error));
	loop_remove(&connector);
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
		scan();		/* events were lost */
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
		if (event->what == PROC_EVENT_NONE)
			loop_timer_cancel(&ack_timer);
		if (event->what == PROC_EVENT_EXEC)
			consider(event->event_data.exec.process_tgid);
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
	loop_timer_set(&ack_timer, ACK_MS, connector_silent);
}

/* ---- rules ----------------------------------------------------------------------------------- */

void scope_update(void)
{
	bool execs = false, pids = false;

	broker_note_clear("own");
	for (const struct rule *rule = broker.rules->rules; rule; rule = rule->next) {
		if (!rule->enabled || !rule_instruments(rule))
			continue;
		execs |= rule->wants.nr_execs != 0;
		pids |= rule->wants.nr_pids != 0;
	}
	/* Listening begins before looking: nobody slips through between the two. */
	if (execs && connector.fd < 0 && !refused)
		connector_open();
	if (!execs) {
		scope_close();
		broker_note_clear("connector");
	}
	if (execs) {
		scan();
		return;
	}
	for (const struct rule *rule = pids ? broker.rules->rules : NULL; rule; rule = rule->next)
		for (unsigned int i = 0; i < rule->wants.nr_pids; i++)
			consider(rule->wants.pids[i]);
}

void scope_close(void)
{
	loop_timer_cancel(&ack_timer);
	loop_timer_cancel(&look_timer);
	loop_remove(&connector);
	refused = false;
}
