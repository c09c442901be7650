#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `enable-event --spi --tree` and `disable-event --spi --tree` against a stock
# daemon: which rules and contexts they make, that they come back unchanged from
# `lttng save` and `lttng load`, and that only the tree that is meant goes.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/rules.sh"
spi_private "$@"
mkdir -m 1777 own-tmp && export TMPDIR=$PWD/own-tmp	# others may be at the same in /tmp
spi_daemon
daemon=$(cat /run/lttng/lttng-sessiond.pid)
lttng create one --output="$PWD/one" >/dev/null
spi() { "$SPI_LTTNG" "$@" >out 2>err; }
# enabled REGEX - how many enabled rules of session one have such a line: CHANNEL, NAME, true, FILTER by tabs
enabled() { rules one; awk -F '\t' '$3 == "true"' rules | grep -cP -- "$1"; }
# contexts SESSION - of all its channels
contexts() { python3 - "saved/$1.lttng" <<'PY'
import sys, xml.etree.ElementTree as tree
print(' '.join(sorted(e.text for e in tree.parse(sys.argv[1]).iter() if e.tag.rsplit('}', 1)[-1] == 'type' and e.text in
      ('VPID', 'VTID', 'IP'))))
PY
}

check "a tree" spi enable-event --spi --tree=parse_request
rules one
tag=$(grep -o '|[0-9a-f]\{8\}|' rules | head -n 1)
is "$(cut -f 2 rules | tr '\n' ' ')" "lttng_ust_cyg_profile:func_entry lttng_ust_cyg_profile:func_exit lttng_ust_lib:* lttng_ust_statedump:* spi:tree(parse_request) spi_tree:function " \
	"what records, where libraries are, what instruments"
is "$(grep -c "func_e.*\$app.spi:rules == \"\*$tag\*\"$" rules)" 2 "recorded by tag, entries and exits"
is "$(tail -n 1 out)" "ust event spi:tree(parse_request) created in channel channel0" "what instruments is made last"
like "$(cat out)" 'ust context vtid added to channel channel0' "the contexts are said"
is "$(contexts one)" "IP VPID VTID" "the contexts that readers need"
like "$(cat err)" '^Warning: the session daemon has no plugin' "a daemon without the plugin: a warning"
is "$(wc -l <err)" 1 "and nothing else"
cp rules before
check "the same again" spi enable-event --spi --tree=parse_request
like "$(cat err)" '^Warning: parse_request: enabled already' "the same again: said"
unlike "$(cat out)" . "the same again: nothing made"
rules one
same_file rules before "the same again: rules"

# Every option, in any order, and characters that LTTng keeps to itself.
check "all options" spi enable-event --spi --tree='app:ns::C::run(int, char)' --depth 8 --exclude 'std::*' --exclude 'log_[ab]*' \
	--exclude 'operator*' --lib 'libz.so*' --lib app --exclude-lib libc.so.6 --follow fork,threads --after 0.50 --budget 5% \
	--exec 'serv*' --pid 77 -c wide --filter '$ctx.vtid == 5'
name='spi:tree(app:ns::C::run%28int%2c%20char%29;depth=8;exclude=log_[ab]%2a;exclude=operator%2a;exclude=std::%2a;lib=app;lib=libz.so%2a;exclude-lib=libc.so.6;follow=threads+fork;after=0.5;budget=5;pid=77;exec=serv%2a)'
rules one
is "$(grep -cF "$(printf 'wide\t%s\ttrue' "$name")" rules)" 1 "they are in the name, in an order of their own" || diag "$(cut -f 2 rules)"
unlike "$(cut -f 2 rules)" , "no comma is left for the lttng command"
is "$(grep -cF ' && ($ctx.vtid == 5)' rules)" 1 "the filter stands at the entries"
check "in another order and spelling" spi enable-event --spi --tree='app:ns::C::run(int, char)' --budget 5.0 --depth 8 --exclude 'log_[ab]*' \
	--exclude-lib libc.so.6 --lib app --lib 'libz.so*' --exclude 'operator*' --exclude 'std::*' --exclude 'std::*' --after 0.5 \
	--follow threads+fork --pid 77 --exec 'serv*' -c wide --filter '$ctx.vtid == 5'
like "$(cat err)" 'enabled already' "in another order and spelling: the same rule"
check "compact" spi enable-event --spi --tree --compact --exec server --on-signal SIGUSR1 --parse-only -c packed
is "$(enabled '^packed\tspi_tree:\*\ttrue')" 1 "compact: its records"
is "$(enabled '^packed\tlttng_ust_cyg_profile')" 0 "compact: no others"
is "$(enabled '^packed\tspi:tree\(;on-signal=USR1;compact;parse-only;exec=server\)\ttrue')" 1 "compact: its rule"

