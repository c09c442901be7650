/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which trees follow messages, and along which kinds of channels. The hooks stand while there is such a tree, or one
 * that waits for a message.
 */
#include <string.h>
#include "rules/rule.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/module/module.h"
#include "liblttng-spi/payload/payload.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/ipc/internal.h"

#define WAIT_MS		1000u	/* a peer takes 0.2 s with a cached map, and up to 3 s the first time */

uint32_t spi_ipc_is_on;
uint32_t spi_ipc_wait_ms;
uint64_t spi_ipc_joined;
/* By kind; the trees' bits as in spi_thread.tree. `wanted`: those that wait as well. */
static uint32_t trees[SPI_CHANNEL_KINDS], wanted[SPI_CHANNEL_KINDS];
static uint32_t everywhere;	/* trees that have the messages of all threads */
static SPI_FORK_DATA uint32_t forks;

static const uint32_t asked_of[SPI_CHANNEL_KINDS] = {
	[SPI_CHANNEL_PIPE] = SPI_CHANNELS_PIPE, [SPI_CHANNEL_UNIX_STREAM] = SPI_CHANNELS_UNIX,
	[SPI_CHANNEL_UNIX_DATAGRAM] = SPI_CHANNELS_UNIX, [SPI_CHANNEL_TCP] = SPI_CHANNELS_TCP,
	[SPI_CHANNEL_UDP] = SPI_CHANNELS_UDP, [SPI_CHANNEL_OTHER] = SPI_CHANNELS_OTHER,
};

/* ---- what is not followed ---- */

/* In a thread of the program there is nobody to tell; the control side does, and the end of the process. */
static const char *const reasons[SPI_IPC_NOTS] = {
	[SPI_IPC_NOT_URGENT] = "messages: urgent data (MSG_OOB) is not followed; positions behind it are not known",
	[SPI_IPC_NOT_TLS] = "messages: the kernel encrypts a connection (TLS): its positions are not known",
	[SPI_IPC_NOT_FULL] = "messages: more channels are in use at the same time than are remembered: some messages are not recorded",
	[SPI_IPC_NOT_RING] = "messages: the program has an io_uring: what it sends and receives by that is not recorded",
	[SPI_IPC_NOT_SHARED] = "messages: the program has memory that others can share: what they tell each other there is not recorded",
	[SPI_IPC_NOT_ROOM] = "messages: LTTng's buffers were full: some messages are not in the trace (--subbuf-size, --num-subbuf)",
	[SPI_IPC_NOT_COUNTED] = "messages: bytes went through a channel that nobody counted, as by a call that was under way when the tracing began: "
		"positions there were set right, and some before may be wrong",
};
static uint32_t noted, to_note;

void spi_ipc_not_followed(uint32_t what)
{
	__atomic_fetch_or(&to_note, 1u << what, __ATOMIC_RELAXED);
}

static void notes_tell(void)
{
	for (uint32_t i = 0; i < SPI_IPC_NOTS; i++)
		if (to_note & ~noted & 1u << i) {
			noted |= 1u << i;
			spi_note("%s", reasons[i]);
		}
}

/* ---- trees ---- */

static int is_wanted(const struct spi_tree *tree)
{
	return tree->enabled || tree->waits;
}

/*
 * A payload may have its trees follow all of them. A worker's are followed while a tree that follows any is for its
 * client, and then by all that do.
 */
static uint32_t channels_of(const struct spi_tree *tree)
{
	const uint32_t asked = spi_clients_follow(tree->rule->clients) ? SPI_CHANNELS_ALL : tree->asked->ipc;

	return asked && spi_ipc_workers ? asked | SPI_CHANNELS_OTHER : asked;
}

static void workers_look(void)
{
	const uint32_t before = spi_ipc_workers;
	uint32_t clients = 0;

	for (const struct spi_tree *tree = spi_trees; tree; tree = tree->next)
		if (is_wanted(tree) && channels_of(tree))
			clients |= tree->rule->clients;
	spi_ipc_workers_take(clients);
	if (spi_ipc_workers && !before)
		spi_hooks_enter(SPI_HOOKS_IPC_FILES, spi_link_current);
	if (spi_ipc_workers || !before)
		return;
	spi_hooks_leave(SPI_HOOKS_IPC_FILES);
	spi_ipc_others_end();
}

/* A tree that began with a message has the messages of all threads, and a payload's own tree of main(): exit() flushes. */
static int is_everywhere(const struct spi_tree *tree)
{
	return tree->enabled && (tree->asked->on_message || (tree->rule->is_agents && spi_tree_root_is_main(tree)));
}

/* Only trees that begin with a message follow channels here. */
static int is_for_message(void)
{
	for (const struct spi_tree *tree = spi_trees; tree; tree = tree->next)
		if (is_wanted(tree) && channels_of(tree) && !tree->asked->on_message)
			return 0;
	return 1;
}

void spi_ipc_trees_changed(void)
{
	uint32_t on_message = 0, any = 0, wait_ms = 0;

	workers_look();
	for (uint32_t kind = 0; kind < SPI_CHANNEL_KINDS; kind++) {
		uint32_t now = 0, soon = 0;

		for (const struct spi_tree *tree = spi_trees; tree; tree = tree->next) {
			if (!(channels_of(tree) & asked_of[kind]) || !is_wanted(tree))
				continue;
			soon |= tree->bit;
			now |= tree->enabled ? tree->bit : 0;
			if (wait_ms < (tree->asked->ipc_wait ?: WAIT_MS))
				wait_ms = tree->asked->ipc_wait ?: WAIT_MS;
			on_message |= is_everywhere(tree) ? tree->bit : 0;
		}
		any |= soon;
		__atomic_store_n(&trees[kind], now, __ATOMIC_RELEASE);
		__atomic_store_n(&wanted[kind], soon, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&everywhere, on_message, __ATOMIC_RELEASE);
	__atomic_store_n(&spi_ipc_wait_ms, wait_ms, __ATOMIC_RELEASE);
	if (any)
		spi_ipc_records_prepare();
	if (any && !spi_ipc_is_on) {
		spi_hooks_enter(SPI_HOOKS_IPC, spi_link_current);
		/* a process that a message brings in is waited for by the sender */
		spi_ipc_joined = is_for_message() || !spi_tree_main_begun() ? 0 : spi_now_ns();
	}
	if (!any && spi_ipc_is_on)
		spi_hooks_leave(SPI_HOOKS_IPC);
	__atomic_store_n(&spi_ipc_is_on, any != 0, __ATOMIC_RELEASE);
	notes_tell();
}

int spi_ipc_follows(uint32_t kind)
{
	return kind < SPI_CHANNEL_KINDS && __atomic_load_n(&wanted[kind], __ATOMIC_RELAXED);
}

/* A whole program's messages are those before main() and after it, too: stdio's last ones come with exit(). */
uint32_t spi_ipc_trees_of(uint32_t kind)
{
	const uint32_t which = kind < SPI_CHANNEL_KINDS ? __atomic_load_n(&trees[kind], __ATOMIC_ACQUIRE) : 0;

	return which & (spi_tree_of_caller() | spi_tree_whole | __atomic_load_n(&everywhere, __ATOMIC_RELAXED));
}

uint32_t spi_ipc_era(void)
{
	const uint32_t era = (uint32_t) spi_tree_epoch + forks * UINT32_C(0x9e3779b1);

	return era + !era;
}

void spi_ipc_fork_child(void)
{
	forks++;
	to_note = 0;
}

void spi_ipc_process_end(void)
{
	if (spi_ipc_is_on)
		spi_ipc_others_look();
	notes_tell();
}
