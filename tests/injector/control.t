#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The controller's side of the agent socket, with agents that are played:
# messages and callbacks, code maps and files, and whatever breaks the protocol.
. "${SPI_TOP_SRCDIR:?}/tests/lib/injector.sh"
library=$SPI_TOP_BUILDDIR/injector/.libs/libspi-control.a
[ -e "$library" ] && [ -x "$SPI_TOP_BUILDDIR/codemap/spi-codemap" ] || skip_all "needs the build tree"
spi_private "$@"
export SPI_MARKS=

options=()
grep -q '^SAN_CFLAGS = .*-fsanitize' "$SPI_TOP_BUILDDIR/injector/Makefile" && options=(-fsanitize=address,undefined)
build controller units/injector/control.c -I"$SPI_TOP_SRCDIR" "$library" "$SPI_TOP_BUILDDIR/rules/.libs/libspi-rules.a" "${options[@]}" -ldw -lelf -pthread
build counted counted.c -DCOUNTED="\"$SPI_TMP/counted.out\"" -DCODEMAP="\"$SPI_TOP_BUILDDIR/codemap/spi-codemap\""
chmod 711 "$SPI_TMP"
export LTTNG_SPI_CODEMAP=$SPI_TMP/counted XDG_RUNTIME_DIR=$SPI_TMP
mkfifo hold
exec {hold}<>hold
./controller <hold >heard 2>errors & controller=$!
spi_wait 10 file_has heard '^/'
path=$(head -n 1 heard)
# Root's is for what its programs execute as other users; one that it does not know is turned away.
modes="600 700"
[ "${SPI_OUTER_UID:-0}" = 0 ] && modes="666 711"
is "$(stat -c %a "$path") $(stat -c %a "$(dirname "$path")")" "$modes" "nobody may write to the socket's directory"
if [ "${SPI_OUTER_UID:-0}" = 0 ]; then
	turned_away=$(timeout 10 python3 -c '
import os, socket, sys
os.setgroups([])
os.setgid(61003)
os.setuid(61003)
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
try:
    print(len(s.recv(100)))
except ConnectionResetError:
    print(0)' "$path" 2>&1)
	is "$turned_away" 0 "another user's process is turned away"
fi

# agent FUNCTION ARG... - one conversation; what the controller heard of it is in $heard
agent() {
	local before
	before=$(grep -c '^gone' heard)
	timeout 30 python3 "$SPI_TOP_SRCDIR/tests/lib/agents.py" "$path" "$@" >said 2>>said
	spi_wait 10 eval "[ \$(grep -c '^gone' heard) -gt $before ]"
	heard=$(tac heard | sed -n '2,$p' | sed '/^gone\|^\//,$d' | tac)
}

agent conversation
is "$(cat said)" "" "a conversation"
is "$heard" "hello exe=/usr/bin/fake flags=1 entries=1234 own=1
note a note
declined lib.so|f_one|too small
declined lib.so|f_two|no reason
done rule=7 status=0 instrumented=1 text=fine
detached" "each message is one callback"
agent shrinkable
like "$heard" 'entries=-1' "a status page that can shrink is not mapped"
agent short_page
like "$heard" 'entries=-1' "nor one that is too short"

python=$(python3 -c 'import os; print(os.readlink("/proc/self/exe"))')
agent ask_map "$python" main
is "$(cat said)" "map SPIMAP seals 15" "a code map of the executable, sealed"
agent ask_map "$python" no_such_function
like "$(cat said)" '^status -2 ' "nothing matches"
libc=$(ldd "$python" | awk '/libc.so.6/ { print $3 }')
agent ask_map "$(readlink -f "$libc")" nanosleep "$(stat -c %d "$libc")" "$(stat -L -c %i "$libc")" 0
is "$(cat said)" "map SPIMAP seals 15" "a code map of a library"
runs=$(stat -c %s counted.out)
agent ask_map "$python" main
is "$(cat said)" "map SPIMAP seals 15" "the same once more"
agent ask_map "$python" no_such_function
like "$(cat said)" '^status -2 .' "nothing matches, once more"
is "$(stat -c %s counted.out)" "$runs" "both are known"
agent ask_map "$python" 'mai[n]'
is "$(cat said) $(($(stat -c %s counted.out) - runs))" "map SPIMAP seals 15 1" "other words are another question"
agent ask_map "$python" main 1 1
like "$(cat said)" '^status -(116|2) .*: ' "another device and inode: refused"
agent ask_map /etc/passwd root
like "$(cat said)" '^status -(116|2) /etc/passwd: ' "a file that is not mapped is not opened"
agent many_maps "$python" main
is "$(cat said)" "answers 12" "twelve requests at once"

agent ask_file libgcc_s.so.1
is "$(cat said)" "file ELF seals 15" "a library, sealed"
agent ask_file ../../etc/passwd
like "$(cat said)" '^status -2 no such file is served' "no other file"
agent ask_file daemon-home
like "$(cat said)" '^status -2 no session daemon runs' "no daemon: says so"
spi_daemon
agent ask_file daemon-home
if [ "$(id -u)" = 0 ]; then
	is "$(cat said)" "home True
connected" "the daemon's directory, from another root"
else
	like "$(cat said)" '^home True' "the daemon's directory"
fi

for how in magic size short early huge map map2 declined done; do
	agent broken "$how"
	is "$(cat said)" closed "broken ($how): the connection ends"
done
kill -0 "$controller"
ok $? "the controller is there"
is "$(ls -d /run/lttng/spi-home-* 2>/dev/null | wc -l)" 1 "the daemon's home is there while it is needed"
echo >&"$hold"
wait "$controller"
is "$?" 0 "it ends with status 0"
is "$(ls -A "$(dirname "$path")" 2>/dev/null; ls -d /run/lttng/spi-home-* 2>/dev/null)" "" "and leaves nothing behind"
is "$(cat errors)" "" "without a word on stderr"
tap_done
