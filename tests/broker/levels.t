#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Functions' events are of LTTng-UST's default log level: a rule, or a trigger, whose level they do not reach would
# record nothing. It instruments nothing either, and says why; one that they reach works.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup
record low 'spi:work_*'
lttng_ok create high --output="$SPI_TMP/high"
lttng_ok enable-event -u -s high 'spi:add_*' --loglevel INFO
lttng_ok enable-event -u -s high 'spi:main_*' --loglevel-only DEBUG
lttng_ok enable-event -u -s high 'spi:call(app:add)' --loglevel INFO	# a form, which matches no event
lttng_ok enable-event -u -s high 'spi:wor*' --loglevel DEBUG_LINE
lttng_ok start high
lttng_ok add-trigger --name t --condition event-rule-matches --type=user --name='spi:add*' --log-level=INFO.. --action notify
lttng_ok add-trigger --name d --condition event-rule-matches --type=user --name='spi:add*' --log-level=DEBUG_LINE.. --action notify
app_start a ./app 5 wait
check "a rule whose level they reach instruments" spi_wait 10 status_like "^applied.$app_pid.wor\*.active"
check "a trigger, too" spi_wait 10 status_like "^applied.$app_pid.add\*.active"
why='no event of a function passes its log level: they are at DEBUG_LINE \(13\)'
for name in 'spi:add_*' 'spi:main_*'; do
	like "$(status rule high channel0 "$name")" "enabled.0.records.$why" "$name does not, and says why"
done
like "$(status rule 'trigger t')" "records.$why" "nor does a trigger"
like "$(status rule 'trigger d')" 'instruments' "the other does"
like "$(status rule high channel0 'spi:call(app:add)')" 'instruments' "a reserved form does in any case"
is "$(status applied "$app_pid" main)" "" "no function is instrumented in vain"
recorded high
is "$(spi_count "$SPI_TMP/high" work_entry)/$(spi_count "$SPI_TMP/high" add_entry)" 5/0 "what they reach is recorded"
like "$("$SPI_LTTNG" list --spi)" "Trigger t:.*spi:add\* \[enabled\] of uid 0, records: $why" "lttng list --spi says it"
tap_done
