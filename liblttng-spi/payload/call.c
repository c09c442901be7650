/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A call on its way to clients, and back.
 *
 * Each client that wants the exit has a return slot of its own for the call: a slot's code stands where the return
 * address did, as that of a call that ends with a tail call does (calls/slots.c). The slot keeps the client and the
 * call's user data.
 *
 * While a payload runs its thread is busy: what the payload calls is not instrumented. A call that comes all the same is
 * a signal handler's, which has interrupted the payload or the recorder; only clients that are safe there get it.
 */
#include <errno.h>
#include <signal.h>
#include "liblttng-spi/payload/internal.h"

#define AT(type, field, place) _Static_assert(offsetof(struct type, field) == place, "payload/offsets.h")
AT(spi_client, state, SPI_AT_CLIENT_STATE);
AT(spi_client, limit_us, SPI_AT_CLIENT_STATE + 4);
AT(spi_client, entry, SPI_AT_CLIENT_ENTRY);
AT(spi_client, exit, SPI_AT_CLIENT_EXIT);
AT(spi_client, entry_data, SPI_AT_CLIENT_ENTRY_DATA);
AT(spi_client, exit_data, SPI_AT_CLIENT_EXIT_DATA);
AT(spi_client, flags, SPI_AT_CLIENT_FLAGS);
AT(spi_clients, point, 0);
AT(spi_clients, one, SPI_AT_CLIENTS_ONE);
AT(spi_clients, of, SPI_AT_CLIENTS_OF);
AT(spi_clients, outside, SPI_AT_CLIENTS_OUTSIDE);
AT(spi_clients, may_be_critical, SPI_AT_CLIENTS_CRITICAL);
AT(spi_call, client, SPI_AT_CALL_CLIENT);
AT(spi_call, point, SPI_AT_CALL_POINT);
AT(spi_call, frame, SPI_AT_CALL_FRAME);
AT(spi_call, vectors, SPI_AT_CALL_FRAME + 8);
AT(spi_call, stride, SPI_AT_CALL_FRAME + 16);
AT(spi_call, slot, SPI_AT_CALL_SLOT);
AT(spi_call, trees, SPI_AT_CALL_TREES);
AT(spi_call, ending, SPI_AT_CALL_TREES + 4);
AT(spi_guard, kind, SPI_AT_GUARD_KIND);
AT(spi_guard, client, SPI_AT_GUARD_CLIENT);
#undef AT
_Static_assert(sizeof(struct spi_call) == SPI_CALL_SIZE && SPI_CLIENT_ON == 0 && SPI_CALL_RETURNED == 0 &&
	SPI_PAYLOAD_GENERAL_REGISTERS == SPI_CLIENT_GENERAL, "payload/offsets.h");

/* ---- errno, where the program has it ---- */

uint64_t spi_errno_distance;

void spi_errno_find(void)
{
	spi_errno_distance = (uint64_t) __errno_location() - spi_thread_pointer();
}

/* ---- may the thread run a payload now? ---- */

#define SMALL_STACK	2048u		/* with the agent's own frames */

static __attribute__((noinline)) int may_slow(struct spi_thread *t)
{
	if (spi_thread_is_foreign(t) || spi_is_lent() > 0 || !spi_may(SPI_MAY_ACT))
		return 0;
	return t->own || spi_thread_has_own(t);
}

SPI_INLINE int may_begin(struct spi_thread *t, uint64_t p)
{
	const uint32_t usual = SPI_THREAD_OWES | SPI_THREAD_NEW;	/* whether it has recorded anything is all the same */

	if ((spi_unlikely((t->owed & ~usual) != SPI_THREAD_MARK) || spi_unlikely(!t->own) || spi_unlikely(spi_mode)) && !may_slow(t))
		return 0;
	return spi_likely(!t->busy) || spi_thread_nested(p);
}

/*
 * Where the client records: has the thread what lttng-ust needs for it, and has its process, a forked child, begun? Both
 * are made here, before the thread is busy; what cannot be recorded counts as lost. What lttng-ust itself calls at a
 * thread's end it calls under the lock that this needs: such a call is not the program's.
 */
