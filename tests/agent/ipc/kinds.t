#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# Messages over each kind of channel, by each function that sends or receives: both ends' events are what the program has
# logged by its own counting, and have one channel.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
count=${SPI_SOAK:+100000}
begins=20
[ -z "$count" ] || begins=1000		# what the kernel takes in parts is sent in two calls
spi_cc messages messages.c
TREE_EVENTS='spi_ipc:*'

# kind NAME KIND - KIND: as the event says it
kind() {
	rm -rf trace
	tree_record trace 'tree(main;ipc=pipe+unix+tcp+udp)' timeout $((60 * SPI_PATIENCE)) ./messages "$1" "${count:-20000}" $RANDOM "$PWD/log"
	ok $? "$1: the program ends well"
	like "$("$SPI_TOP_SRCDIR/tests/lib/messages.py" trace log "$2" 2>&1)" "^ok 1 $begins" "$1: each message at its position, at both ends"
}

kind pipe pipe
kind fifo pipe
kind unix unix
kind unix-pair unix
kind unix-datagram unix-datagram
kind unix-datagram-pair unix-datagram
kind tcp tcp
kind tcp-accepted tcp
kind tcp6 tcp
kind udp udp
kind udp6-to udp
tap_done
