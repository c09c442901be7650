/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Subscribe to all triggers and print the captures of the first N notifications.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <lttng/lttng.h>

static void print(const struct lttng_event_field_value *v)
{
	const struct lttng_event_field_value *element;
	const char *s;
	unsigned int n;
	uint64_t u;
	int64_t i;
	double d;

	switch (lttng_event_field_value_get_type(v)) {
	case LTTNG_EVENT_FIELD_VALUE_TYPE_UNSIGNED_INT:
		lttng_event_field_value_unsigned_int_get_value(v, &u);
		printf(" u:%" PRIu64, u);
		break;
	case LTTNG_EVENT_FIELD_VALUE_TYPE_SIGNED_INT:
		lttng_event_field_value_signed_int_get_value(v, &i);
		printf(" s:%" PRId64, i);
		break;
	case LTTNG_EVENT_FIELD_VALUE_TYPE_REAL:
		lttng_event_field_value_real_get_value(v, &d);
		printf(" f:%g", d);
		break;
	case LTTNG_EVENT_FIELD_VALUE_TYPE_STRING:
		lttng_event_field_value_string_get_value(v, &s);
		printf(" \"%s\"", s);
		break;
	case LTTNG_EVENT_FIELD_VALUE_TYPE_ARRAY:
		lttng_event_field_value_array_get_length(v, &n);
		printf(" [");
		for (unsigned int k = 0; k < n; k++)
			if (lttng_event_field_value_array_get_element_at_index(v, k, &element) ==
				LTTNG_EVENT_FIELD_VALUE_STATUS_OK)
				print(element);
			else
				printf(" none");
		printf(" ]");
		break;
	default:
		printf(" ?");
	}
}

/* A capture list is an array of values, printed without its brackets. */
static void print_captures(const struct lttng_event_field_value *v)
{
	const struct lttng_event_field_value *element;
	unsigned int n = 0;

	lttng_event_field_value_array_get_length(v, &n);
	for (unsigned int k = 0; k < n; k++)
		if (lttng_event_field_value_array_get_element_at_index(v, k, &element) ==
			LTTNG_EVENT_FIELD_VALUE_STATUS_OK)
			print(element);
		else
			printf(" none");
	printf("\n");
}

int main(int argc, char **argv)
{
	struct lttng_notification_channel *channel =
		lttng_notification_channel_create(lttng_session_daemon_notification_endpoint);
	struct lttng_notification *notification;
	const struct lttng_event_field_value *captured;
	struct lttng_triggers *triggers;
	unsigned int n = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!channel || lttng_list_triggers(&triggers) != LTTNG_OK)
		return 1;
	lttng_triggers_get_count(triggers, &n);
	for (unsigned int i = 0; i < n; i++)
		lttng_notification_channel_subscribe(channel,
			lttng_trigger_get_const_condition(lttng_triggers_get_at_index(triggers, i)));
	puts("listening");
	for (int left = argc > 1 ? atoi(argv[1]) : 1; left; left--) {
		const char *name;

		if (lttng_notification_channel_get_next_notification(channel, &notification) !=
				LTTNG_NOTIFICATION_CHANNEL_STATUS_OK)
			return 1;
		lttng_trigger_get_name(lttng_notification_get_trigger(notification), &name);
		printf("%s:", name);
		if (lttng_evaluation_event_rule_matches_get_captured_values(
			    lttng_notification_get_evaluation(notification), &captured) ==
			LTTNG_EVALUATION_EVENT_RULE_MATCHES_STATUS_OK)
			print_captures(captured);
		lttng_notification_destroy(notification);
	}
	return 0;
}
