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

/* The channels that are owed the exit, NULL among them where one has it by now. Returns how many. */
static uint32_t due_list(const struct spi_slot *slot, const void ***list)
{
	const int is_set = slot->aux == (tp_epoch | TP_SLOT_SET);
	struct tp_due_set *set = is_set ? (struct tp_due_set *) tp_area_make(slot, TP_AREA_SMALL) : NULL;

	*list = set ? set->channel : (const void **) (uint64_t) &slot->cookie;
	return set ? set->n : slot->aux == tp_epoch;
}

uint32_t tp_due_removed(const struct spi_slot *slot, struct tp_point *tp)
{
	const void **channel;
	uint32_t most = due_list(slot, &channel), n = 0;

	for (uint32_t i = 0; i < most; i++)
		n += channel[i] && !tp_probe_in(&tp->exit, channel[i]) &&
			(!tp_probe_in(&tp->entry, channel[i]) || tp_exit_ended_lately(tp, channel[i]));
	return n;
}

int tp_due_has(const struct spi_slot *slot, const void *channel)
{
	const void **list;
	uint32_t n = due_list(slot, &list), i = 0;

	while (i < n && list[i] != channel)
		i++;
	return i < n;
}

void tp_due_forget(struct spi_slot *slot, const void *channel)
{
	const void **list;
	uint32_t n = due_list(slot, &list);

	for (uint32_t i = 0; i < n; i++)
		if (list[i] == channel)
			list[i] = NULL;
	if (slot->aux == tp_epoch && !slot->cookie)
		tp_due_over(slot);
}
