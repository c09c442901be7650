#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Every kind of field, from every place, in a real trace, with the values that
# were put in; then the same as one event a call.
. "$SPI_TOP_SRCDIR/tests/lib/tp.sh"
spi_private "$@"
tp_program kinds
spi_daemon

dots=$(printf 'x%.0s' {1..252})...
integers='u8 = 250, s8 = -3, u16 = 65000, s16 = -300, u32 = 4000000000, s32 = -4, u64 = 9223372036854775808, s64 = -1,'
integers+=' hex = 0xDEADBEEF, part = -2, wide = 0x1122334455667788, upper = 0x12345678'
others='ptr = 0xABCDEF, yes = ( "true" : container = 1 ), ch = "Q", colour = ( "RUN_2" : container = 21 ),'
others+=' temperature = ( "COLD" : container = -5 ), many = 4, f = 3.25, d = 2.71828, f2 = -0.5, ld = 0.333333, bits = 21,'
others+=' sbits = -3, wbits = 0x123456789ABCDEF, seven = -7, third = 0.25, flag = ( "true" : container = 1 ), mark = "(null)",'
others+=' not_known = "none = <unknown>; gone = <optimised out>"'
texts='plain = "hello, world", null = "(null)", wild = "(unreadable)", longer = "'$dots'", edge = "ed...",'
texts+=' text = "twelve chars", '
tail='array = [ [0] = 1, [1] = -2, [2] = 3 ], mem = -77, bad = 0, memtext = "memory", memstr = "behind", end = 99, not_known = "lost = <unknown>"'
pointed='stack = -77, counted = "hello", fixed = "abc", far = "behi", nothing = "(null)", wild = "(unreadable)", empty = "",'
pointed+=' long = "'$dots'", apart = -594, behind = 0, end = 99'
odd='a_b = 1, a_b_2 = 2, arg3 = 3, _3rd = 4, operator__ = 5, event = 6'

# event TRACE NAME - the fields of the first event of that name
event() { grep -aF -- "spi:$2: " <<<"$1" | head -n 1 | sed 's/^.*}, { //; s/ }$//'; }

session two 'spi:*'
out=$(./kinds) || fail "kinds runs"
trace=$(events two)
is "$(event "$trace" integers_entry)" "$integers" "integers of all widths, from registers and stack"
is "$(event "$trace" integers_exit)" 'ret_a = 7142820568308742004, ret_b = 1936875880, ret_t = "twelve chars"' \
	"a struct returned in two registers"
is "$(event "$trace" others_entry)" "$others" "pointers, bool, char, enumerations, floating point, bit fields, constants; what is not known is named"
is "$(event "$trace" others_exit)" "ret = 2.71828" "double returned in xmm0"
got=$(event "$trace" texts_entry)
is "${got%%array*}" "$texts" "strings: plain, NULL, wild, unknown, over-long, cut off by a hole; char arrays"
is "array${got##*array}" "$tail" "arrays, and values in memory, readable and not"
is "$(event "$trace" texts_exit)" "ret = 0.333333" "long double returned in st(0)"
is "$(event "$trace" pointed_entry)" "$pointed" "values behind pointers on the stack, text of a counted length, differences"
is "$(event "$trace" 'ns::Odd<int, 3>::operator()_entry')" "$odd" "names that are no identifiers, are doubled, or missing"
is "$(event "$trace" 'ns::Odd<int, 3>::operator()_exit')" "ret_x = -77" "a returned struct in memory"
like "$trace" "operator'' _km_entry" "a name with quotes is readable, and an event without fields"
is "$out" "st0 kept: 1
unreadable: 2" "st(0) is as before; unreadable strings are counted"

session one 'spi:*'
./kinds one >/dev/null || fail "kinds runs"
trace=$(events one)
rest='duration = [0-9]+, left = \( "return" : container = 0 \)$'
like "$(event "$trace" integers)" "^${integers}, ret_a = 7142820568308742004, .*$rest" "one event: arguments, returned values, duration"
got=$(event "$trace" others)
is "${got%%, ret = *}" "$others" "one event: arguments as they were at the entry"
like "$got" ", ret = 2.71828, $rest" "one event: the returned value as it was at the exit"
like "$(event "$trace" texts)" 'plain = "hello, world", null = "\(null\)".*longer = "x+\.\.\.".*ret = 0.333333, duration' \
	"one event: strings share the room there is"
like "$(event "$trace" "operator'' _km")" "^$rest" "one event of a function without parameters"
tap_done