static int may_record(struct spi_thread *t, uint64_t p)
{
	return spi_likely(!(t->owed & SPI_THREAD_NEW)) || t->busy || (!spi_within_lttng(p) && spi_thread_may(p));
}

/*
 * May the thread be within malloc(), stdio, the dynamic linker or the unwinder? Then a payload that uses these would
 * wait for its own thread, or find their data half changed. The thread is there where code of their objects calls,
 * which is looked at; or where a signal handler has interrupted them: the handler's entry says so
 * (spi_clients_handler()), until the stack is above that again.
 */
static int is_critical(struct spi_thread *t, struct spi_point *point, uint64_t p)
{
	struct spi_thread_own *own = t->own;

	if (spi_unlikely(own && own->critical_below)) {
		if (p < own->critical_below && spi_on_own_stack(t, p) == spi_on_own_stack(t, own->critical_below))
			return 1;
		own->critical_below = 0;
	}
	return spi_unlikely(point->clients->may_be_critical) && spi_client_caller_is_critical(point, p);
}

/* A caller that was outside is so still, until critical code is found elsewhere, too. */
int spi_client_caller_is_critical(struct spi_point *point, uint64_t p)
{
	const uint64_t mark = __atomic_load_n(&spi_critical_mark, __ATOMIC_ACQUIRE), from = *(const uint64_t *) p;

	if (spi_caller_is_critical(spi_behind_slots(from)))
		return spi_call_is_critical(p);
	if (!spi_slot_of_word(from))
		__atomic_store_n(&point->clients->outside, from ^ mark, __ATOMIC_RELAXED);
	return 0;
}

void spi_clients_handler(uint64_t p)
{
	struct spi_thread *t = &spi_thread;

	if (t->own && spi_restorer_of(*(const uint64_t *) p) && spi_call_is_critical(p))
		t->own->critical_below = p + 1;		/* the handler's own call is one of these */
}

/* ---- entries ---- */

/*
 * Calls that longjmp() has left end here, before the next call begins. Within that call's entry the thread is busy, and
 * their exits would come only to payloads that are safe in a signal handler.
 */
void spi_clients_end_left(struct spi_point *point, uint64_t p)
{
	struct spi_thread *t = &spi_thread;

	if (!t->busy && point->clients && may_begin(t, p) && p - t->stack_end >= SPI_PAYLOAD_STACK &&
			!is_critical(t, point, p))
		spi_thread_slow(p);
}

/* The call's exit is to come to the client. Returns the slot's code; 0: there is no slot. */
uint64_t spi_client_slot_take(struct spi_point *point, struct spi_frame *frame, struct spi_client *client, void *user)
{
	struct spi_thread *t = &spi_thread;
	struct spi_slot *slot = spi_slot_ready(t, (uint64_t) &frame->ra);
	struct spi_point *own = &point->clients->point;
	uint64_t code;

	if (spi_unlikely(own->body != point->body || own->address != point->address)) {
		own->body = point->body;
		own->address = point->address;
		own->call_site = point->call_site;
	}
	if (spi_unlikely(!slot)) {
		if (t->record)
			t->record->count.slots_exhausted++;
		return 0;
	}
	code = spi_slot_push(t, &slot, own, frame);
	if (spi_unlikely(!code))
		return 0;
	if (!(client->flags & SPI_PAYLOAD_GENERAL_REGISTERS))
		slot->exit = own->full_exit_thunk;
	slot->cookie = user;
	slot->start = (uint64_t) client;
	slot->aux = SPI_SLOT_APART;
	return code;
}

uint64_t spi_client_call(struct spi_point *point, struct spi_frame *frame, const uint8_t *vectors, uint64_t stride,
	struct spi_client *client, uint32_t trees)
{
	struct spi_thread *t = &spi_thread;
	uint64_t p = (uint64_t) &frame->ra, code = 0;
	void *user = NULL;
	int *error, was;

