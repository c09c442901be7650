/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The usual call of one client in one straight line: a thread that is in no payload and records nothing, a client
 * without a time limit, a caller outside of critical code, room on the stack. Nothing is changed before all of that is
 * seen. Whatever is not as usual is left to call.c, which says why each thing is done.
 */
#include "liblttng-spi/payload/internal.h"

_Static_assert(SPI_CLIENT_ON == 0 && offsetof(struct spi_client, limit_us) == offsetof(struct spi_client, state) + 4,
	"looked at together");

SPI_INLINE int client_is_plain(const struct spi_client *client)
{
	uint64_t both;

	__builtin_memcpy(&both, (const uint8_t *) client + offsetof(struct spi_client, state), 8);
	return spi_likely(!both) && spi_likely(!spi_guard_cancels);
}

/* Neither busy nor in debt; whether it has recorded anything is all the same. */
SPI_INLINE int thread_is_free(const struct spi_thread *t)
{
	const uint32_t usual = SPI_THREAD_OWES | SPI_THREAD_NEW;

	return spi_likely((t->owed & ~usual) == SPI_THREAD_MARK) && spi_likely(!t->busy) && spi_likely(t->own != NULL);
}

/* May a payload run at p of the stack, where the call's return address is? */
SPI_INLINE int place_is_safe(const struct spi_thread *t, const struct spi_point *point, uint64_t p)
{
	if (spi_unlikely(p - t->stack_end < SPI_PAYLOAD_STACK) || spi_unlikely(t->own->critical_below))
		return 0;
	return !point->clients->may_be_critical || spi_likely(!spi_caller_may_be_critical(p)) || !spi_call_is_critical(p);
}

SPI_INLINE void fast_end(struct spi_thread *t)
{
	spi_barrier();
	t->busy = 0;
}

SPI_INLINE uint64_t call_fast(struct spi_thread *t, struct spi_client *client, struct spi_point *point, uint32_t trees,
	struct spi_frame *frame, const uint8_t *vectors, uint64_t stride)
{
	const uint64_t p = (uint64_t) &frame->ra;
	uint64_t code = 0;
	void *user = NULL;
	int *error, was;

	if (!thread_is_free(t) || spi_unlikely(spi_mode) || !client_is_plain(client) || !place_is_safe(t, point, p))
		return spi_client_call(t, client, point, trees, frame, vectors, stride);
	error = spi_errno_place();
	was = *error;
	spi_busy_first(t, p);
	if (spi_likely(client->entry != NULL)) {
		struct spi_call call = {
			.client = client, .point = point, .frame = frame, .vectors = vectors, .stride = stride, .trees = trees,
		};

		user = (void *) spi_guard_call_plain(t, t->own, client, client->entry, &call, client->entry_data, 1);
	}
	if (spi_client_wants_exit(client, point, trees))
		code = spi_client_slot_take(t, client, point, frame, user);
	*error = was;
	fast_end(t);
	return code;
}

uint64_t spi_client_call_fast(struct spi_thread *t, struct spi_client *client, struct spi_point *point, uint32_t trees,
	struct spi_frame *frame, const uint8_t *vectors, uint64_t stride)
{
	return call_fast(t, client, point, trees, frame, vectors, stride);
}

uint64_t spi_clients_entry_fast(struct spi_point *point, struct spi_frame *frame, const uint8_t *vectors, uint64_t stride)
{
	struct spi_client *one = __atomic_load_n(&point->clients->one, __ATOMIC_ACQUIRE);

	if (spi_unlikely(!one) || (!vectors && spi_unlikely(!(one->flags & SPI_PAYLOAD_GENERAL_REGISTERS))))
		return spi_clients_entry(point, frame, vectors, stride);
	return call_fast(&spi_thread, one, point, 0, frame, vectors, stride);
}

uint64_t spi_client_returns_fast(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vectors, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;
	struct spi_client *client = (struct spi_client *) slot->start;
	int *error, was;

	if (spi_unlikely(slot + 1 != t->cur) || spi_unlikely(t->busy) || spi_unlikely(!t->own) ||
			spi_unlikely(!spi_slot_is_clients(slot)) || !client_is_plain(client) || spi_unlikely(!client->exit))
		return spi_client_returns(slot, frame, vectors, stride);
	error = spi_errno_place();
	was = *error;
	spi_busy_first(t, slot->p);
	{
		struct spi_call call = {
			.client = client, .point = ((struct spi_clients *) slot->point)->of, .frame = frame, .vectors = vectors,
			.stride = stride, .slot = slot, .ending = SPI_CALL_RETURNED,
		};

		spi_guard_call_plain(t, t->own, client, (void *) client->exit, &call, client->exit_data, 1);
	}
	slot->aux = 0;
	spi_slot_pop(t, slot);
	*error = was;
	fast_end(t);
	return 0;
}
