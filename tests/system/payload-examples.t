#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Each example of a payload (doc/examples/) is built out of the tree against an installed copy, with what pkg-config says,
# and does what its comment says.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
. "$SPI_TOP_SRCDIR/tests/lib/installed.sh"
spi_private "$@"
spi_cc prog payload-examples.c -O1 -fno-optimize-sibling-calls
installed_copy
unset LTTNG_SPI_CODEMAP
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig

flags=$(pkg-config --cflags --libs lttng-spi)
is $? 0 "pkg-config knows lttng-spi"
mkdir built
for source in "$SPI_TOP_SRCDIR"/doc/examples/*.c; do
	name=${source##*/}
	cp "$source" "${source%.c}".[h] built/ 2>/dev/null
	more=()
	[ "$name" != own-events.c ] || more=(-I built -llttng-ust -ldl)
	# shellcheck disable=SC2086
	check "$name builds out of the tree" gcc -O2 -Wall -Wextra -Werror -shared -fPIC "built/$name" $flags \
		-Wl,-rpath,"$prefix/lib" "${more[@]}" -o "built/${name%.c}.so"
done
# shellcheck disable=SC2086
check "the header serves C++" g++ -std=c++11 -Wall -Wextra -Werror -pedantic -fsyntax-only -x c++ - $flags \
	<<<'#include <lttng/spi.h>'

LD_PRELOAD=$PWD/built/exit-code.so ./prog exit >out 2>err
is $? 7 "exit-code: the program's status"
same_file err out "exit-code: the child, and the code that exit() gets" || diag "$(cat err)"

# The lines that the program prints, without process numbers; fopen() and the like of libc's own are not among them.
LD_PRELOAD=$PWD/built/security-log.so ./prog security >out 2>err
is $? 0 "security-log: the program's status"
same_file <(sed 's/^\[[0-9]*\] //' err) out "security-log: each call with its arguments, and its result" || diag "$(cat err)"

instrumented() { ! python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$1" prog >/dev/null 2>&1; }
mkfifo in
mkdir watched
rm -f out
LTTNG_SPI_PAYLOAD_ARGS="directory=$PWD/watched;file=now" LD_PRELOAD=$PWD/built/event.so \
	timeout $((30 * SPI_PATIENCE)) ./prog phases <in >out 2>err &
runs=$!
exec {input}>in
spi_wait 20 file_has out ready
target=$(pgrep -P "$runs" -x prog)
check "event: nothing is instrumented before the file is there" python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target" prog
touch watched/other watched/now
spi_wait 20 instrumented "$target"
echo go >&"$input"
exec {input}>&-
wait "$runs"
rc=$?; is $rc 0 "event: the program's status" || diag "$(tail -5 err)"
is "$(grep -cx after err) $(grep -cx leaf err) $(grep -cx before err)" "5 5 0" "event: calls from the file's appearance on" ||
	diag "$(cat err)"

# What lttng trace does with it: file-channel.t.
spi_cc file-messages file-messages.c -O1 -fno-optimize-sibling-calls
export LTTNG_SPI_PAYLOAD_ARGS="file=$PWD/messages"
LD_PRELOAD=$PWD/built/file-channel.so ./file-messages write messages 2 2>err
is $? 0 "file-channel: the writer's status"
is "$(sed -n 's/^\[[0-9]*\] to //p' err | tr '\n' ,)" "file $PWD/messages at 0,file $PWD/messages at 16," "file-channel: its messages" ||
	diag "$(cat err)"
LD_PRELOAD=$PWD/built/file-channel.so ./file-messages read messages 2 >out 2>err
is $? 0 "file-channel: the reader's status"
is "$(sed -n 's/^\[[0-9]*\] from //p' err | tr '\n' ,)" "file $PWD/messages at 0,file $PWD/messages at 16," "file-channel: they come" ||
	diag "$(cat err)"
unset LTTNG_SPI_PAYLOAD_ARGS

# A recorder of one's own, in a session of the stock commands.
sessiond_start
lttng_ok() { command lttng "$@" >lttng.log 2>&1 || diag "lttng $*: $(cat lttng.log)"; }
lttng_ok create own --output="$PWD/own"
lttng_ok enable-event -u 'own:*'
lttng_ok start
LD_PRELOAD=$PWD/built/own-events.so LTTNG_UST_REGISTER_TIMEOUT=-1 ./prog phases <<<go >out 2>err
is $? 0 "own-events: the program's status"
lttng_ok destroy own
babeltrace2 own >events 2>read.err
same_file err /dev/null "own-events: nothing on stderr"
# of NAME - how many events own:NAME each function has, of those of the program
of() { sed -n "s/.* own:$1: .*{ callee = \"\(before\|after\|leaf\)\".*/\1/p" events | sort | uniq -c | awk '{ printf "%s %s,", $2, $1 }'; }
is "$(of call)" "after 5,before 1,leaf 6," "own-events: each call is an event" || diag "$(head events)"
is "$(of result)" "after 5,before 1,leaf 6," "own-events: and its end" || diag "$(head events)"
is "$(grep -c 'own:call.*callee = "leaf", caller = "after", first = 0x2 ' events)" 5 "own-events: with caller and argument"
tap_done
