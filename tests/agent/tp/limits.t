#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What does not fit is left out and said; names stay apart; any number of
# requests share the provider's name; thousands of functions are one request.
. "$SPI_TOP_SRCDIR/tests/lib/tp.sh"
spi_private "$@"
tp_program limits
spi_daemon

session limits 'spi:*'
out=$(./limits 2>&1) || fail "limits runs: $out"
trace=$(events limits)
like "$out" "^1 no memory near the object 1 1" "without near memory a function is refused, the others are not"
like "$out" "wide: 36 fields are left out" "fields beyond 64 are left out, with a note"
like "$out" "arrays: 1 fields are left out" "an array that is too long is left out, with a note"
is "$(grep -a wide_entry <<<"$trace" | grep -oa 'f[0-9]* = ' | wc -l)" 64 "64 fields are recorded"
is "$(grep -a arrays_entry <<<"$trace" | grep -oa 'f[0-9]* = ' | tr -d '\n')" "f0 = f2 = f3 = " "the other arrays are recorded"
is "$(grep -oaE 'spi:n+~[0-9a-f]{8}_entry' <<<"$trace" | sort -u | wc -l)" 2 "names of 699 characters are cut, and told apart"
for name in same same@2 same@3 taken; do
	is "$(grep -ca "spi:${name}_entry" <<<"$trace")" 1 "$name is recorded"
done
like "$trace" "same_entry: .*a = \"t{1995,2000}\\.\\.\\.\", b = \"t{1980,2000}\\.\\.\\.\"" "two strings of up to 2000 bytes"
like "$trace" "taken: .*duration_2 = 1, left_2 = 2, ret_2 = 3, ret = 5, duration = [0-9]+, left = " "parameters called like our own fields"

session thousands 'spi:*'
start=$EPOCHREALTIME
./limits 2000 || fail "limits 2000 runs"
end=$EPOCHREALTIME
trace=$(events thousands)
is "$(grep -ca 'spi:many_[0-9]*_entry' <<<"$trace")" 2000 "2000 functions in one request, entries"
is "$(grep -ca 'spi:many_[0-9]*_exit' <<<"$trace")" 2000 "and exits"
diag "2000 functions bound, called and ended in $(((${end/./} - ${start/./}) / 1000)) ms"
tap_done
