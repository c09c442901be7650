/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Which channels are owed a call's exit: the record that ledger.h describes. */
#include "liblttng-spi/base/base.h"
#include "tp/ledger/ledger.h"

SPI_FORK_DATA uint32_t tp_epoch = TP_EPOCH_STEP;

void tp_due_forget_all(void)
{
	tp_epoch += TP_EPOCH_STEP;
}

void tp_due_many(struct spi_thread *t, struct spi_slot *slot, const struct tp_due_set *set)
{
	struct tp_due_set *kept = (struct tp_due_set *) tp_area_make(slot, TP_AREA_SMALL);
	uint32_t n = !kept ? 1 : set->n < TP_DUE_MAX ? set->n : TP_DUE_MAX;

	tp_count(t)->lost_exits += set->n - n;
	if (!kept) {				/* no memory: the first channel's exit only */
		tp_due_one(slot, set->channel[0]);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		kept->channel[i] = set->channel[i];
	kept->n = n;
	slot->cookie = NULL;
	slot->aux = tp_epoch | TP_SLOT_SET;
}

static struct tp_due_set *due_set(const struct spi_slot *slot)
{
	return (struct tp_due_set *) tp_area_make(slot, TP_AREA_SMALL);
}

/* Where the channel stands in the set; NULL: it is not there. */
static const void **set_place(const struct spi_slot *slot, const void *channel)
{
	struct tp_due_set *set = due_set(slot);

	for (uint32_t i = 0; set && i < set->n; i++)
		if (set->channel[i] == channel)
			return &set->channel[i];
	return NULL;
}

static int is_recorded_in(const struct tp_event *event, const void *channel)
{
	struct lttng_ust_tracepoint_probe *probe = tp_probes(event);

	while (probe && probe->func && tp_channel_of(probe) != channel)
		probe++;
	return probe && probe->func;
}

uint32_t tp_due_removed(const struct spi_slot *slot, struct tp_point *tp)
{
	const struct tp_due_set *set = slot->aux == (tp_epoch | TP_SLOT_SET) ? due_set(slot) : NULL;
	const void *const *channel = set ? set->channel : &slot->cookie;
	const uint32_t most = set ? set->n : slot->aux == tp_epoch;
	uint32_t n = 0;

	for (uint32_t i = 0; i < most; i++)
		n += channel[i] && !is_recorded_in(&tp->exit, channel[i]) &&
			(!is_recorded_in(&tp->entry, channel[i]) || tp_exit_ended_lately(tp, channel[i]));
	return n;
}

int tp_due_has(const struct spi_slot *slot, const void *channel)
{
	if (slot->aux == (tp_epoch | TP_SLOT_SET))
		return set_place(slot, channel) != NULL;
	return slot->aux == tp_epoch && slot->cookie == channel;
}

void tp_due_forget(struct spi_slot *slot, const void *channel)
{
	const void **place;

	if (slot->aux == tp_epoch && slot->cookie == channel)
		tp_due_over(slot);
	else if (slot->aux == (tp_epoch | TP_SLOT_SET) && (place = set_place(slot, channel)))
		*place = NULL;
}
