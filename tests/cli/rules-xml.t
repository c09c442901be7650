#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng --mi xml enable-event --spi` and `disable-event --spi`: what the real lttng's commands say of the same rules, and
# nothing else on stdout; a failure says so, there, on stderr and by the status.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
command -v xmllint >/dev/null || skip_all "needs xmllint"

# the real one's, rule by rule, for comparison: XML without what is about one rule alone
shape() { sed 's/<event>/\n<event>/g; s,</events>,\n</events>,g' "$1"; }
lttng create ours >/dev/null
lttng create theirs >/dev/null
"$SPI_LTTNG" --mi xml enable-event --spi -s ours -f foo --filter 'a == 1' >on.xml 2>err
is "$?$(cat err | grep -v plugin)" 0 "enabled"
lttng --mi xml enable-event -s theirs -u 'spi:foo_exit,spi:foo@*_exit,spi:foo_entry,spi:foo@*_entry' --filter 'a == 1' >real.xml 2>/dev/null
is "$(shape on.xml | sort)" "$(shape real.xml | sort)" "as the real lttng says it"
check "well formed" xmllint --noout on.xml
"$SPI_LTTNG" --mi xml disable-event --spi -s ours -f foo >off.xml 2>err
is "$?$(cat err)" 0 "disabled"
lttng --mi xml disable-event -s theirs -u 'spi:foo_exit,spi:foo@*_exit,spi:foo_entry,spi:foo@*_entry' >real.xml 2>/dev/null
is "$(shape off.xml | sort)" "$(shape real.xml | sort)" "as the real lttng says that"

lttng enable-channel -u -s ours one >/dev/null
lttng enable-channel -u -s ours 't<&>o' >/dev/null 2>&1
"$SPI_LTTNG" --mi xml enable-event --spi -s ours -c one -f 'a<b>' -f bar --tree=baz --exec 'x&y' >on.xml 2>/dev/null
is $? 0 "names that XML has to escape, a scope, a tree"
check "well formed, too" xmllint --noout on.xml
is "$(xmllint --xpath 'string(//*[local-name()="command"]/*[local-name()="success"])' on.xml)" true "and it went well"
is "$(xmllint --xpath 'count(//*[local-name()="event"]/*[local-name()="success"][.="true"])' on.xml)" \
	"$(xmllint --xpath 'count(//*[local-name()="event"])' on.xml)" "each of it"
like "$(xmllint --xpath 'string(//*[local-name()="event"][last()]/*[local-name()="name"])' on.xml)" 'spi:tree\(baz;exec=x&y\)' "the last is what instruments"
"$SPI_LTTNG" --mi xml enable-event --spi -s ours -c channel0 -f bar >/dev/null 2>&1
"$SPI_LTTNG" --mi xml disable-event --spi -s ours --all >off.xml 2>err
is "$?$(cat err)" 0 "all of two channels"
is "$(xmllint --xpath 'count(//*[local-name()="channel"])' off.xml)" 2 "each has its events"

"$SPI_LTTNG" --mi xml disable-event --spi -s ours -f nosuch >off.xml 2>err
is "$?/$(wc -l <err)" 1/1 "no such rule: status, and one line"
is "$(xmllint --xpath 'string(//*[local-name()="command"]/*[local-name()="success"])' off.xml)" false "and in the XML"
"$SPI_LTTNG" --mi xml enable-event --spi -s nosuch -f foo >on.xml 2>err
is "$?/$(wc -l <err)" 1/1 "no such session: status, and one line"
is "$(xmllint --xpath 'string(//*[local-name()="command"]/*[local-name()="success"])' on.xml)" false "and in the XML"
tap_done
