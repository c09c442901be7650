/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A session's trace tells which rules were in force: by events of the agent's (tp/module/rule.c), one for each rule, of
 * a name that is made of the rule. No event rule of the session's has that name, and a session is its user's: so it is
 * enabled in the application alone, in the channel of the event rule that asks for the rule, right behind that. `lttng
 * list` and `lttng save` do not know it. The application keeps what its session enables for as long as there is the
 * session; its handle, which would keep the session, is given back at once.
 *
 * What the application is told takes three messages a rule, of which the daemon sends two for the event rule itself. It
 * holds the application's lock here, so nobody else speaks to the application.
 */
#include <stdlib.h>
#include <string.h>

#include "liblttng-spi/base/agent-proto.h"
#include "rules/event-name.h"
#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/daemon/daemon.h"

#define NAME_AT		4u		/* struct lttng_ust_abi_event: the instrumentation, the name, the log level */
#define NAME_SIZE	256u
#define LEVEL_AT	(NAME_AT + NAME_SIZE)

/* For which rule the last one was enabled: several event rules of one user's wish ask for the same one after the other. */
static struct {
	int sock;
	const void *channel;
	uint64_t sum;
} latest;

static bool is_latest(int sock, const void *channel, uint64_t sum)
{
	bool is;

	pthread_mutex_lock(&plugin_lock);
	is = latest.sock == sock && latest.channel == channel && latest.sum == sum;
	latest.sock = sock;
	latest.channel = channel;
	latest.sum = sum;
	pthread_mutex_unlock(&plugin_lock);
	return is;
}

static void rule_enable(int sock, const void *event, const void *channel, uint64_t sum, const struct ust_calls *ust)
{
	char copy[1024] = { 0 };	/* larger than any version's structure */
	const int32_t all[2] = { 0, -1 };	/* any log level */
	void *object = NULL;

	memcpy(copy, event, NAME_AT);
	spi_rule_event(sum, copy + NAME_AT);
	memcpy(copy + LEVEL_AT, all, sizeof(all));
	if ((int) ust->create_event(sock, (long) copy, (long) channel, (long) &object, 0, 0) || !object)
		return;
	ust->enable(sock, (long) object, 0, 0, 0, 0);
	ust->release(sock, (long) object, 0, 0, 0, 0);
	free(object);
}

void told_rules_created(int sock, const void *event, const void *channel, const struct ust_calls *ust)
{
	const char *name = (const char *) event + NAME_AT;
	char why[SPI_RULE_WHY], copy[NAME_SIZE];
	struct spi_event_rule wants;

	if (!channel || !ust->enable || !ust->release || !rules_have_name_first() || strncmp(name, SPI_EVENT_PROVIDER, 4))
		return;
	memcpy(copy, name, NAME_SIZE);
	copy[NAME_SIZE - 1] = 0;
	if (!spi_event_name_parse(copy, &wants, why))
		for (unsigned int i = 0; i < wants.nr_requests; i++) {
			uint64_t sum = spi_rule_sum(wants.requests[i].flags, wants.requests[i].text);

			if (!is_latest(sock, channel, sum))
				rule_enable(sock, event, channel, sum, ust);
		}
	spi_event_rule_clear(&wants);
}
