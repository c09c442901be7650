#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The straight way of the usual call records what the general way does, whatever
# the size of the record.
. "$SPI_TOP_SRCDIR/tests/lib/tp.sh"
spi_private "$@"
tp_program usual
spi_daemon

session usual 'spi:*'
out=$(./usual) || fail "usual runs"
trace=$(events usual)
is "$out" "36 entries 36 exits" "every call is counted, and errno stays as it was"

# fields NAME - what the calls of one function recorded, a line for each
fields() { grep -aF -- "spi:$1: " <<<"$trace" | sed 's/^.*}, { //; s/ }$//'; }

for n in 1 2 3 23 24 25 63 64; do
	want=$(for ((i = 0; i < n; i++)); do printf 'f%d = %d, ' "$i" $((1000 + i)); done)
	is "$(fields "fours${n}_entry" | sort | uniq -c | sed 's/^ *//')" "3 ${want%, }" "$n integers, three times the same"
done
is "$(fields mixed_entry | sort | uniq -c | sed 's/^ *//')" \
	"3 f0 = 232, f1 = 1001, f2 = 1002, f3 = 8608480565726807019, f4 = 236, f5 = 1005, f6 = 1006" "integers of mixed sizes"
p=$(printf 'p%.0s' {1..30}) q=${p//p/q} r=${p//p/r} s=$(printf 's%.0s' {1..252})...
is "$(fields string1_entry)" "a = \"$p\"
a = \"$q\"
a = \"$r\"" "one string"
is "$(fields string2_entry)" "a = \"$p\", b = \"(null)\"
a = \"$q\", b = \"$s\"
a = \"$r\", b = \"$s\"" "two strings, NULL and over-long"
is "$(fields string3_entry)" "a = \"$p\", b = \"(null)\", c = \"$q\"
a = \"$q\", b = \"$s\", c = \"$q\"
a = \"$r\", b = \"$s\", c = \"$q\"" "three strings: more than the straight way takes"
is "$(grep -ca 'ret = 4242 }' <<<"$trace")" 36 "and their results"
tap_done
