#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng disable-event --spi` against a stock daemon: the rules that are meant go,
# and no others: not those of other providers, of another scope, channel or
# session. A rule with an exclusion, which makes the stock daemon crash when its
# rules are listed, does no harm.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/rules.sh"
spi_private "$@"
mkdir -m 1777 own-tmp && export TMPDIR=$PWD/own-tmp	# others may be at the same in /tmp
spi_daemon
daemon=$(cat /run/lttng/lttng-sessiond.pid)
lttng create one --output="$PWD/one" >/dev/null
spi() { "$SPI_LTTNG" "$@" >out 2>err; }
# enabled REGEX - how many enabled rules of session one have such a name
enabled() { rules one; awk -F '\t' '$3 == "true"' rules | cut -f 2 | grep -cE -- "$1"; }

spi enable-event --spi -f foo -f bar
spi enable-event --spi -f foo --pid 5
spi enable-event --spi -f foo --pid 5 --pid 6
spi enable-event --spi -f foo --one-event
lttng enable-event -u 'spi:parse_*' >/dev/null
lttng enable-event -u 'other:*' -x 'other:not_*' >/dev/null
lttng enable-event -u 'spi:*' -x 'spi:not_*' >/dev/null

check "one of two forms" spi disable-event --spi -f foo --one-event
is "$(enabled '^spi:foo$')" 0 "the form with one event is gone"
is "$(enabled '^spi:foo_(entry|exit)$')" 2 "the other form is there"
check "without --one-event: the rest" spi disable-event --spi -f foo
like "$(cat out)" 'ust event spi:foo_entry disabled in channel channel0 for session one' "said as the real lttng says it"
is "$(cat err)" "" "nothing else said"
is "$(enabled '^spi:foo(_entry|_exit|)$')" 0 "both are gone"
is "$(enabled '^spi:bar_')" 2 "another function is not"
is "$(enabled '^spi:call.foo;pid=5.$')" 1 "nor one with a scope"
check "in again" spi enable-event --spi -f foo
is "$(enabled '^spi:foo_(entry|exit)$')" 2 "in again: there"

# Two scopes of one function share the names of what records.
check "one of two scopes" spi disable-event --spi -f foo --pid 5
is "$(enabled '^spi:call.foo;pid=5.$')" 0 "its rule is gone"
is "$(enabled '^spi:call.foo;pid=5,6.$|^spi:call.foo;pid=5;pid=6.$')" 1 "the other is there"
is "$(awk -F '\t' '$3 == "true" && $4 ~ /spi:rules/' rules | wc -l)" 4 "what records for the other is there"
check "then the other, pids in another order" spi disable-event --spi -f foo --pid 6 --pid 5
enabled . >/dev/null
is "$(awk -F '\t' '$3 == "true" && $4 ~ /spi:rules/' rules | wc -l)" 0 "nothing of either is left"

cp rules before
wrong 1 'nosuch: session one has no such rule: lttng list' disable-event --spi -f nosuch
wrong 1 'bar: session one has no such rule with this scope' disable-event --spi -f bar --pid 1
wrong 1 'bar: session one has no such rule in channel other' disable-event --spi -f bar -c other
wrong 1 'nosuch: session one has no such user space channel: lttng list' disable-event --spi --all -c nosuch
wrong 1 'nosuch: no such session' disable-event --spi -f bar -s nosuch
wrong 1 'nosuch' disable-event --spi -f bar -f nosuch
rules one
same_file rules before "a command that is wrong in one thing disables nothing"

check "what a stock client made goes by its name" spi disable-event --spi -f 'parse_*'
is "$(enabled '^spi:parse_')" 0 "it is gone"
check "--all" spi disable-event --spi --all
is "$(enabled '^spi:')" 0 "--all: every rule of provider spi"
is "$(enabled '^other:')" 1 "--all: and no other"
check "--all again, with none" spi disable-event --spi --all

spi enable-event --spi -f 'app:[wx]ork' -f 'a**b' -f 'operator**' -f 'operator\**'
check "patterns in whose events' names stars meet" spi disable-event --spi -f 'app:[wx]ork' -f 'a**b' -f 'operator**' -f 'operator\**'
is "$(enabled '^spi:')" 0 "they go with all that records for them"

spi enable-event --spi -f foo -c wide
spi enable-event --spi -f foo -c channel0
check "in one channel" spi disable-event --spi -f foo -c wide
rules one
is "$(grep -c $'^channel0\tspi:foo_entry\ttrue' rules)" 1 "the other channel's rule is there"
check "--all in one channel" spi disable-event --spi --all -c channel0
rules one
is "$(grep -c $'\tspi:foo_entry\ttrue' rules)" 0 "then it is gone"
is "$(ls -d "$TMPDIR"/lttng-rules-* 2>/dev/null)" "" "no directory is left"
check "the daemon lives" kill -0 "$daemon"
tap_done
