/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Events of a payload's own. What is added here is registered with the event module when the first rule for the agent
 * comes into force (payload/records.c).
 */
#include <errno.h>
#include <string.h>
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/module/module.h"
#include "liblttng-spi/api/internal.h"

#define WAITED_NS	UINT64_C(100000000)	/* so long no thread is that has only found no room */
#define PAUSE_NS	UINT64_C(5000000000)
#define NAME_MOST	100u	/* bytes of a provider's, an event's or a field's name, NUL included */

/* One bad name would make the trace of all processes unreadable: so they are C identifiers. */
static const char *name_keep(const char *name)
{
	static const char letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	if (!name || !*name || (*name >= '0' && *name <= '9') || name[strspn(name, letters)])
		return NULL;
	return spi_text_keep(name, NAME_MOST);
}

static struct spi_record *refuse(struct spi_agent *agent, const char *name, const char *why)
{
	spi_format(agent->error, sizeof(agent->error), "the event %s: %s", name ? name : "NULL", why);
	return NULL;
}

static const char *fields_take(struct spi_record *r, const struct spi_record_field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fields[i].kind < SPI_RECORD_UNSIGNED || fields[i].kind > SPI_RECORD_ADDRESSES ||
				(fields[i].kind == SPI_RECORD_ADDRESSES && i != count - 1))
			return "a field of no known kind, or a sequence that is not its last field";
		r->kind[i] = (uint8_t) fields[i].kind;
		r->field[i] = name_keep(fields[i].name);
		if (!r->field[i])
			return "a field's name is no identifier, or too long";
		for (size_t k = 0; k < i; k++)
			if (!strcmp(r->field[k], r->field[i]))
				return "two fields of one name";
	}
	r->count = (uint32_t) count;
	return NULL;
}

SPI_API struct spi_record *spi_agent_add_record(struct spi_agent *agent, const char *provider, const char *name,
	const struct spi_record_field *fields, size_t count)
{
	struct spi_record *r;
	const char *why;

	if (spi_agent_configurable(agent) < 0)
		return NULL;
	if (!count || count > SPI_RECORD_FIELDS)
		return refuse(agent, name, "it has no field, or more than 8");
	r = spi_alloc(sizeof(*r));
	if (!r)
		return refuse(agent, name, "no memory");
	r->provider = name_keep(provider);
	r->name = name_keep(name);
	if (!r->provider || !r->name || !strcmp(r->provider, "spi"))
		return refuse(agent, name, "its name or its provider's is no identifier, too long, or spi");
	why = fields_take(r, fields, count);
	if (why)
		return refuse(agent, name, why);
	r->next = agent->client->records;
	agent->client->records = r;
	agent->client->flags |= SPI_CLIENT_RECORDS;
	agent->client->flags &= ~(uint32_t) SPI_PAYLOAD_GENERAL_REGISTERS;	/* lttng-ust uses others */
	if (agent->client->flags & SPI_AGENT_RECORDS_WAIT)
		spi_module_records_wait = 1;
	return r;
}

SPI_API int spi_record_is_on(const struct spi_record *record)
{
	const volatile int *gate = record ? __atomic_load_n(&record->gate, __ATOMIC_ACQUIRE) : NULL;

	return gate && *gate;
}

/*
 * Where records wait for room and a thread has waited in vain, nobody may read the buffers any more. Then nothing is
 * recorded for a while, so that the program does not wait for each record anew.
 */
static uint64_t again_at;	/* ns; 0: now */

static int is_paused(void)
{
	const uint64_t at = __atomic_load_n(&again_at, __ATOMIC_RELAXED);

	if (spi_likely(!at))
		return 0;
	if (spi_clock_ns() < at)
		return 1;
	__atomic_store_n(&again_at, 0, __ATOMIC_RELAXED);
	return 0;
}

static int write_waiting(const struct spi_record *record, uint64_t ip, const uint64_t *values,
	const uint64_t *addresses,
	uint32_t count)
{
	const uint64_t begin = spi_clock_ns();
	int r;

	if (is_paused()) {
		if (spi_thread.record)
			spi_thread.record->count.lost_entries++;
		return -ENOBUFS;
	}
	r = spi_payload->record_write(record, ip, values, addresses, count);
	if (r == -ENOBUFS && spi_clock_ns() - begin > WAITED_NS)
		__atomic_store_n(&again_at, spi_clock_ns() + PAUSE_NS, __ATOMIC_RELAXED);
	return r;
}

SPI_API int spi_record_write(struct spi_record *record, uint64_t ip, const uint64_t *values, const uint64_t *addresses,
	size_t count)
{
	int r;

	if (!spi_record_is_on(record))
		return 0;
	if (spi_thread.owed & SPI_THREAD_NEW) {
		/* a handler's call, before the thread could get what it needs; not an observer */
		if (!(spi_thread.busy & SPI_BUSY_ALWAYS))
			spi_call_missed(SPI_LOST_THREAD);
		return -EAGAIN;
	}
	count = count < SPI_BACKTRACE_MOST ? count : SPI_BACKTRACE_MOST;
	r = (spi_module_records_wait ? write_waiting : spi_payload->record_write)(record, ip, values, addresses,
		(uint32_t) count);
	if (r == 0 && spi_unlikely(!spi_thread.record))	/* a thread of the tracer's, which an observer runs in */
		__atomic_fetch_add(&spi_status->entries, 1, __ATOMIC_RELAXED);
	return r;
}
