#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The session daemon is process 1 of a container: orphans become its children, and
# are traced as any program; its consumer daemon is not, also under another name.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
spi_cc app "$SPI_PROGRAMS/lines.c" -Wl,--no-as-needed -llttng-ust
group=()
[ "${SPI_OUTER_UID:-0}" = 0 ] || group=(--group root)
for path in /usr/lib/*/lttng/libexec/lttng-consumerd /usr/lib/lttng/libexec/lttng-consumerd /usr/libexec/lttng-consumerd; do
	[ ! -x "$path" ] || cp "$path" lttng-another
done
[ ! -e lttng-another ] || group+=(--consumerd64-path "$PWD/lttng-another")
unshare -p --fork --mount-proc --kill-child "$SPI_TOP_BUILDDIR/spi-sessiond-plugin/spi-sessiond" \
	--no-kernel "${group[@]}" >sessiond.log 2>&1 &
unshare=$!
spi_wait 10 status_has version || { diag "$(cat sessiond.log)"; echo "Bail out! no broker"; exit 1; }
daemon=$(pgrep -P "$unshare")
record s 'spi:add*' 'spi:call(main;exec=lttng%2a)'
spi_wait 10 status_like '^rule.*spi:add'
# inside COMMAND - in the daemon's namespaces
inside() { nsenter -t "$daemon" -p -m bash -c "cd '$PWD' && $1"; }
# Its parent has ended, and it is the daemon's child, when it begins.
cat >orphan <<'PROGRAM'
#!/bin/bash
until [ "$(awk '$1 == "PPid:" { print $2 }' "/proc/$$/status")" = 1 ]; do :; done
exec 0<fifo
exec ./app 3 wait
PROGRAM
chmod +x orphan
mkfifo fifo
inside '{ ./orphan >orphan.out 2>&1 & }'
exec {hold}<>fifo
orphan() { inside 'pgrep -x app'; }
check "an orphan is the daemon's child" spi_wait 10 orphan
pid=$(orphan)
is "$(inside "awk '\$1 == \"PPid:\" { print \$2 }' /proc/$pid/status")" 1 "by its parent's number"
check "and is traced" spi_wait 10 status_like "^applied.$pid.add[^\t]*.active"
consumer=$(inside 'pgrep -P 1 -f consumerd-cmd-sock' | head -n 1)
[ -n "$consumer" ]
ok $? "there is a consumer daemon"
# two more looks
spi_wait 2 false
is "$(status process | awk -F'\t' -v pid="$consumer" '$2 == pid && $4 == "traced"')" "" "which is not traced"
is "$(inside "grep -c lttng-spi /proc/$consumer/maps")" 0 "and has nothing inside"
exec {hold}>&-
recorded s
[ "$(grep -c 'spi:add_entry' s.txt)" -gt 0 ]
ok $? "the orphan's calls are in the trace"
kill "$daemon"
wait "$unshare"
tap_done
