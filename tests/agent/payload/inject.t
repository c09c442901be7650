#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program that is linked with -llttng-spi brings a payload file into another process, by its id and by a port that it listens at.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
spi_cc calls payload-calls.c -O1 -fno-optimize-sibling-calls
payload_cc says.so payload-says.c
spi_cc injects injects.c -I"$SPI_TOP_SRCDIR/include" -L"$SPI_LIBRARY" -llttng-spi -Wl,-rpath,"$SPI_LIBRARY"

# injected NAME WHAT - the program waits for its line while the payload comes; WHAT: pid, or port
injected() {
	local name=$1 what=$2 number=
	rm -f in out
	mkfifo in
	if [ "$what" = port ]; then
		number=4321
		python3 -c 'import os, socket, sys
s = socket.create_server(("127.0.0.1", 4321))
s.set_inheritable(True)
os.execv("./calls", ["calls", "5", "wait"])' <in >out 2>said &
	else
		rm -f out
		./calls 5 wait <in >out 2>said &
	fi
	target=$!
	exec {input}>in
	spi_wait 20 file_has out ready
	./injects "$what" "${number:-$target}" "$PWD/says.so" >result
	is $? 0 "$name: done" || diag "$(cat result)"
	echo go >&"$input"
	exec {input}>&-
	wait "$target"
	is $? 0 "$name: the program's status"
	is "$(grep -c '^enter leaf' said)" 9 "$name: its calls are seen" || diag "$(cat said result)"
}
injected 'by its id' pid
injected 'by a port' port
./injects pid 999999 "$PWD/says.so" >result
is $? 1 'a process that is none'
like "$(cat result)" '^-[0-9]+ .*(999999|[Nn]o such process)' 'a process that is none: the reason' || diag "$(cat result)"
tail -f /dev/null &
./injects pid $! "$PWD/none.so" >result
is $? 1 'a file that is none'
like "$(cat result)" '^-[0-9]+ .*none.so' 'a file that is none: the reason' || diag "$(cat result)"
# dlopen() would wait for ever, or end the process.
mkfifo fifo.so
head -c 5000 says.so >cut.so
for file in fifo cut; do
	timeout $((20 * SPI_PATIENCE)) ./injects pid $! "$PWD/$file.so" >result
	is $? 1 "$file: refused"
	like "$(cat result)" "^-[0-9]+ .*$file.so: it " "$file: the reason" || diag "$(cat result)"
done
check 'the process goes on' kill $!
tap_done
