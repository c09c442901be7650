#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program that comes to its stack's end is ended as without a tracer, and what led
# to it is in the trace: it does not end in the middle of a record, behind which
# LTTng would get at nothing. The calls that are too near to the end count as lost.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
ulimit -c 0
ulimit -s 8192
spi_cc overflow overflow.c -fno-optimize-sibling-calls
may_die ./overflow
is $? 139 "as it is"
for thread in "" thread; do
	for options in "-f deeper" "-f deeper --backtrace=128" "-f overflow:*" "--tree"; do
		name="$options${thread:+, in a thread}"
		dir=t${name//[^a-z]/}
		# the size of the environment moves what is where on the stack
		for more in "" xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; do
			rm -rf "$dir"
			# shellcheck disable=SC2086  # several words
			MORE=$more may_die timeout $((25 * SPI_PATIENCE)) "$SPI_LTTNG" trace $options -o "$dir" ./overflow $thread 2>err
			is $? 139 "$name: status" || diag "$(tail -n 3 err)"
			told=$(sed -n 's/.*(\([0-9]*\) entries, .* lost: \([0-9]*\)$/\1 \2/p' err)
			[ "${told#* }" -gt 0 ] && [ "${told% *}" -gt $((2 * ${told#* })) ]
			ok $? "$name: most calls are recorded, the last ones are named as lost" || diag "$told"
			events=$(babeltrace2 "$dir" 2>/dev/null | grep -acE 'spi:|func_entry')
			[ "$events" -ge "${told% *}" ]
			ok $? "$name: and can be read" || diag "$events of $told"
		done
	done
done
may_die timeout $((25 * SPI_PATIENCE)) "$SPI_LTTNG" trace --tree --compact -o compact ./overflow 2>err
is $? 139 "compact: status"
[ "$(sed -n 's/.*(\([0-9]*\) entries, .*/\1/p' err)" -gt 6000 ]
ok $? "compact: all but what the thread had kept back is recorded" || diag "$(tail -n 3 err)"
tap_done
