/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the trace is told of a rule when the rule takes force. Where nothing is instrumented there is no event module to tell it. */
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/rules/internal.h"

void spi_rule_tell(struct rule *rule, int is_on)
{
	static char text[SPI_RULE_TEXT_MAX];	/* under the control lock */
	struct spi_rule said = rule->text;
	struct spi_rule_told told = { .sum = rule->sum, .text = text, .is_tree = spi_rule_is_tree(&rule->text),
		.is_on = (uint32_t) is_on, .instrumented = rule->instrumented, .declined = rule->declined };

	if (!spi_payload || !spi_payload->rule_tell || said.payloads.count)
		return;
	said.tag[0] = 0;
	if (spi_rule_write(&said, SPI_FORM_AGENT, text, sizeof(text)) < 0)
		return;
	if (!told.is_tree && !strchr(text, ';')) {	/* call(TARGET) */
		told.text = text + strlen("call(");
		text[strlen(text) - 1] = 0;
	}
	spi_payload->rule_tell(&told);
	rule->is_told = 1;
}
