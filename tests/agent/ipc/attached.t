#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A rule comes while two processes talk: from then on the positions at both ends agree, or are told as not known. TCP's are those from the
# connection's beginning.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
spi_cc messages messages.c
broker_daemon

lines() { [ "$(wc -l <log.send)" -ge "$1" ]; }
# offsets DIR - of each end's messages that are sure, how far the event's position is from the log's; the last messages are all there
offsets() {
	babeltrace2 "$1" | python3 -c '
import re, sys
seen = {}
for line in sys.stdin:
    m = re.search(r"spi_ipc:(send|recv): .* position = (\d+), .* result = (\d+), .* flags = (\w+)", line)
    if m:
        seen.setdefault(m[1], []).append((int(m[2]), int(m[3]), int(m[4], 16)))
offsets = {}
for end, have in seen.items():
    log = [tuple(map(int, line.split())) for line in open("log." + end)][-len(have):]
    if [a[1] for a in have] != [a[1] for a in log]:
        sys.exit(end + ": other messages")
    offsets[end] = sorted({a[0] - b[0] for a, b in zip(have, log) if not a[2] & 6})
    unsure = sum(a[2] & 6 != 0 for a in have)
    if unsure > len(have) / 2:
        sys.exit("%s: %d of %d are not sure" % (end, unsure, len(have)))
print("same" if len(offsets) == 2 and offsets["send"] == offsets["recv"] and len(offsets["send"]) == 1 else offsets,
      "beginning" if offsets.get("send") == [0] else "")'
}

kind() {
	rm -f log.*
	PACE=500 ./messages "$1" 1000000 $RANDOM "$PWD/log" &
	local receiver=$! sender
	spi_wait 10 lines 100
	sender=$(cat "/proc/$receiver/task/$receiver/children")
	lttng_ok create "$1" --output="$PWD/$1"
	"$SPI_LTTNG" enable-event --spi --tree --depth 1 --ipc --exec messages >rule.log 2>&1 || diag "$(cat rule.log)"
	lttng_ok start "$1"
	spi_wait 20 status_like "^applied.$receiver.tree.*active" && spi_wait 20 status_like "^applied.${sender% }.tree.*active"
	ok $? "$1: a rule comes while they talk"
	spi_wait 20 lines $(($(wc -l <log.send) + 500))
	touch log.stop
	wait "$receiver"
	ok $? "$1: they end well"
	lttng_ok destroy "$1"
	is "$(offsets "$1" 2>&1)" "$2" "$1: the positions at both ends agree"
}

kind pipe 'same '
kind unix-pair 'same '
kind tcp 'same beginning'
kind tcp-accepted 'same beginning'
tap_done
