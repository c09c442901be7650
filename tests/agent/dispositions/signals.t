#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program that handles, blocks, queries, raises and runs into the signals that
# the agent takes: output and status as without the agent, with rules from the
# environment and recorded by a session.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
ulimit -c 0
signals=$SPI_TOP_SRCDIR/tests/programs/signals
spi_cc signals "$signals.c" "$signals-masks.c" "$signals-taken.c" "$signals-ends.c" -no-pie -Wno-deprecated-declarations

alone=("${SPI_ALONE[@]}" LTTNG_UST_REGISTER_TIMEOUT=0 LTTNG_SPI_RULES='t_tiny;t_tiny2;t_text')
is "$("${alone[@]}" ./signals look)" "cc cc" "there is int3 in the program"
for name in $(./signals | grep -v look); do
	may_die timeout 20 ./signals "$name" >plain 2>plain.err
	status=$?
	may_die timeout 20 "${alone[@]}" ./signals "$name" >alone 2>alone.err
	is $? "$status" "$name: status, with rules from the environment"
	same_file alone plain "$name: output"
	spi_trace -f t_tiny -f t_tiny2 -f t_text -o "trace-$name" ./signals "$name" >traced
	is $? "$status" "$name: status, recorded"
	same_file traced plain "$name: output"
	case $name in block|raise|fault|wait)
		is "$(spi_count "trace-$name" t_tiny_entry)" "$((100 * $(grep -c ^calls plain)))" "$name: all calls recorded" ;;
	esac
done

# started with signals blocked or ignored
for option in --block-signal --ignore-signal=TRAP,SEGV,BUS; do
	for name in block actions pending children; do
		# unblocks one after the other, and sees that two of them are unblocked together
		[ "$option $name" != '--block-signal actions' ] || continue
		may_die env "$option" ./signals "$name" >plain
		status=$?
		may_die env "$option" "${alone[@]}" ./signals "$name" >alone
		is $? "$status" "$option $name: status"
		same_file alone plain "$option $name: output"
	done
done
tap_done