# Stored and taken back by the stock command.
rules one
cp rules before
lttng save one --output-path="$PWD/kept" >/dev/null
lttng destroy one >/dev/null
check "lttng load" lttng load --input-path="$PWD/kept" one
rules one
same_file rules before "as it was saved"
is "$(contexts one | tr ' ' '\n' | sort -u | tr '\n' ' ')" "IP VPID VTID " "with its contexts"
lttng set-session one >/dev/null
check "made again after lttng load" spi enable-event --spi --tree=parse_request -c channel0
like "$(cat err)" 'enabled already' "it is the same rule: the same tag"
lttng disable-event -u -c packed 'spi:tree(;on-signal=USR1;compact;parse-only;exec=server)' >out 2>&1
is $? 0 "the stock command can name it" || diag "$(cat out)"
check "and enable it" lttng enable-event -u -c packed 'spi:tree(;on-signal=USR1;compact;parse-only;exec=server)'

# Only what is meant goes.
spi enable-event --spi --tree=parse_request --depth 3 -c channel0
spi enable-event --spi --tree=parse_request --exec server -c channel0
spi enable-event --spi -f parse_request -c channel0
is "$(enabled '^channel0\tlttng_ust_cyg_profile:func_entry')" 3 "three trees of one root, each with what records it"
wrong 1 'parse_request: session one has no such rule' disable-event --spi --tree=parse_request --depth 4
wrong 1 'parse_request: session one has no such rule with this scope' disable-event --spi --tree=parse_request --pid 1
wrong 1 '--tree: session one has no such rule' disable-event --spi --tree
check "by its options" spi disable-event --spi --tree=parse_request --depth 3
is "$(enabled '^channel0\tspi:tree\(parse_request;depth=3\)')" 0 "that one is gone"
is "$(enabled '^channel0\tspi:tree\(parse_request')" 2 "the others are there"
check "by its scope" spi disable-event --spi --tree=parse_request --exec server
is "$(enabled '^channel0\tspi:tree\(parse_request\)')" 1 "the one without is there"
spi enable-event --spi --tree=parse_request --depth 5 -c channel0
check "by its root" spi disable-event --spi --tree=parse_request
is "$(enabled '^channel0\tspi:tree')" 0 "all of that root and scope are gone"
is "$(enabled '^channel0\tlttng_ust_cyg_profile')" 0 "with what recorded them"
is "$(enabled '^channel0\tspi:parse_request_')" 2 "the function's own rule is not"
is "$(enabled '^channel0\tlttng_ust_statedump')" 1 "nor where libraries are"
is "$(enabled '^wide\tspi:tree')" 1 "nor another channel's tree"
check "a compact one" spi disable-event --spi --tree --exec server
is "$(enabled '^packed\tspi')" 0 "it goes with its records"
check "--all" spi disable-event --spi --all
is "$(enabled 'spi:(tree|call|rules)')" 0 "--all: trees and what records them"
is "$(enabled 'lttng_ust_statedump')" 3 "--all: nothing of others"

# What a wrong command leaves behind is nothing.
lttng create two --output="$PWD/two" >/dev/null
wrong 1 '--tree: means the calls of every program.*ROOT' enable-event --spi --tree
wrong 1 '\*: means the calls of every program' enable-event --spi --tree='*'
wrong 1 '--tree: means the calls' enable-event --spi --tree --exec '*'
wrong 1 'parse: a call tree has no results' enable-event --spi --tree=parse --filter 'ret > 0'
wrong 1 'parse: .*does not go with compact' enable-event --spi --tree=parse --compact --filter 'addr > 0'
wrong 1 'parse: too long for the name of an event rule.*fewer patterns' enable-event --spi --tree=parse \
	--exclude "$(printf 'x%.0s' {1..150})" --exclude "$(printf 'y%.0s' {1..150})"
wrong 1 'too long' enable-event --spi -f good --tree="$(printf 'x%.0s' {1..300})"
rules two
is "$(wc -l <rules)" 0 "nothing was made by any of them"
# A session that was started takes no more contexts: the rules are made, and it is said.
lttng enable-channel -u late >/dev/null
lttng start >/dev/null
check "in a session that was started" spi enable-event --spi --tree=parse -c late
like "$(cat err)" '^Warning: channel late: without the contexts' "in a session that was started: said"
lttng stop >/dev/null
lttng create ready --output="$SPI_TMP/ready" >/dev/null
lttng enable-channel -u good >/dev/null
lttng add-context -u -c good -t vpid -t vtid -t ip >/dev/null
lttng start >/dev/null
check "in one whose channel has them" spi enable-event --spi --tree=parse -c good
is "$(grep -c contexts err)" 0 "in one whose channel has them: nothing to say of them"
lttng destroy ready >/dev/null
is "$(ls -d "$TMPDIR"/lttng-rules-* 2>/dev/null)" "" "no directory is left"
check "the daemon lives" kill -0 "$daemon"
tap_done
