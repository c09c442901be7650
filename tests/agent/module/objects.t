#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Of a program that is instrumented before main() lttng-ust describes the objects once in each session, and does not say
# that any was unloaded, whatever sessions come later.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
spi_app
spi_sessiond
# session NAME - with the functions' rule, and what lttng-ust says of objects
session() {
	quiet lttng create "$1" -o "$PWD/$1"
	quiet lttng enable-event -u -s "$1" 'lttng_ust_statedump:*,lttng_ust_lib:*'
	quiet lttng enable-event -u -s "$1" 'spi:app_*'
	quiet lttng start "$1"
}
described() { babeltrace2 "$1" 2>/dev/null | grep 'statedump:bin_info\|lttng_ust_lib:'; }
session one
./app busy stop >out & app=$!
spi_wait 10 spi_status_has "^applied\t$app\t[^\t]*\tactive"
session two
spi_wait 10 spi_status_has "^rule\ttwo\t"
dumped() { quiet lttng rotate two; described two | grep -q '/libc\.so'; }
spi_wait 10 dumped
touch stop
wait "$app"
is $? 0 "the program ends as ever"
quiet lttng destroy one
quiet lttng destroy two
for s in one two; do
	described $s >objects
	is "$(grep -c 'bin_info.*/libc\.so' objects)/$(grep -c 'lib:unload' objects)" 1/0 \
		"$s: the program's objects, and none that is gone" || diag "$(cat objects)"
	check "$s: readable with what babeltrace2 makes of them" babeltrace2 $s --component=names:filter.lttng-utils.debug-info -o dummy
done
tap_done
