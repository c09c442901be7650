#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng list -u` on a terminal: a program's name says nothing to it. In a pipe every byte is as the stock command writes it.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
echo 'int getchar(void); int main(void) { return getchar() >= 0; }' >app.c
spi_cc app app.c -Wl,--no-as-needed -llttng-ust
mkfifo go
name=$'x\e[31m\xc2\x9by\xc3\xa9'
mv app "$name"
"./$name" <go & job=$!
exec {go}>go
listed() { command lttng list -u | grep -qa 'x.*31m'; }
check "the stock command lists it" spi_wait 10 listed
cat >terminal.py <<'P'
import os, pty, sys
pid, fd = pty.fork()
if not pid:
    os.execvp(sys.argv[1], sys.argv[1:])
out = b""
try:
    while data := os.read(fd, 4096):
        out += data
except OSError:
    pass
sys.stdout.buffer.write(out.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
lttng=$SPI_TOP_BUILDDIR/cli/lttng
python3 terminal.py "$lttng" list -u >shown
is $? 0 "on a terminal, with its status"
unlike "$(tr -d '\n\t' <shown)" $'[\x01-\x1f]|\xc2\x9b' "without what that would obey"
like "$(cat shown)" 'x\?\[31m\?\?yé' "the rest is there, other letters, too"
"$lttng" list -u >piped
like "$(cat piped)" $'x\e' "in a pipe every byte"
python3 terminal.py "$lttng" list no-such-session >shown
[ $? != 0 ]
ok $? "and a status that is not 0"
exec {go}>&-
wait "$job"
tap_done
