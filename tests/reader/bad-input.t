#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng-spi` with traces that are none, damaged, cut off, of another host or without their programs: one clear line, or what
# can be shown.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
PATH=$SPI_TOP_BUILDDIR/reader:$PATH
spi_cc viewed viewed.c
mkdir programs
cp viewed programs/

# refused NAME STATUS PATTERN ARGUMENTS... - one line on stderr
refused() {
	local name=$1 status=$2 pattern=$3
	shift 3
	lttng-spi "$@" >out 2>err
	is "$? $(wc -l <err)" "$status 1" "$name: status, one line" || diag "$(cat err)"
	like "$(cat err)" "$pattern" "$name: what is wrong"
}
mkdir empty
echo text >file
refused 'no directory' 1 'nowhere: No such file' report nowhere
refused 'a file' 1 'file: not a directory: name the directory' calls file
refused 'no trace' 1 'empty: no trace in it' graph empty
mkdir -p bad/ust
echo nonsense >bad/ust/metadata
refused 'metadata that is none' 1 'bad/ust: the trace cannot be read: ' report bad
refused 'no directory is named' 1 'DIR is missing.*lttng-spi report --help' report
refused 'an unknown option' 1 '--fast is no option here' report --fast file
refused 'an option without its value' 1 '--by needs a value' report --by
refused 'a bad value' 1 '--by colour: function, object' report --by colour file
refused 'a bad duration' 1 '--longer soon: not a duration' calls --longer soon file
refused 'an unknown command' 1 'draw is no command of lttng-spi' draw file
spi_trace --tree=main --subbuf-size 4096 --num-subbuf 256 -o whole ./programs/viewed threads >/dev/null
refused 'a bad time' 1 '--from yesterday: not a time' calls --from yesterday whole
refused 'a function that is not called' 1 'no call of a function of this name' graph whole nothing
refused 'filters that nothing passes' 0 'no call of the trace passes the filters' report --function nothing whole
for view in calls report graph info timeline 'flow --json' 'flow --html' 'flame --folded' 'export --chrome' 'export --speedscope' 'export --callgrind'; do
	# shellcheck disable=SC2086
	refused "$view: an output that cannot be written" 1 '/dev/full: No space left' $view -o /dev/full whole
done
lttng-spi timeline whole 2>err >&-
is "$? $(cat err)" '1 Error: stdout: Bad file descriptor' 'no output at all'
for time in 12:-5 2026-13-01T10:00 '12: 5'; do
	refused "a bad time, $time" 1 "--from $time: not a time" calls --from "$time" whole
done
refused 'a bad number of rows' 1 '--limit -1: not a number' report --limit -1 whole
if [ "$SPI_OUTER_UID" = 0 ]; then
	cp -r whole closed
	cp "$(command -v lttng-spi)" .		# the build tree may be root's alone
	chmod -R a+rX .
	chmod 700 closed/ust/uid/0/64-bit
	setpriv --reuid 65534 --clear-groups ./lttng-spi report closed 2>err
	is "$? $(cat err)" '1 Error: closed/ust/uid/0/64-bit: Permission denied' 'a directory below that may not be read'
else
	skip 'a directory below that may not be read' 'needs another user'
fi

# ---- damage ----
whole=$(lttng-spi report --format csv whole | awk -F, '$1 == "factorial" { print $3 }')
cp -r whole cut
for stream in cut/ust/uid/0/64-bit/*_[0-9]*; do
	[ "$(stat -c %s "$stream")" -lt 8192 ] || truncate -s -2048 "$stream"
done
lttng-spi report --format csv cut >cut.csv 2>err
is $? 0 'a stream that is cut off: status'
like "$(cat err)" 'the trace is damaged, what is whole is shown: cut off in the middle of a packet: spi_[0-9]' 'it is said'
check "and the table has what there is" awk -F, -v most="$whole" '$1 == "factorial" && $3 > 0 && $3 <= most { found = 1 } END { exit !found }' cut.csv

cp -r whole broken
for stream in broken/ust/uid/0/64-bit/*_[0-9]*; do
	printf '\377' | dd of="$stream" bs=1 seek=55 conv=notrunc status=none	# the content size of the first packet: negative
done
lttng-spi report broken >out 2>err
is "$?" 1 'a packet on which libbabeltrace2 ends: status'
like "$(tail -n 1 err)" '^Error: broken: the trace is damaged' 'and one line, behind those of libbabeltrace2'

# ---- without the program, as on another host ----
lttng-spi calls whole >before
mv programs gone
lttng-spi calls whole >after 2>err
same_file after before 'the program is gone: the same calls, with names'

# ---- no contexts: threads are not told apart ----
lttng create bare -o "$PWD/bare" >/dev/null
lttng enable-event -u 'spi:twice*' >/dev/null
lttng start >/dev/null
"${SPI_ALONE[@]}" LTTNG_SPI_RULES=viewed:twice ./gone/viewed threads
lttng stop >/dev/null
lttng destroy >/dev/null
lttng-spi report --format csv bare >bare.csv 2>err
is "$(awk -F, '$1 == "twice" { print $3 }' bare.csv)" 20 'without vtid: the calls are counted'
like "$(cat err)" 'no context vtid.*lttng add-context -u -t vpid -t vtid' 'and it is said'
tap_done
