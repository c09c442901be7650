/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the agents of one user have taken up of the controller, all together. */
#include <stdlib.h>

#include "injector/control/internal.h"

struct spi_account *spi_account_hold(struct spi_control *control, uid_t uid)
{
	struct spi_account *a = control->accounts;

	while (a && a->uid != uid)
		a = a->next;
	if (!a) {
		a = calloc(1, sizeof(*a));
		if (!a)
			return NULL;
		a->uid = uid;
		a->next = control->accounts;
		control->accounts = a;
	}
	a->holders++;
	return a;
}

void spi_account_put(struct spi_control *control, struct spi_account *account)
{
	struct spi_account **at = &control->accounts;

	if (!account || --account->holders)
		return;
	while (*at != account)
		at = &(*at)->next;
	*at = account->next;
	free(account);
}

bool spi_account_has_sessions(const struct spi_control *control, const struct spi_account *account)
{
	return !control->ops.has_sessions || control->ops.has_sessions(account->uid, control->data);
}

void spi_accounts_sum(const struct spi_control *control, struct spi_account *sum)
{
	*sum = (struct spi_account) { 0 };
	for (const struct spi_account *a = control->accounts; a; a = a->next) {
		if (spi_account_has_sessions(control, a))
			continue;
		sum->jobs += a->jobs;
		sum->running += a->running;
		sum->job_bytes += a->job_bytes;
		sum->queued_bytes += a->queued_bytes;
	}
}
