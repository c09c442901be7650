/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The component class filter.lttng-spi.expand, for the plugin and for `lttng-spi export`. Parameter: hold-ms. */
#include <stdlib.h>
#include "bt2/expand.h"

bt_component_class_initialize_method_status expand_init(bt_self_component_filter *self,
	bt_self_component_filter_configuration *configuration, const bt_value *params, void *data)
{
	bt_self_component *component = bt_self_component_filter_as_self_component(self);
	const bt_value *value = bt_value_map_borrow_entry_value_const(params, "hold-ms");
	int64_t *hold = malloc(sizeof(*hold));

	if (!hold)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	*hold = (int64_t) MERGE_HOLD_MS * 1000000;
	if (value && bt_value_is_signed_integer(value))
		*hold = bt_value_integer_signed_get(value) * 1000000;
	else if (value && bt_value_is_unsigned_integer(value))
		*hold = (int64_t) bt_value_integer_unsigned_get(value) * 1000000;
	else if (value) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component, "hold-ms is a number of milliseconds");
		free(hold);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_component_set_data(component, hold);
	if (bt_self_component_filter_add_input_port(self, "in", NULL, NULL) != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK ||
			bt_self_component_filter_add_output_port(self, "out", NULL, NULL) != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
		free(hold);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void expand_finalize(bt_self_component_filter *self)
{
	free(bt_self_component_get_data(bt_self_component_filter_as_self_component(self)));
}
