/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Events: when and where instrumentation begins. rules.c makes rules of an event. */
#include "liblttng-spi/api/internal.h"

static struct spi_event *event_new(enum spi_event_kind kind)
{
	struct spi_event *event = spi_alloc(sizeof(*event));

	if (event)
		event->kind = kind;
	return event;
}

static struct spi_event *event_of_names(enum spi_event_kind kind, const char *const *names, size_t count)
{
	struct spi_event *event = names && count && count <= SPI_EVENT_LIST_MAX ? event_new(kind) : NULL;

	for (size_t i = 0; event && i < count; i++) {
		event->name[i] = spi_text_keep(names[i], SPI_RULE_FUNCTION_MAX);
		if (!event->name[i])
			return NULL;
		event->count++;
	}
	return event;
}

SPI_API struct spi_event *spi_event_none(void)
{
	return event_new(SPI_EVENT_NONE);
}

SPI_API struct spi_event *spi_event_sync(void)
{
	return event_new(SPI_EVENT_SYNC);
}

SPI_API struct spi_event *spi_event_async(int signal, uint32_t milliseconds)
{
	struct spi_event *event = event_new(SPI_EVENT_ASYNC);

	if (event) {
		event->signal = signal;
		event->milliseconds = milliseconds;
	}
	return event;
}

SPI_API struct spi_event *spi_event_functions(const char *const *names, size_t count)
{
	return event_of_names(SPI_EVENT_FUNCTIONS, names, count);
}

SPI_API struct spi_event *spi_event_calls(const char *const *names, size_t count)
{
	return event_of_names(SPI_EVENT_CALLS, names, count);
}

SPI_API struct spi_event *spi_event_combined(struct spi_event *const *events, size_t count)
{
	struct spi_event *event = events && count && count <= SPI_EVENT_LIST_MAX ? event_new(SPI_EVENT_COMBINED) : NULL;

	for (size_t i = 0; event && i < count; i++)
		event->event[event->count++] = events[i];
	return event;
}

SPI_API struct spi_event *spi_event_custom(int (*begin)(struct spi_agent *agent, void *data), void *data)
{
	struct spi_event *event = begin ? event_new(SPI_EVENT_CUSTOM) : NULL;

	if (event) {
		event->begin = begin;
		event->data = data;
	}
	return event;
}