	spi_clients_before(point, p);
	if (spi_unlikely(client->flags & SPI_CLIENT_RECORDS) && !may_record(t, p))
		return 0;
	if (spi_unlikely(client->state != SPI_CLIENT_ON) || !may_begin(t, p))
		return 0;
	if ((spi_unlikely(p - t->stack_end < SPI_PAYLOAD_STACK) && (!(client->flags & SPI_PAYLOAD_SMALL_STACK) ||
				p - t->stack_end < (client->flags & SPI_CLIENT_RECORDS ? SPI_STACK_LEAST : SMALL_STACK))) ||
			(!(client->flags & SPI_PAYLOAD_SIGNAL_SAFE) && (spi_unlikely(t->busy) || is_critical(t, point, p)))) {
		__atomic_fetch_add(&client->unsafe, 1, __ATOMIC_RELAXED);
		return 0;
	}
	spi_busy_begin(t, p);
	error = spi_errno_place();
	was = *error;
	if (spi_unlikely(client->limit_us) && !(client->flags & SPI_PAYLOAD_SIGNAL_SAFE))
		spi_limit_here();	/* the thread is outside of malloc(), which it takes to make a thread */
	if (client->entry) {
		struct spi_call call = {
			.client = client, .point = point, .frame = frame, .vectors = vectors, .stride = stride,
			.trees = trees,
		};

		user = (void *) spi_guard_call(t, client, client->entry, &call, client->entry_data);
	}
	/* in a tree its slot says at the callee's entry that the client has the call */
	if ((client->exit || trees || spi_unlikely(point->flags & SPI_POINT_LOOPS)) && !(point->flags & SPI_POINT_NO_EXIT))
		code = spi_client_slot_take(point, frame, client, user);
	*error = was;
	spi_call_end(t);
	return code;
}

uint64_t spi_clients_call(struct spi_point *point, uint32_t which, uint32_t trees, uint64_t code, struct spi_frame *frame,
	const uint8_t *vectors, uint64_t stride)
{
	for (; which; which &= which - 1) {
		const unsigned int number = (unsigned int) __builtin_ctz(which);
		struct spi_client *client = spi_clients[number];
		uint64_t second;

		spi_slot_chain_begin(frame, code);
		second = (client->flags & SPI_CLIENT_RECORDS ? spi_client_call : spi_client_call_fast)(point, frame, vectors,
			stride, client, trees & client->trees);
		code = spi_slot_chain_end(frame, code, second);
	}
	return code;
}

int spi_client_ask(struct spi_client *client, uint64_t p, void *function, void *data)
{
	struct spi_thread *t = &spi_thread;
	int *error, was;

	if (client->state != SPI_CLIENT_ON)
		return -ENOENT;
	if (!may_begin(t, p))
		return -EAGAIN;
	if (p - t->stack_end < SPI_PAYLOAD_STACK || (!(client->flags & SPI_PAYLOAD_SIGNAL_SAFE) && (t->busy ||
			(t->own && t->own->critical_below) || spi_call_is_critical(p)))) {
		__atomic_fetch_add(&client->unsafe, 1, __ATOMIC_RELAXED);
		return -EAGAIN;
	}
	spi_busy_begin(t, p);
	error = spi_errno_place();
	was = *error;
	spi_guard_call(t, client, function, data, NULL);
	*error = was;
	spi_call_end(t);
	return client->state == SPI_CLIENT_ON ? 0 : -ENOENT;
}

int spi_clients_are_general(uint32_t which)
{
	for (; which; which &= which - 1)
		if (!(spi_clients[__builtin_ctz(which)]->flags & SPI_PAYLOAD_GENERAL_REGISTERS))
			return 0;
	return 1;
}

/* ---- exits ---- */

