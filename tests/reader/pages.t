#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng-spi timeline`, `flame` and `flow --html`, looked at in a real browser: Debian's chromium without a window. Numbers in the
# pages are those of `lttng-spi report` and `calls`; search, zoom, clicks; light and dark; names that look like HTML; no
# calls.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
PATH=$SPI_TOP_BUILDDIR/reader:$PATH
spi_cc shop pages-shop.cc -O1

# browse PART - what tests/lib/pages.py sees
browse() {
	local how what
	timeout $((60 * SPI_PATIENCE)) python3 "$SPI_TOP_SRCDIR/tests/lib/pages.py" "$1" "$PWD" >"$1.seen" 2>"$1.err"
	is $? 0 "the browser runs: $1" || diag "$(tail -n 5 "$1.err")"
	while read -r how what; do
		[ "$how" = ok ]
		ok $? "${what%% \# *}" || diag "${what#* \# }"
	done <"$1.seen"
}

spi_trace -f 'shop::*' -f 'evil*' -o typed ./shop 3 60
lttng-spi report --format json typed >report.json
lttng-spi calls --format json typed >calls.json
check 'a page of threads over time is written' lttng-spi timeline -o typed.html typed
unlike "$(tr -d '\n' <typed.html)" "Zoë|'broken'|https?://" 'no text of the trace is in it as it is, and no address'

# ---- what is no page ----
like "$(script -qec 'lttng-spi timeline typed' /dev/null </dev/null)" 'give its file' \
	'a page is not written to a terminal'
like "$(lttng-spi timeline --size 0 typed 2>&1)" '--size 0: not a number of MB' '--size wants a number'
like "$(lttng-spi timeline --function nosuch -o empty.html typed 2>&1)" 'no call of the trace passes' \
	'no calls: it is said'

if ! command -v chromedriver >/dev/null; then
	diag 'no chromedriver: pages are not looked at'
	tap_done
	exit
fi

spi_trace -f 'shop::*' --one-event -o whole ./shop 2 40
lttng-spi report --format json whole >whole-report.json
lttng-spi calls --format json whole >whole-calls.json
lttng-spi timeline -o whole.html whole
spi_trace --tree=main --compact --lib shop -o many ./shop 2 24000
lttng-spi report --format json many >many-report.json
check '--size: a large trace in a small page' lttng-spi timeline --size 1 -o many.html many
check 'which is as small' test "$(stat -c %s many.html)" -lt 1100000
browse timeline

# ---- flame graphs: where `make pages` was possible ----
if lttng-spi flame -o flame.html typed 2>flame.err; then
	unlike "$(sed -n '/id="profile"/p' flame.html)" "Zoë|'broken'" 'flame: no text of the trace is in it as it is'
	lttng-spi flame --function nosuch -o flame-empty.html typed 2>/dev/null
	lttng-spi flame -o flame-many.html many
	browse flame
else
	like "$(cat flame.err)" 'make pages' 'a build without flame graphs says how to have them'
fi
browse dark

# ---- messages between processes ----
python3 - <<'E' | python3 "$SPI_TOP_SRCDIR/tests/lib/flow-trace.py" flow
names, at, now = ['client11', 'client12', 'server20', 'store30', 'long-name-of-a-program40'], {}, 10
print('1 client11 channel client11-server20 send tcp 127.0.0.1:40001 127.0.0.1:80 1')
print("1 store30 channel store30-server20 send pipe pipe:[9]</script><script>document.title='broken'</script> pipe:[9] 6")
print('2 server20 peer server20-store30 31 su -1 another_user 20')
def message(one, other, took):
    global now
    channel = f'{names[one]}-{names[other]}'
    position = at.get(channel, 0)
    at[channel] = position + 10
    print(now + 5, names[one], 'send', channel, position, 10, 'took=1')
    now += 5 + took
    print(now, names[other], 'recv', channel, position, 10, 'took=1')
for i in range(60):
    message(i % 2, 2, 5 + i % 7)
    message(2, 3, 900 if i == 30 else 8)
    message(3, 4, 6)
    message(3, 2, 3 + i % 5)
    message(2, i % 2, 4)
E
lttng-spi flow --json flow >flow.json
lttng-spi flow --messages --format json flow >flow-messages.json
check 'a page of messages is written' lttng-spi flow --html -o flow.html flow
unlike "$(tr -d '\n' <flow.html)" "'broken'|https?://" 'flow: no text of the trace is in it as it is, and no address'
lttng-spi flow --html --process nosuch -o flow-empty.html flow 2>/dev/null
lttng-spi timeline -o flow-timeline.html flow 2>/dev/null
browse flow
tap_done
