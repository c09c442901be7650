#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Other users than the daemon's who use its client socket are told to the broker,
# once each, and to the next broker, too; so is one whose process descends from the broker.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
[ "$(id -u)" = 0 ] || skip_all "needs root, to be several users"
spi_private "$@"
plugin_build
plugin_daemon "none child=4713"
spi_wait 5 log_counts '^CLIENT' 1
is "$(grep -E '^(CLIENT|DIRTY)' broker.log)" "CLIENT uid=4713" "a child of the broker's is no command, but its user is one"
gid=$(stat -c %g /run/lttng/client-lttng-sessiond)
# A connection is enough: what is asked through it is the daemon's affair.
as() {
	setpriv --reuid="$1" --regid="$gid" --clear-groups perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) &&
		connect(S, sockaddr_un("/run/lttng/client-lttng-sessiond")) or die "$!"'
}
lttng list >out 2>&1
as 4711
as 4712
as 4711
spi_wait 5 log_counts '^DIRTY' 4
is "$(grep ^CLIENT broker.log | tr '\n' ' ')" "CLIENT uid=4713 CLIENT uid=4711 CLIENT uid=4712 " "each once"
: >broker.log
kill -KILL "$(pgrep -x fake-broker)"
spi_wait 5 log_counts '^CLIENT' 3
is "$(grep ^CLIENT broker.log | tr '\n' ' ')" "CLIENT uid=4713 CLIENT uid=4711 CLIENT uid=4712 " "the next broker knows them, too"
unlike "$(grep ^DAEMON broker.log)" attached "and that they are all"
tap_done
