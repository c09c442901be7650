#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# A program that looks which descriptors it has finds its own, and hands on no others to the programs that it executes,
# also where fcntl() tells all numbers to stay open.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc own-descriptors own-descriptors.c
spi_cc listed own-descriptors.c -static -DLISTED

for options in '-f t_look' '--tree' '--tree --compact'; do
	# shellcheck disable=SC2086
	spi_trace_same "$options" "d$tap_count" ./own-descriptors $options
done
spi_trace_same "ls" dls "ls /proc/self/fd" --tree
cat >children.py <<'P'
import fcntl, os, subprocess
for fd in range(3, 1000):
    try: fcntl.fcntl(fd, fcntl.F_SETFD, 0)
    except OSError: pass
print(sorted(os.listdir("/proc/self/fd"), key=int), flush=True)
for close in True, False:
    subprocess.run(["ls", "/proc/self/fd"], close_fds=close)
    subprocess.run(["./listed"], close_fds=close)
P
spi_trace_same "python3" dpy "/usr/bin/python3 -I -S children.py" -f 'python3*:Py_BytesMain'

# close() itself, which the tracer stands before; the others do its work by themselves, and that is said
spi_cc closes closes.c
spi_trace_same "close" dclose ./closes -f libc.so.6:close
is "$(spi_count dclose close_entry) $(spi_count dclose close_exit)" "20 20" "close() is recorded"
for func in close_range closefrom _exit; do
	"$SPI_LTTNG" trace -f "libc.so.6:$func" -o "no-$func" ./closes >refused.out 2>&1
	like "$(cat refused.out)" "$func: the tracer replaces it" "$func() is not, and that is said"
done

mkfifo in
./own-descriptors wait <in >looks & target=$!
exec {to}>in
spi_wait 10 file_has looks ready
"$SPI_LTTNG" trace -f t_look -p "$target" -o t 2>trace.err {to}>&- & tracer=$!
spi_wait 20 file_has trace.err 'Trace directory'
printf x >&"$to"
wait "$target"
is $? 0 "attached: status"
wait "$tracer"
sed '1,/ready/d' looks >after
sed '/ready/,$d' looks >before
same_file after before "attached: it finds what it had"
tap_done
