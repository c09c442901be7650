/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The clients, by number. A rule names a client by the name of the payload file that has made the client, or by "#" and
 * the number; arguments tell two clients of one file apart.
 */
#include <errno.h>
#include <string.h>
#include "rules/rule.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/payload/internal.h"

#define END_MS	1000u

struct spi_client *spi_client_make(const char *name, uint32_t flags)
{
	struct spi_client *client = spi_map_pages(sizeof(*client));
	unsigned int number = 0;

	if (!client)
		return NULL;
	spi_errno_find();
	spi_guard_begin();
	spi_critical_find();
	spi_format(client->name, sizeof(client->name), "%s", name);
	client->flags = flags;
	for (; number < SPI_CLIENTS_MAX; number++) {
		struct spi_client *none = NULL;

		client->number = number;	/* several threads may make one at the same time */
		spi_debug(SPI_DEBUG_PAYLOAD, "%s is number %u", name, number);
		if (__atomic_compare_exchange_n(&spi_clients[number], &none, client, 0, __ATOMIC_ACQ_REL,
				__ATOMIC_RELAXED))
			return client;
	}
	spi_sys(SYS_munmap, client, (sizeof(*client) + 4095) & ~4095ul);
	return NULL;
}

static int client_find(const char *name, const char *arguments)
{
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX; i++) {
		const struct spi_client *c = spi_clients[i];

		if (c && c->file && !c->is_old && !strcmp(c->file, name) &&
				!strcmp(c->arguments ? c->arguments : "", arguments))
			return (int) i;
	}
	return -ENOENT;
}

/*
 * A client of the file that no rule names at the moment takes the arguments. Its number; -ENOENT: there is none such.
 */
static int client_again(const char *name, const char *arguments, char *why, size_t size)
{
	char reason[200] = "";

	for (unsigned int i = 0; i < SPI_CLIENTS_MAX; i++) {
		struct spi_client *c = spi_clients[i];
		const char *before;
		char *kept;

		if (!c || !c->file || !c->again || c->rules || c->state != SPI_CLIENT_STOPPED || strcmp(c->file, name))
			continue;
		kept = spi_alloc(strlen(arguments) + 1);
		if (!kept)
			return -ENOMEM;
		strcpy(kept, arguments);
		before = c->arguments;
		c->arguments = kept;
		if ((int) spi_client_run(c, c->again, c, reason) < 0) {
			c->arguments = before;
			spi_format(why, size, "payload %s: %s", c->name, reason);
			return -EINVAL;
		}
		return (int) i;
	}
	return -ENOENT;
}

int spi_client_for(const char *name, const char *arguments, char *why, size_t size)
{
	struct spi_client *client;
	int number;

	if (name[0] == '#') {
		number = name[1] - '0';
		return number >= 0 && number < (int) SPI_CLIENTS_MAX && spi_clients[number] && !name[2] ? number : -ENOENT;
	}
	spi_client_output_find(spi_link_current);
	number = client_find(name, arguments);
	if (number >= 0 && !spi_clients[number]->rules && spi_client_is_old(spi_clients[number])) {
		spi_clients[number]->is_old = 1;	/* it was built anew */
		number = -ENOENT;
	} else if (number < 0) {
		number = client_again(name, arguments, why, size);
	}
	if (number != -ENOENT)
		return number;
	client = spi_client_load(name, arguments, why, size);
	return client ? (int) client->number : -ELIBACC;
}

int spi_clients_named(const struct spi_rule_names *names, const struct spi_rule_names *arguments, uint32_t *which, char *why, size_t size)
{
	static char text[SPI_RULE_TEXT_MAX];	/* under the control lock */
	int n = 0, number;

	*which = 0;
	text[0] = 0;
	for (uint32_t i = 0; i < arguments->count; i++)
		n += spi_format(text + n, sizeof(text) - (size_t) n, "%s\n", arguments->name[i]);
	for (uint32_t i = 0; i < names->count; i++) {
		number = spi_client_for(names->name[i], text, why, size);
		if (number < 0)
			return number;
		*which |= 1u << number;
	}
	spi_arguments_tell(text, *which);
	return 0;
}

int spi_clients_have_flag(uint32_t which, uint32_t flag)
{
	for (; which; which &= which - 1)
		if (spi_clients[__builtin_ctz(which)]->flags & flag)
			return 1;
	return 0;
}

