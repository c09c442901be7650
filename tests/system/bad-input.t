#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 200
#
# What cannot be traced: one clear line, the right status, the command not
# started, and nothing left behind.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c
cp zoo stripped && strip stripped
cp zoo foreign && printf '\267' | dd of=foreign bs=1 seek=18 conv=notrunc status=none
cp zoo narrow && printf '\001' | dd of=narrow bs=1 seek=4 conv=notrunc status=none
head -c 4000 zoo >truncated && chmod +x truncated
spi_cc static zoo.c -static
cp zoo setuid && chmod u+s setuid
head -c 3000 /dev/urandom | tr '\0#' 'xx' >garbage && chmod +x garbage

# refused NAME STATUS REGEX ARGS... - one line that matches, this status, no output, no session, no directory
refused() {
	local name=$1 status=$2 regex=$3 got
	shift 3
	rm -rf dir
	spi_trace "$@" >trace.out </dev/null
	got=$?
	is "$got" "$status" "$name: status $status"
	is "$(wc -l <trace.err)" 1 "$name: one line" || diag "$(cat trace.err)"
	like "$(cat trace.err)" "$regex" "$name: says so"
	[ ! -s trace.out ] && [ ! -e dir ] && [ -z "$(lttng list 2>/dev/null | grep -E '^ *[0-9]+\)')" ]
	ok $? "$name: nothing started, nothing left"
	lttng destroy --all >/dev/null 2>&1
}

refused "a misspelt function" 1 't_leav.*t_leaf' -f t_leav -o dir ./zoo leaf
refused "an unknown function" 1 'no_such_thing_at_all' -f no_such_thing_at_all -o dir ./zoo leaf
refused "a glob that matches nothing" 1 'zzz\*' -f 'zzz*' -o dir ./zoo leaf
refused "one good and one bad" 1 't_leav' -f t_leaf -f t_leav -o dir ./zoo leaf
refused "a stripped binary" 1 'stripped' -f t_leaf -o dir ./stripped leaf
refused "not an ELF file" 1 'garbage' -f t_leaf -o dir ./garbage
refused "a truncated ELF file" 1 'truncated' -f t_leaf -o dir ./truncated leaf
refused "another machine's ELF file" 1 'foreign' -f t_leaf -o dir ./foreign leaf
refused "a 32-bit ELF file" 1 'narrow|32' -f t_leaf -o dir ./narrow leaf
refused "a static program" 1 'static' -f t_leaf -o dir ./static leaf
refused "a setuid program" 1 'set-?uid' -f t_leaf -o dir ./setuid leaf
refused "a missing command" 127 'no-such-command' -f t_leaf -o dir ./no-such-command
refused "a missing command in PATH" 127 'no-such-command' -f t_leaf -o dir no-such-command
refused "a file that is no program" 126 'cc.log' -f t_leaf -o dir ./cc.log
refused "a process that is gone" 1 '99999' -f t_leaf -o dir -p 99999

mkdir full_of_files && touch full_of_files/x
spi_trace -f t_leaf -o full_of_files ./zoo leaf >trace.out
is $? 1 "a directory that is not empty: status"
is "$(ls full_of_files)" x "a directory that is not empty: left alone"

# Another user's process: no right to trace it, and it is left alone.
spi_cc thrower thrower.cc
background ./thrower 0 1
mkdir -m 777 other
setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$PWD/other" LTTNG_HOME="$PWD/other" XDG_CACHE_HOME="$PWD/other" \
	"$SPI_LTTNG" trace -f t_middle -p "$target" --duration 1 -o "$PWD/other/t" >trace.out 2>trace.err </dev/null
is $? 1 "another user's process: status"
is "$(wc -l <trace.err)" 1 "another user's process: one line" || diag "$(cat trace.err)"
like "$(cat trace.err)" "$target" "another user's process: named"
check "another user's process: untouched" python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target"

# A process that ends while it is being traced.
rm -f trace.err
"$SPI_LTTNG" trace -f t_middle -p "$target" -o ends >trace.out 2>trace.err &
tracer=$!
spi_wait 20 file_has trace.err 'Trace directory'
kill -KILL "$target"
wait "$target" 2>/dev/null
wait "$tracer"
is $? 0 "a process that is killed: the trace ends with it" || diag "$(tail -n 5 trace.err)"
is "$(lttng list 2>/dev/null | grep -cE '^ *[0-9]+\)')" 0 "a process that is killed: no session left"

# A disk that is full: the command runs as ever, and the loss is said.
mkdir small && mount -t tmpfs -o size=1m tmpfs small
./zoo threads 30000 2 >plain
spi_trace -f 't_*' -o small/t ./zoo threads 30000 2 >trace.out
diag "full disk: status $?, $(tail -n 4 trace.err)"
same_file trace.out plain "a full disk: the command's output"
like "$(cat trace.err)" '[Nn]o space|full|lost|[Dd]iscarded' "a full disk: said"

# A /dev/shm that the buffers do not fit: LTTng would record nothing, and say nothing.
mkdir shm && mount --bind /dev/shm shm && mount -t tmpfs -o size=64k tmpfs /dev/shm
spi_trace -f t_leaf -o noshm ./zoo leaf >trace.out
is $? 1 "a /dev/shm that is too small"
like "$(cat trace.err)" '^Error: /dev/shm has 64 KiB left, and .*: make room there, or give a smaller --subbuf-size' "says what it takes"
is "$(wc -l <trace.err)$(cat trace.out)" 1 "in one line, and nothing is started"
umount -l /dev/shm
# For the live view the disk is that of TMPDIR.
mkdir tiny && mount -t tmpfs -o size=32k tmpfs tiny
TMPDIR=$PWD/tiny spi_trace -f t_leaf ./zoo leaf >trace.out
is $? 1 "a TMPDIR that is full: the trace is not complete"
like "$(cat trace.err)" 'Error: [^ ]*/tiny/[^ ]*: the disk is full.*TMPDIR' "and it is said where" || diag "$(cat trace.err)"

# Neither a daemon nor a way to start one.
sessiond=$(cat "/run/lttng/lttng-sessiond.pid" 2>/dev/null || cat "$HOME/.lttng/lttng-sessiond.pid")
kill "$sessiond" && spi_wait 20 pid_gone "$sessiond"
LTTNG_SESSIOND_PATH=/nonexistent spi_trace -f t_leaf -o nd ./zoo leaf >trace.out
is $? 1 "no daemon: status"
is "$(wc -l <trace.err)" 1 "no daemon: one line" || diag "$(cat trace.err)"
like "$(cat trace.err)" 'sessiond|session daemon' "no daemon: says what is missing"
is "$(cat trace.out)" "" "no daemon: the command is not started"
tap_done
