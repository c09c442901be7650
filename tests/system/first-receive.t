#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 900
# soak-timeout: 1800
#
# A server that a message brings in, while older bytes are queued before the message and others send all the time: the first receive of its record is the
# one that has the message, again and again. TRIES: how often over each kind of channel.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_daemon
spi_cc first-receive "$SPI_PROGRAMS/first-receive.c"
tries=${TRIES:-30}
for kind in ${KINDS:-tcp unix pipe udp}; do
	rm -rf t logs
	mkdir logs
	python3 "$SPI_PROGRAMS/first-receive.py" "$kind" "$tries" logs \
		"$SPI_LTTNG" trace --tree --depth 2 --ipc --ipc-wait 10 -o t ./first-receive >tries.out 2>tries.err
	is "$(tail -n 1 tries.out)" "$tries $tries 0" "$kind: the servers work as ever" || diag "$(tail -n 5 tries.err)"
	result=$(python3 "$SPI_TOP_SRCDIR/tests/lib/first-receive.py" t logs 2>&1)
	is "$result" "$tries of $tries" "$kind: each record begins with the receive that has the message"
done
tap_done
