#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A payload that throws, faults or aborts is switched off and named; the program goes on as if it had never been there.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc calls payload-calls.c -O1 -fno-optimize-sibling-calls
payload_cc fails.so payload-fails.cc
./calls 5 >plain.out

spi_trace --tree --lib calls --payload ./fails.so ./calls 5 >trace.out
is $? 0 'one that throws and catches inside: status' || diag "$(cat trace.err)"
same_file trace.out plain.out 'one that throws and catches inside: output'
like "$(cat trace.err)" '13 entries, 13 exits' 'one that throws and catches inside: it goes on to the end' || diag "$(cat trace.err)"

for at in entry exit; do
	for how in throw segv abort divide; do
		spi_trace --tree --lib calls --payload ./fails.so --payload-arg how=$how --payload-arg at=$at ./calls 5 >trace.out
		is $? 0 "$how at $at: status" || diag "$(cat trace.err)"
		same_file trace.out plain.out "$how at $at: output"
		reason='it has faulted, or called abort\(\)'
		[ $how != throw ] || reason='an exception left it'
		like "$(cat trace.err)" "payload fails.so: $reason: it is switched off" "$how at $at: named" || diag "$(cat trace.err)"
	done
done

# A function by name, whose calls come to the one payload by the shortest way: the program's registers are as they were.
spi_cc kept payload-kept.c -O2
for at in entry exit; do
	for how in throw segv; do
		spi_trace -f leaf --payload ./fails.so --payload-arg how=$how --payload-arg at=$at ./kept >trace.out
		is "$?, $(cat trace.out)" '0, 0 wrong' "by name, $how at $at: status and registers" || diag "$(cat trace.err)"
		like "$(cat trace.err)" 'payload fails.so: .*: it is switched off' "by name, $how at $at: named" || diag "$(cat trace.err)"
	done
done
spi_trace -f leaf --payload ./fails.so ./kept >trace.out
is "$?, $(cat trace.out)" '0, 0 wrong' "by name, without a fault: status and registers" || diag "$(cat trace.err)"
like "$(cat trace.err)" '8 entries, 8 exits' "by name, without a fault: each call"

# One that calls cancellation points, in threads that are cancelled: these end where the program says.
spi_cc cancelled payload-cancelled.c -O1
payload_cc prints.so payload-prints.c
spi_trace --tree --lib cancelled --payload ./prints.so timeout $((20 * SPI_PATIENCE)) ./cancelled >trace.out
is $? 0 'threads that are cancelled: status' || diag "$(cat trace.out)"
is "$(cat trace.out)" '20 cancelled' 'threads that are cancelled: never in the payload'

# A second payload beside it sees all calls.
spi_trace -f leaf --payload ./fails.so --payload count --payload-arg how=segv ./calls 5 >trace.out
same_file trace.out plain.out 'beside another payload: output'
like "$(cat trace.err)" ' 9  leaf  calls' 'beside another payload: that one has all calls' || diag "$(cat trace.err)"
tap_done
