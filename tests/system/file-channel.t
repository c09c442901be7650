#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A payload goes along a channel that its own worker alone knows (doc/examples/file-channel.c): the reader of a shared file
# runs already, and is brought in by the first message that the traced writer appends.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc file-messages file-messages.c -O1 -fno-optimize-sibling-calls
payload_cc file-channel.so file-channel.c
chmod 755 .

# reads N - the program runs, and has read N messages
reads() { [ "$(grep -c message read.out)" -ge "$1" ]; }
# of PID - what the payload of that process has printed
of() { sed -n "s/^\[$1\] //p" err; }

# exchange OPTION... - three messages that nobody traces, and three of a traced writer; what is said is in ./err
exchange() {
	rm -f messages read.out over
	./file-messages write messages 3
	./file-messages read messages 6 >read.out &
	reader=$!
	spi_wait 20 reads 3
	timeout $((60 * SPI_PATIENCE)) "$SPI_LTTNG" trace --payload ./file-channel.so --payload-arg "file=$PWD/messages" --tree --ipc --ipc-wait 10 \
		"$@" ./file-messages write messages 3 over >out 2>err &
	tracer=$!
	spi_wait 20 reads 6 || kill "$reader"
	wait "$reader"
	is $? 0 "the reader's status"
	touch over
	wait "$tracer"
	is $? 0 'status' || diag "$(cat err)"
	is "$(grep -c message read.out)" 6 'the reader has got all messages'
}

exchange
is "$(of "$reader" | grep -c 'main -> handle')" 3 'its payload begins with the first message of the traced program' || diag "$(cat err)"
# it may look for more before there is any
is "$(of "$reader" | grep '^from' | sort -u | tr '\n' ' ')" "from file $PWD/messages at 64 from file $PWD/messages at 80 " \
	'and sees each read() from the next one on'
is "$(grep -c "^\[[0-9]*\] to file $PWD/messages at \(48\|64\|80\)$" err)" 3 'the writer has three, behind what the file had'
is "$(grep -o '^\[[0-9]*\]' err | sort -u | wc -l)" 2 'two processes have the payload'

exchange --lib file-messages --lib file-channel.so -o trace
is "$(of "$reader" | grep -c 'main -> handle')" 3 'the same beside a trace' || diag "$(cat err)"
unlike "$(cat err)" 'lttng-ust-sock' "what lttng-ust sends is no message of the program's"
"$SPI_TOP_BUILDDIR/reader/lttng-spi" flow trace >flow.out 2>&1
is "$(awk -v reader="$reader" '$1 == 3 && / file .*file-messages \([0-9]*\) -> file-messages \('"$reader"'\)/' flow.out | wc -l)" 1 \
	"the trace has the messages, by the worker's name" || diag "$(cat flow.out)"
check 'the timeline takes them' "$SPI_TOP_BUILDDIR/reader/lttng-spi" timeline -o page.html trace
is "$("$SPI_TOP_BUILDDIR/reader/lttng-spi" calls trace | grep -Ec "spi_ipc:(send|recv): 16 bytes at [0-9]*, file $PWD/messages")" 6 \
	'and so do calls'
tap_done
