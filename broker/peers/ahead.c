/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Maps of programs that messages are likely to bring in, made before the first message: the analysis of a program and
 * its libraries may take longer than a message waits.
 *
 * While a rule follows messages, processes with listening sockets are looked for every now and then (listening.c). Of
 * those that such a rule may bring in each file of code is analysed as their agents would have it done, into the cache
 * of their user: one at a time, with the lowest priority, and not again for a while. What is in the cache already costs
 * a few milliseconds.
 */
#include <errno.h>
#include <string.h>

#include "broker/peers/internal.h"
#include "rules/glob.h"

#define SOON_MS		100u	/* rules come one after the other */
#define LOOK_MS		10000u
#define LATE_MS		5000u	/* the child has not said anything for so long, and nothing is analysed */
#define PROGRAMS_MOST	32u	/* of which something is analysed, in one look */
#define FILES_MOST	2048u	/* remembered, and analysed until rules change */
#define KEPT_MS		600000u	/* a file that was analysed is not again for so long */

static struct child child;
static struct loop_timer look_timer, late_timer;
static uint64_t looks;			/* which look it is; an analysis of a former one may end later */
static bool is_analysing, is_again;
static unsigned int programs;		/* in this look */
static struct {
	uint64_t file;			/* a hash of the file, and whose process it was */
	uint64_t since;
} done[FILES_MOST];			/* the latest */
static unsigned int nr_done;		/* ever */
static unsigned int nr_files;		/* since rules changed */

/* The process that the child speaks of. */
static struct {
	struct facts facts;
	uint32_t channels;
	bool is_counted;
} now;

static void look(struct loop_timer *timer);

static bool is_wanted(void)
{
	const char *cache = getenv("LTTNG_SPI_CACHE");

	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next)
		if (rule_follows_messages(rule))
			return !cache || *cache;
	return false;
}

static void look_end(void)
{
	if (child.pid)
		child_stop(&child);
	loop_timer_cancel(&late_timer);
	looks++;
	is_analysing = false;
	if (is_wanted())
		loop_timer_set(&look_timer, is_again ? SOON_MS : LOOK_MS, look);
}

static void child_late(struct loop_timer *timer)
{
	look_end();
}

static void go_on(bool more)
{
	const char byte = more;

	if (packet_send(child.socket.fd, &byte, sizeof(byte), NULL, 0))
		look_end();
	else
		loop_timer_set(&late_timer, LATE_MS, child_late);
}

/* ---- what is analysed ------------------------------------------------------------------------------------------- */

static bool rule_brings(const struct rule *rule)
{
	return rule_follows_messages(rule) && rule->wants.asked.ipc & now.channels && rule_may(rule, &now.facts);
}

/* Its agent, where it has one, has its maps. */
static bool is_process_wanted(const struct one *one, uint32_t channels)
{
	const struct process *p = process_find(one->pid);

	now.channels = channels;
	now.is_counted = false;
	if ((p && p->agent) || programs >= PROGRAMS_MOST || facts_read(&now.facts, one->pid) ||
	    now.facts.start_time != one->start_time || !facts_are_of(&now.facts, now.facts.uids[0]) ||
	    facts_are_own(&now.facts, true) || peer_is_never(&now.facts))
		return false;
	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next)
		if (rule_brings(rule))
			return true;
	return false;
}

static bool is_named(const struct spi_rule_names *names, const char *name)
{
	for (unsigned int i = 0; i < names->count; i++)
		if (spi_glob_match(names->name[i], name))
			return true;
	return false;
}

/* Does a tree go into it? The program may be called by other names, too (--lib). */
static bool is_file_wanted(const struct listening_said *said)
{
	static const char *const never[] = {
		"ld-linux*", "liblttng-*", "liburcu*", "libunwind*", "libgcc_s.so*", "libnuma.so*",
	};
	const char *name = strrchr(said->path, '/') + 1;

	for (unsigned int i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if (spi_glob_match(never[i], name))
			return false;
	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next) {
		const struct spi_rule *asked = &rule->wants.asked;

		if (rule_brings(rule) && (!asked->lib.count || said->is_executable || is_named(&asked->lib, name)) &&
		    !is_named(&asked->exclude_lib, name))
			return true;
	}
	return false;
}

static bool is_done(uint64_t file)
{
	for (unsigned int i = 0; i < nr_done && i < FILES_MOST; i++)
		if (done[i].file == file && loop_now() - done[i].since < KEPT_MS)
			return true;
	return false;
}

static void analysed(void *data)
{
	if ((uint64_t) (uintptr_t) data != looks)
		return;
	is_analysing = false;
	go_on(true);
}

/* 1: it is under way. 0: there is nothing to be done. */
static bool analyse(const struct listening_said *said)
{
	const uint64_t whose = spi_hash_number(said->device ^ spi_hash_number(now.facts.uids[0]));
	const uint64_t file = spi_hash_text(spi_hash_number(said->inode ^ whose), said->path);
	const struct spi_analysis analysis = {
		.pid = now.facts.pid, .start_time = now.facts.start_time, .uid = now.facts.uids[0], .path = said->path,
		.over = analysed, .data = (void *) (uintptr_t) looks,
	};

	if (!is_file_wanted(said) || nr_files == FILES_MOST || is_done(file))
		return false;
	done[nr_done % FILES_MOST].file = file;
	done[nr_done++ % FILES_MOST].since = loop_now();
	nr_files++;
	programs += !now.is_counted;
	now.is_counted = true;
	loop_timer_cancel(&late_timer);
	is_analysing = true;
	if (!spi_control_analyse(agents_control(), &analysis))
		return true;
	is_analysing = false;
	return false;
}

/* ---- the child -------------------------------------------------------------------------------------------------- */

static void said_ready(struct loop_source *source, uint32_t events)
{
	static struct listening_said said;
	unsigned int nr_fds;
	ssize_t n = packet_receive(source->fd, &said, sizeof(said), NULL, 0, &nr_fds);

	if (n == -EAGAIN)
		return;
	said.path[PATH_MAX - 1] = 0;
	if (n != sizeof(said) || is_analysing || (*said.path && (*said.path != '/' || said.one.pid != now.facts.pid)))
		look_end();		/* or it is through */
	else if (!*said.path)
		go_on(is_process_wanted(&said.one, said.channels));
	else if (!analyse(&said))
		go_on(true);
}

static void look(struct loop_timer *timer)
{
	is_again = child.pid;
	if (is_again)
		return;
	programs = 0;
	if (child_start(&child, listening_work, NULL, said_ready))
		loop_timer_set(&look_timer, LOOK_MS, look);
	else
		loop_timer_set(&late_timer, LATE_MS, child_late);
}

void ahead_update(void)
{
	nr_files = 0;
	if (is_wanted()) {
		loop_timer_set(&look_timer, SOON_MS, look);
		return;
	}
	loop_timer_cancel(&look_timer);
	if (child.pid)
		look_end();
}

void ahead_stop(void)
{
	loop_timer_cancel(&look_timer);
	loop_timer_cancel(&late_timer);
	if (child.pid)
		child_stop(&child);
}