int spi_clients_follow(uint32_t which)
{
	for (; which; which &= which - 1)
		if (spi_clients[__builtin_ctz(which)]->follows)
			return 1;
	return 0;
}

int spi_clients_ask(uint32_t which)
{
	for (; which; which &= which - 1)
		if (spi_clients[__builtin_ctz(which)]->entry)
			return 1;
	return 0;
}

const char *spi_clients_refuse(struct spi_point *point, uint32_t which)
{
	const char *reason = NULL;

	for (; which && !reason; which &= which - 1) {
		struct spi_client *client = spi_clients[__builtin_ctz(which)];

		if (client->refuse)
			reason = (const char *) spi_client_run(client, client->refuse, client, point);
	}
	return reason;
}

/* ---- begin and end ---- */

static void client_finish(struct spi_client *client)
{
	if (client->fini) {
		spi_guard_leave(client);
		spi_client_run(client, (void *) client->fini, client, NULL);
	}
	if (client->unsafe)
		spi_note("payload %s: it was not given %lu calls, which were made within malloc(), stdio, the dynamic linker or "
			"the unwinder, in the middle of a payload, or at the end of a stack", client->name, client->unsafe);
}

static int client_stop(struct spi_client *client)
{
	uint32_t on = SPI_CLIENT_ON;

	return client && __atomic_compare_exchange_n(&client->state, &on, SPI_CLIENT_STOPPED, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static uint32_t ends_under_way;	/* how many threads are in spi_clients_end() */

void spi_clients_end(uint32_t which)
{
	__atomic_fetch_add(&ends_under_way, 1, __ATOMIC_ACQ_REL);
	for (; which; which &= which - 1) {
		struct spi_client *client = spi_clients[__builtin_ctz(which)];

		if (!client_stop(client))
			continue;
		spi_samples_end(client);
		spi_flush_end(client);
		client_finish(client);
	}
	__atomic_fetch_sub(&ends_under_way, 1, __ATOMIC_ACQ_REL);
}

/*
 * The process may end as its controller lets go: whoever comes first has the payloads say their last words, and the
 * other must not cut them off.
 */
static void others_wait(void)
{
	for (unsigned int ms = 0; ms < END_MS && __atomic_load_n(&ends_under_way, __ATOMIC_ACQUIRE); ms++)
		spi_sleep_us(1000);
}

static uint32_t end_is_due;	/* the process ends, in a thread that may not talk */

/* Control side, or at the process's end. */
void spi_clients_tell(void)
{
	if (__atomic_exchange_n(&end_is_due, 0, __ATOMIC_ACQ_REL))
		spi_clients_end((1u << SPI_CLIENTS_MAX) - 1);
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX && spi_clients[i]; i++) {
		const char *why = __atomic_exchange_n(&spi_clients[i]->failure, NULL, __ATOMIC_ACQ_REL);

		if (why) {
			char line[300];

			spi_format(line, sizeof(line), "payload %s: %s: it is switched off, and the program goes on",
				spi_clients[i]->name, why);
			spi_client_say(line);
		}
	}
}

/* Of clients that no rule has loaded all have the environment's, and all that they ask for is known at the end. */
static void environment_tell(void)
{
	const char *arguments = NULL;
	uint32_t which = 0;

	for (unsigned int i = 0; i < SPI_CLIENTS_MAX && spi_clients[i]; i++)
		if (!spi_clients[i]->file && spi_clients[i]->state == SPI_CLIENT_ON) {
			arguments = spi_clients[i]->arguments;
			which |= 1u << i;
		}
	spi_arguments_tell(arguments, which);
}

/*
 * In a sandbox that kills for opening a file, the control thread does what is left to do: the ending thread asks it,
 * and waits.
 */
void spi_clients_process_end(void)
{
	environment_tell();
	if (!spi_may(SPI_MAY_TALK)) {
		__atomic_store_n(&end_is_due, 1, __ATOMIC_RELEASE);
		return;
	}
	spi_clients_end((1u << SPI_CLIENTS_MAX) - 1);
	others_wait();
	spi_clients_tell();
}

void spi_clients_fork_child(void)
{
	ends_under_way = 0;
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX && spi_clients[i]; i++)
		if (spi_clients[i]->leaves_children)
			client_stop(spi_clients[i]);
}

