#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The commands with --spi as a member of the tracing group, at root's daemon: his
# own sessions are his, also for root; others' are not.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/rules.sh"
[ "$(id -u)" = 0 ] || [ -n "${SPI_PRIVATE:-}" ] || skip_all "needs root"
spi_private "$@"
[ "$SPI_OUTER_UID" = 0 ] || skip_all "needs root"
uid=$(id -u nobody) gid=$(id -g nobody)
getent group tracing >/dev/null || skip_all "there is no group tracing"
spi_daemon
group=$(stat -c %g /run/lttng/client-lttng-sessiond)
mkdir user && chown "$uid:$gid" user && chmod 755 .
as_user() { setpriv --reuid "$uid" --regid "$gid" --groups "$group" env HOME="$PWD/user" LTTNG_HOME="$PWD/user" "$@"; }

as_user "$SPI_LTTNG" create his --output="$PWD/user/his" >out 2>&1 || diag "$(cat out)"
check "a rule in his own session" as_user "$SPI_LTTNG" enable-event --spi -f foo
rules his
like "$(cat rules)" $'spi:foo_entry\ttrue' "it is there"
like "$(as_user "$SPI_LTTNG" enable-event --spi -f foo --pid $$ 2>&1)" "it belongs to uid .*your rules reach your own processes only" \
	"a rule for another user's process: it is said that nothing will be recorded"
check "he disables it" as_user "$SPI_LTTNG" disable-event --spi -f foo
rules his
like "$(cat rules)" $'spi:foo_entry\tfalse' "it is disabled"
check "enabled again" as_user "$SPI_LTTNG" enable-event --spi -f foo
check "root disables it" "$SPI_LTTNG" disable-event --spi -f foo -s his
rules his
like "$(cat rules)" $'spi:foo_entry\tfalse' "root: it is disabled"

lttng create roots --output="$PWD/roots" >/dev/null
"$SPI_LTTNG" enable-event --spi -f foo >/dev/null 2>&1
for command in "enable-event --spi -f bar" "disable-event --spi -f foo" "disable-event --spi --all"; do
	# shellcheck disable=SC2086
	out=$(as_user "$SPI_LTTNG" $command -s roots 2>&1)
	is $? 1 "root's session: $command: status"
	like "$out" '^Error: ' "root's session: $command: said" && diag "$out"
done
rules roots
is "$(grep -c $'\ttrue' rules)" "$(wc -l <rules)" "root's rules are as they were"

# A stock daemon aborts when somebody without a name has it save a session.
daemon=$(cat /run/lttng/lttng-sessiond.pid)
uid=61234 gid=61235
chown "$uid:$gid" user
as_user "$SPI_LTTNG" create nameless --output="$PWD/user/nameless" >/dev/null 2>&1
as_user "$SPI_LTTNG" enable-event --spi -f foo -s nameless >/dev/null 2>&1
out=$(as_user "$SPI_LTTNG" disable-event --spi -f foo -s nameless 2>&1)
like "$?:$out" '^1:Error: nameless: .*no entry in passwd' "a user without a name is told"
check "and the daemon lives" kill -0 "$daemon"
is "$(ls -d /tmp/lttng-rules-* 2>/dev/null)" "" "no directory is left"
tap_done
