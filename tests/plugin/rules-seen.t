#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Rules of provider spi that the daemon sends to an application are told to the
# broker, by name, and so is their being disabled; other rules aren't.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
plugin_daemon none
mkfifo fifo
background ./app 1 wait fifo
exec 9>fifo
record s
lttng enable-event -u -s s 'spi:parse_*' >out 2>&1 || diag "$(cat out)"
spi_wait 5 file_has broker.log "^RULE_SEEN pid=$target enabled=1 spi:parse_\*$"
ok $? "enabled"
lttng disable-event -u -s s 'spi:parse_*' >out 2>&1 || diag "$(cat out)"
spi_wait 5 file_has broker.log "^RULE_SEEN pid=$target enabled=0 spi:parse_\*$"
ok $? "disabled"
lttng add-trigger --condition event-rule-matches --type=user --name='spi:other' --action notify >out 2>&1 ||
	diag "$(cat out)"
spi_wait 5 file_has broker.log "^RULE_SEEN pid=$target enabled=1 spi:other$"
ok $? "a trigger's"
is "$(count_log 'RULE_SEEN.* plug:')" 0 "other providers' rules are nobody's business"
exec 9>&-
wait "$target"
tap_done