SPI_INLINE void client_exit(struct spi_thread *t, struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vectors,
	uint64_t stride, enum spi_call_ending ending)
{
	struct spi_client *client = spi_slot_is_clients(slot) ? (struct spi_client *) slot->start : NULL;
	struct spi_call call = {
		.client = client, .point = ((struct spi_clients *) slot->point)->of, .frame = frame, .vectors = vectors,
		.stride = stride, .slot = slot, .ending = ending,
	};
	int *error = spi_errno_place(), was = *error;

	if (spi_likely(client && client->state == SPI_CLIENT_ON && client->exit)) {
		if (spi_unlikely(t->busy > 1) && !(client->flags & SPI_PAYLOAD_SIGNAL_SAFE))
			__atomic_fetch_add(&client->unsafe, 1, __ATOMIC_RELAXED);
		else
			spi_guard_call(t, client, client->exit, &call, client->exit_data);
	}
	slot->aux = 0;
	*error = was;
}

uint64_t spi_client_returns(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vectors, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;

	if (spi_unlikely(slot + 1 != t->cur))
		spi_slot_leave_above(slot);
	spi_busy_begin(t, slot->p);
	client_exit(t, slot, frame, vectors, stride, SPI_CALL_RETURNED);
	spi_slot_pop(t, slot);
	spi_call_end(t);
	return 0;
}

/*
 * The thread is marked busy, and the slot popped, by the caller, which may have blocked all signals. The guard takes a
 * fault, and the time limit ends a payload, only where their signals are not blocked.
 */
static void exit_left(struct spi_slot *slot, enum spi_left how)
{
	static const uint8_t endings[] = {
		[SPI_LEFT_RETURN] = SPI_CALL_RETURNED, [SPI_LEFT_UNWOUND] = SPI_CALL_UNWOUND, [SPI_LEFT_JUMPED] = SPI_CALL_JUMPED,
		[SPI_LEFT_THREAD_END] = SPI_CALL_THREAD_ENDED, [SPI_LEFT_PROCESS_END] = SPI_CALL_PROCESS_ENDED,
		[SPI_LEFT_TAIL] = SPI_CALL_FOLDED, [SPI_LEFT_DETACHED] = SPI_CALL_DETACHED,
	};
	const uint64_t faults = SPI_SIGNAL_FAULTS;
	uint64_t before;

	spi_raw4(SYS_rt_sigprocmask, SIG_UNBLOCK, (uint64_t) &faults, (uint64_t) &before, 8);
	client_exit(&spi_thread, slot, NULL, NULL, 0, endings[how]);
	spi_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t) &before, 0, 8);
}

/* ---- what a point has for them ---- */

int spi_clients_have(struct spi_point *point)
{
	const struct spi_map_header *head = point->map ? point->map->head : NULL;
	struct spi_clients *clients = point->clients;

	if (clients)
		return 0;
	clients = spi_alloc(sizeof(*clients) + 48);
	if (!clients)
		return -ENOMEM;
	clients = (struct spi_clients *) (((uint64_t) clients + 63) & ~UINT64_C(63));
	spi_thread_thunks(&clients->point, head && (head->flags & SPI_MAP_USES_YMM), head && (head->flags & SPI_MAP_USES_ZMM));
	spi_thread_thunks_words(&clients->point, SPI_WORDS_NO);
	clients->point.exit_thunk = (uint64_t) spi_thunk_exit_general;
	clients->point.flags = SPI_POINT_APART | SPI_POINT_CLIENTS | (point->flags & SPI_POINT_TREE);
	clients->point.exit = (spi_exit_fn) (void *) spi_client_returns_fast;
	clients->point.left = exit_left;
	clients->point.object = point->object;
	clients->point.map = point->map;
	clients->point.func = point->func;
	/* who calls a function by name is not known */
	clients->may_be_critical = !(point->flags & SPI_POINT_TREE) || (point->object && spi_object_is_critical(point->object));
	clients->are_general = 1;
	clients->of = point;
	__atomic_store_n(&point->clients, clients, __ATOMIC_RELEASE);
	__atomic_fetch_or(&point->flags, SPI_POINT_CLIENTS, __ATOMIC_RELEASE);
	return 0;
}
