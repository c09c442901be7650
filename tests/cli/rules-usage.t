#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Command lines with --spi that make no sense: status 2, one line, nothing done.
# And where --spi is not meant for us, the real lttng's own words.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/rules.sh"
spi_private "$@"

wrong 2 '-f FUNC is missing' enable-event --spi
wrong 2 '-f FUNC or --all is missing' disable-event --spi
wrong 2 '-f needs the name' enable-event --spi -f ''
wrong 2 '-f: its value is missing' enable-event --spi -f
wrong 2 '--pid: abc is not a process id' enable-event --spi -f x --pid abc
wrong 2 '--pid: 0 is not' enable-event --spi -f x --pid 0
wrong 2 '--pid: -1 is not' enable-event --spi -f x --pid=-1
wrong 2 'at most 16' enable-event --spi -f x $(printf -- '--pid %d ' {1..17})
wrong 2 '--exec: /bin/ls is not a file name.*behind the last' enable-event --spi -f x --exec /bin/ls
wrong 2 "--exec: '' is not" enable-event --spi -f x --exec ''
wrong 2 '--filter: its value is empty' enable-event --spi -f x --filter ''
wrong 2 '--session: given twice' enable-event --spi -f x -s a -s b
wrong 2 'foo: unexpected word: functions are named with -f' enable-event --spi foo
wrong 2 '-u: unknown option' enable-event --spi -u -f foo
wrong 2 '--exclude goes with --tree' enable-event -f foo --exclude=y --spi
wrong 2 '--filter=y: unknown option' disable-event -f foo --filter=y --spi
wrong 2 '--all goes with -s and -c only' disable-event --spi --all -f foo
wrong 2 '--all goes with' disable-event --spi --all --pid 5
wrong 2 '--mi knows xml' --mi json enable-event --spi -f foo
wrong 2 '--mi knows xml' --mi json disable-event --spi -f foo
wrong 2 '--mi knows xml' --mi json list --spi
wrong 2 '-f: unknown option' list --spi -f x
wrong 2 'one: unexpected word' list --spi one
wrong 2 'given twice' list --spi --pid 1 --pid 2

for func in 0x 0xzz libc.so.6:0x12g 0x123456789abcdef01; do
	wrong 1 "$func: .*is no address: give 0x and up to 16 hex" enable-event --spi -f "$func"
done
wrong 1 'a:: no function is named in' enable-event --spi -f a:

for command in enable-event disable-event list; do
	is "$("$SPI_LTTNG" $command --spi --list-options | grep -cx -e --spi -e --pid -e -h)" 3 "$command --spi --list-options"
	out=$("$SPI_LTTNG" $command --spi --help 2>err)
	is $? 0 "$command --spi --help: status"
	like "$out" "^Usage: lttng.*$command --spi" "$command --spi --help: on stdout"
	is "$(cat err)" "" "$command --spi --help: nothing else"
	"$SPI_LTTNG" $command --spi --help >/dev/full 2>/dev/null
	is $? 1 "$command --spi --help: cannot be written"
done

# Without --spi, and with it where it is no option of these commands, the real lttng answers.
mkdir bin && ln -s "$SPI_LTTNG" bin/lttng
for line in "enable-event -f foo" "list --pid 5" "start --spi" "enable-event -- --spi" "--spi list" "disable-event --sp"; do
	# shellcheck disable=SC2086
	lttng -n $line >real.out 2>real.err </dev/null
	status=$?
	# shellcheck disable=SC2086
	PATH=$PWD/bin:$PATH lttng -n $line >ours.out 2>ours.err </dev/null
	is $? "$status" "lttng $line: the real one's status"
	cmp -s real.out ours.out && cmp -s real.err ours.err
	ok $? "lttng $line: the real one's output" || diag "$(diff real.err ours.err)"
done
tap_done
