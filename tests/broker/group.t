#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# Root's daemon, for another group than "tracing" (--group): a user of that group
# has rules for his own processes, and root's go on. When he alone cannot be asked
# any more, root's rules go on all the same, new ones too, his stay as they were, and
# it is said.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
[ "$(id -u)" = 0 ] || skip_all "needs several users: root"
spi_private "$@"
# The stock daemon ends when a user saves a session whom the system doesn't know.
{ grep -v 'spi-user' /etc/passwd; printf 'spi-user-a:x:2001:2001::%s:/bin/sh\n' "$PWD/home-2001"; } >passwd
{ grep -v ':2007:' /etc/group; printf 'spi-others:x:2007:spi-user-a\n'; } >group
mount --bind passwd /etc/passwd && mount --bind group /etc/group || skip_all "cannot mount a private /etc/passwd"
mkdir -p home-2001 && chown 2001:2001 home-2001
chmod 755 .
as_a() { setpriv --reuid 2001 --regid 2001 --groups 2007 env HOME="$PWD/home-2001" LTTNG_HOME="$PWD/home-2001" "$@"; }
spi_app
socket=/run/lttng/client-lttng-sessiond
spi_sessiond --group spi-others
is "$(stat -c %G "$socket")" spi-others "its socket is that group's"
quiet lttng create all -o "$PWD/all"
quiet lttng enable-event -u -s all 'spi:app_first'
quiet lttng start all
rule() { spi_status_has "^rule\t$1\t[^\t]*\t$2\t"; }
check "root's rule is there" spi_wait 10 rule all spi:app_first
check "the user makes a session" as_a lttng --group spi-others create theirs -o "$PWD/home-2001/t"
check "and a rule" as_a lttng --group spi-others enable-event -u -s theirs 'spi:call(app_other)'
quiet as_a lttng --group spi-others start theirs
check "which is there" spi_wait 10 rule theirs 'spi:call\(app_other\)'
# A session's owner is remembered once the daemon has been asked when the session was two seconds old; root's next rule has it asked.
made=$(date +%s)
older() { [ "$(date +%s)" -ge $((made + 3)) ]; }
check "it gets older than the second in which another could have its name" spi_wait 10 older
quiet lttng enable-event -u -s all 'spi:app_fir*'
check "and root's next one" spi_wait 10 rule all 'spi:app_fir\*'
check "nothing is complained of" test -z "$(spi_status | grep -P '^note\t.*(cannot be read)')"
# applied UID RULE - a process of that user has that rule
applied() {
	spi_status >status.txt
	awk -F'\t' -v uid="$1" -v rule="$2" '$1 == "process" && $3 == uid { is[$2] = 1 }
		$1 == "applied" && is[$2] && index($3, rule) { found = 1 } END { exit !found }' status.txt
}
as_a ./app busy stop >out.a & ./app busy stop >out.root &
check "root's rule reaches the user's process" spi_wait 15 applied 2001 'app_fir*'
check "as does his own" spi_wait 15 applied 2001 app_other
check "root's process has root's rule" spi_wait 15 applied 0 'app_fir*'
applied 0 app_other
is $? 1 "and not the user's"

# Nobody but root may connect now.
chmod 600 "$socket"
quiet lttng enable-event -u -s all 'spi:app_wor*'
check "while the user cannot be asked, root's next rule is there" spi_wait 10 rule all 'spi:app_wor\*'
check "that he cannot is said" spi_wait 10 spi_status_has '^note\tuser 2001: the sessions cannot be read'
check "his rule is there still" rule theirs 'spi:call\(app_other\)'
# The broker's children, the querier among them, know nothing of what the ones before them were told.
broker=$(pgrep -x spi-broker | head -n 1)
kill -9 $(cat "/proc/$broker/task/$broker/children")
quiet lttng enable-event -u -s all 'spi:app_fla*'
check "a querier that begins anew has root's next rule" spi_wait 10 rule all 'spi:app_fla\*'
check "and his" rule theirs 'spi:call\(app_other\)'
check "root's process has the new one" spi_wait 15 applied 0 'app_wor*'
applied 0 app_other
is $? 1 "and still not the user's"
check "his process has his rule still" applied 2001 app_other
quiet lttng create new -o "$PWD/new"
quiet lttng enable-event -u -s new 'spi:app_work'
quiet lttng start new
check "a session made meanwhile waits" spi_wait 10 spi_status_has '^note\tsession new: .*not all users can be asked'
chmod 660 "$socket"
quiet lttng enable-event -u -s all 'spi:app_oth*'
check "when he can be again, it is there" spi_wait 15 rule new spi:app_work
check "and nothing is complained of" test -z "$(spi_status | grep -P '^note\t.*(cannot be read)')"
touch stop
wait
tap_done
