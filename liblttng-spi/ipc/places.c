/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Where channels are counted: in memory that all traced processes of a user have (module/floor.c). Where there is no
 * controller, who gives it, a process has its own, which forked children share and executed programs do not. A
 * neighbourhood that is full loses the channel that was looked for least lately: both its ends begin anew.
 */
#include <sys/mman.h>
#include "liblttng-spi/module/module.h"
#include "liblttng-spi/ipc/internal.h"

#define PROBES		16u

static struct spi_ipc_place *places(void)
{
	static struct spi_ipc_place
		*own; /* where there is no controller: forked children have it, executed programs not */
	struct spi_ipc_place *shared = spi_floor_places(), *none = NULL;
	uint64_t made;

	if (spi_likely(shared != NULL))
		return shared;
	shared = __atomic_load_n(&own, __ATOMIC_ACQUIRE);
	if (shared)
		return shared;
	made = spi_mmap(0, SPI_PLACES * sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	if (!made)
		return NULL;
	if (__atomic_compare_exchange_n(
		    &own, &none, (struct spi_ipc_place *) made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return (struct spi_ipc_place *) made;
	spi_munmap(made, SPI_PLACES * sizeof(*shared));
	return none;
}

int spi_ipc_place_is_idle(const struct spi_ipc_place *place)
{
	return !((__atomic_load_n(&place->end[0].word, __ATOMIC_SEQ_CST) |
			 __atomic_load_n(&place->end[1].word, __ATOMIC_SEQ_CST)) &
		 SPI_IPC_UNDER_WAY);
}

struct spi_ipc_place *spi_ipc_place_find(uint64_t id, int *is_new)
{
	struct spi_ipc_place *all = places(), *oldest = NULL;
	const uint32_t now = (uint32_t) (spi_now_ns() / 1000000000u) + 1;
	uint64_t old;

	*is_new = 0;
	for (uint32_t i = 0; all && i < PROBES; i++) {
		struct spi_ipc_place *place = &all[(id + i) % SPI_PLACES];

		old = __atomic_load_n(&place->id, __ATOMIC_ACQUIRE);
		if (!old) {
			*is_new = __atomic_compare_exchange_n(
				&place->id, &old, id, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
			old = *is_new ? id : old;
		}
		if (old == id) {
			__atomic_store_n(&place->used, now, __ATOMIC_RELAXED);
			return place;
		}
		if (spi_ipc_place_is_idle(place) && (!oldest || place->used < oldest->used))
			oldest = place;
	}
	if (!oldest)
		return NULL;
	old = __atomic_load_n(&oldest->id, __ATOMIC_ACQUIRE);
	if (!__atomic_compare_exchange_n(&oldest->id, &old, id, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return NULL;
	oldest->used = now;
	oldest->state = 0;
	oldest->joined = 0;
	oldest->end[0].position = oldest->end[1].position = 0;
	*is_new = 1;
	return oldest;
}
