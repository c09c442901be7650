#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A session daemon of an ordinary user: it instruments that user's processes, with
# no right that the user has not.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
[ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ] || skip_all "needs root, to become another user"
spi_app
{ cat /etc/passwd; echo 'spiuser:x:2001:2001::/tmp:/bin/sh'; } >passwd
{ cat /etc/group; echo 'spiuser:x:2001:'; } >group
mount --bind passwd /etc/passwd && mount --bind group /etc/group
mkdir -m 755 user
chown 2001:2001 user

cat >user.sh <<'END'
cd user || exit 1
export HOME=$PWD LTTNG_HOME=$PWD XDG_CACHE_HOME=$PWD/.cache LTTNG_UST_REGISTER_TIMEOUT=-1
. "$SPI_TOP_SRCDIR/tests/lib/sessiond.sh"
"$SPI_SESSIOND" --no-kernel --daemonize >log 2>&1
spi_wait 10 test -S .lttng/spi-status || exit 2
lttng create u -o "$PWD/trace"
lttng enable-event -u 'spi:app_*'
lttng start
../app 5
spi_status >status
lttng stop
lttng destroy
daemon=$(cat .lttng/lttng-sessiond.pid)
kill "$daemon"
spi_wait 10 pid_gone "$daemon"
spi_wait 10 test ! -e .lttng/spi-status
END
env -u SPI_PRIVATE SPI_TMP="$PWD/user" setpriv --reuid 2001 --regid 2001 --clear-groups --no-new-privs bash user.sh >out 2>&1
is $? 0 "a user's daemon begins, traces, and ends with its broker" || diag "$(tail -n 5 out user/log)"
like "$(cat out)" 'sum 63' "the program's output"
is "$(babeltrace2 user/trace 2>/dev/null | grep -c app_work_entry)" 5 "its calls"
is "$(babeltrace2 user/trace 2>/dev/null | grep -c app_first_exit)" 1 "from main()'s first line on"
like "$(cat user/status)" $'rule\tu\t' "the user may see it all"
tap_done
