/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What clients have gathered is written down while the process goes on, when it gets a signal that a client has asked
 * for.
 *
 * The agent takes such a signal as it takes those of its own (signals/share.c): the program sees its own action, and
 * its handler has the signal behind the clients. The default action does not happen while a client waits for the
 * signal. A signal that the program ignores stays ignored, as the programs that it executes inherit that.
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/payload/internal.h"

static struct spi_signal signals[SPI_SIGNALS];
static uint32_t waiting[SPI_SIGNALS];	/* clients, by their numbers' bits; changed by the control side */

static void clients_flush(uint32_t which)
{
	for (; which; which &= which - 1) {
		struct spi_client *client = spi_clients[__builtin_ctz(which)];

		if (client && client->flush && __atomic_load_n(&client->state, __ATOMIC_ACQUIRE) == SPI_CLIENT_ON)
			spi_client_run(client, client->flush, client, NULL);
	}
}

static void on_signal(int number, void *info, void *context)
{
	struct spi_signal *s = &signals[number];
	const uint32_t which = __atomic_load_n(&waiting[number], __ATOMIC_ACQUIRE);

	if (which && spi_may(SPI_MAY_ACT))
		clients_flush(which);
	if (!which || spi_signal_has_handler(&s->program))
		spi_signal_hand_on(s, info, context, __builtin_return_address(0));
}

void spi_flush_begin(struct spi_client *client)
{
	const int number = client->flush ? client->flush_signal : 0;
	struct spi_signal *s = &signals[number];
	struct spi_sigaction now;

	if (!number)
		return;
	if (spi_signal_query(number, &now) == 0 && now.handler == (uint64_t) SIG_IGN) {
		spi_note("payload %s: the program ignores signal %u, at which it was to write", client->name,
			(unsigned int) number);
		return;
	}
	if (spi_signal_of[number] && spi_signal_of[number] != s) {
		spi_note("payload %s: signal %u is watched for another payload already: nothing is written at it", client->name,
			(unsigned int) number);
		return;
	}
	s->number = number;
	s->handler = on_signal;
	__atomic_fetch_or(&waiting[number], 1u << client->number, __ATOMIC_RELEASE);
	if (spi_signal_take(s) < 0)
		spi_note("payload %s: signal %u cannot be handled", client->name, (unsigned int) number);
}

void spi_flush_end(struct spi_client *client)
{
	if (client->flush_signal)
		__atomic_fetch_and(&waiting[client->flush_signal], ~(1u << client->number), __ATOMIC_RELEASE);
}