/* Nothing of this program's is left when the other one runs: payloads end here, and go on should that fail. */
void spi_clients_program_begins(const char *path)
{
	if (spi_watched & SPI_WATCH_PROGRAMS)
		spi_observe_program(path);
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX && spi_clients[i]; i++) {
		if (!client_stop(spi_clients[i]))
			continue;
		spi_clients[i]->is_at_exec = 1;
		client_finish(spi_clients[i]);
	}
	if (spi_clients[0])
		spi_clients_tell();
}

void spi_clients_program_fails(void)
{
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX && spi_clients[i]; i++) {
		uint32_t stopped = SPI_CLIENT_STOPPED;

		if (__atomic_exchange_n(&spi_clients[i]->is_at_exec, 0, __ATOMIC_ACQ_REL))
			__atomic_compare_exchange_n(&spi_clients[i]->state, &stopped, SPI_CLIENT_ON, 0,
				__ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	}
}

int spi_clients_watch(uint32_t which)
{
	for (; which; which &= which - 1)
		if (spi_clients[__builtin_ctz(which)]->watches)
			return 1;
	return 0;
}

int spi_clients_leave(uint32_t which, uint64_t function)
{
	for (; which; which &= which - 1) {
		struct spi_client *client = spi_clients[__builtin_ctz(which)];

		if (client->watches && !client->watches(client, function))
			return 1;
	}
	return 0;
}

void spi_clients_rule_begins(uint32_t which)
{
	for (; which; which &= which - 1) {
		struct spi_client *client = spi_clients[__builtin_ctz(which)];

		spi_observe_begin(client);
		if (client->state == SPI_CLIENT_STOPPED)
			__atomic_store_n(&client->state, SPI_CLIENT_ON, __ATOMIC_RELEASE);
		if (client->fini)
			spi_exec_start(spi_link_current);	/* it runs before the process executes another program, too */
		if (!client->rules++ && client->state == SPI_CLIENT_ON) {
			spi_flush_begin(client);
			spi_samples_begin(client);
		}
	}
}

/* All rules have gone with the controller, or the process has given up. */
void spi_clients_removal(void)
{
	spi_observe_removal();
	others_wait();
	spi_client_output_drop();
}

void spi_clients_rule_ends(uint32_t which)
{
	for (; which; which &= which - 1) {
		struct spi_client *client = spi_clients[__builtin_ctz(which)];

		if (!client->rules || --client->rules)
			continue;
		client->has_begun = 0;
		spi_clients_end(1u << client->number);
	}
}

/* The rule came to nothing: what no other rule has begun has no end. */
void spi_clients_rule_fails(uint32_t which)
{
	for (; which; which &= which - 1) {
		struct spi_client *client = spi_clients[__builtin_ctz(which)];

		if (!client->rules || --client->rules || !client_stop(client))
			continue;
		spi_samples_end(client);
		spi_flush_end(client);
	}
}

/* ---- call trees ---- */

struct spi_client *spi_client_of_tree[32];	/* under the control lock; calls read it */

void spi_client_tree_set(uint32_t tree, uint32_t which)
{
	const int is_one = which && !(which & (which - 1)) && !spi_clients_have_flag(which, SPI_CLIENT_RECORDS);

	__atomic_store_n(&spi_client_of_tree[__builtin_ctz(tree)], is_one ? spi_clients[__builtin_ctz(which)] : NULL,
		__ATOMIC_RELEASE);
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX; i++) {
		struct spi_client *c = spi_clients[i];

		if (c && (which & 1u << i))
			__atomic_fetch_or(&c->trees, tree, __ATOMIC_RELEASE);
		else if (c)
			__atomic_fetch_and(&c->trees, ~tree, __ATOMIC_RELEASE);
	}
	if (which)
		__atomic_fetch_or(&spi_client_trees, tree, __ATOMIC_RELEASE);
	else
		__atomic_fetch_and(&spi_client_trees, ~tree, __ATOMIC_RELEASE);
}

uint32_t spi_clients_of_trees(uint32_t trees)
{
	uint32_t which = 0;

	for (unsigned int i = 0; i < SPI_CLIENTS_MAX && spi_clients[i]; i++)
		which |= spi_clients[i]->trees & trees ? 1u << i : 0;
	return which;
}
