#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What was asked for is in the trace of the session that asked, and `lttng list` shows no rule that nobody made.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
spi_sessiond
spi_app
spi=$SPI_TOP_BUILDDIR/reader/lttng-spi

# session NAME RULE... - with stock event rules; not started
session() {
	quiet lttng create "$1" -o "$PWD/$1"
	quiet lttng enable-channel -u -s "$1" ch
	quiet lttng add-context -u -s "$1" -c ch -t vpid -t vtid
	for rule in "${@:2}"; do quiet lttng enable-event -u -s "$1" -c ch "$rule"; done
}
# rules DIR - what lttng-spi info says of them, without the process
rules() {
	"$spi" info --format json "$1" 2>/dev/null | python3 -c '
import json, sys
for r in sorted({(r["rule"], r["kind"], r["instrumented"], r["declined"]) for r in json.load(sys.stdin)["rules"]}): print(*r)'
}

session plain 'spi:app_w*' spi:app_other_entry
session form
check "rules of the front end's" quiet "$SPI_LTTNG" enable-event --spi -s form -c ch -f 'app:app_*' --filter 'value == 42'
check "and a tree" quiet "$SPI_LTTNG" enable-event --spi -s form -c ch --tree=app_first --depth 2 --exec app
session late 'spi:app_f*'
quiet lttng start plain
quiet lttng start form
rm -f go
LTTNG_UST_REGISTER_TIMEOUT=-1 ./app busy go >app.out & app=$!
spi_wait 20 spi_status_has "\t$app\t" || diag "$(spi_status)"
spi_wait 20 grep -q begun app.out
quiet lttng start late
session second 'spi:app_w*'
quiet lttng start second
touch go
wait "$app"
ok $? "the program runs as without rules"
unlike "$(lttng list plain)" spi_rule "the session has the rules that its user made"
quiet lttng destroy --all
is "$(rules plain)" "$(printf '%s\n' 'app_other functions 1 0' 'app_w* functions 1 0')" \
	"a session with stock commands: its rules, by pattern and by name"
is "$(rules form)" "$(printf '%s\n' 'app:app_* functions 3 0' 'tree(app_first;depth=2) tree 1 0')" \
	"a session of the front end's: with a filter, and a tree; no other session's"
is "$(rules late)" 'app_f* functions 1 0' "a session that starts when the program runs"
is "$(rules second)" 'app_w* functions 1 0' "and one whose rule was there before"
is "$("$spi" info --format json plain | python3 -c 'import json, sys; print({r["pid"] for r in json.load(sys.stdin)["rules"]})')" \
	"{$app}" "with the process"
tap_done
