#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng-spi calls` of typed events: arguments and results, how a call ended, nesting, filters, JSON; whole-call events,
# backtraces; and the same calls whichever way they were recorded.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
PATH=$SPI_TOP_BUILDDIR/reader:$PATH
spi_cc shop views-shop.cc -O1

# lines DIR [OPTION...] - without times and threads
lines() { lttng-spi calls "$@" | sed 's/^[0-9:.]* \[[0-9]*\] //; s/ *<[0-9.]* [mu]*s>$//'; }
functions() { lttng-spi calls --format json "$@" | python3 -c '
import json, sys
for line in sys.stdin:
	call = json.loads(line)
	if call["kind"] != "exit": print(call["function"])'; }

spi_trace -f 'shop::*' -o typed ./shop >out
is "$(lines typed)" "$(cat <<'END'
shop::pay(amount = -3, kind = Card, who = "ann \"a\" \\ \x1b[31m")
  shop::tax(amount = -3, rate = 0.19) = -0.5700000000000001
  shop::find(name = "ann") = 0x0
shop::pay = -1
shop::check(n = 3)
  shop::fail(n = 3) exception
shop::check = 0
shop::jumps()
  shop::jump(n = 2)
    shop::jump(n = 1)
      shop::jump(n = 0) longjmp
    shop::jump longjmp
  shop::jump longjmp
shop::jumps returns
shop::pay(amount = 7, kind = Cash, who = "bob")
  shop::tax(amount = 7, rate = 0.19) = 1.33
  shop::find(name = "bob") = 0x1
shop::pay = 8
END
)" 'calls as people read them' || lines typed | sed 's/^/# /'
is "$(lttng-spi calls typed | grep -cvE '^[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{6} \[[0-9]+\] ')" 0 'each line has its time and its thread'
is "$(lttng-spi calls typed | grep -cE '<[0-9]+\.[0-9]+ (us|ms|s)>$')" "$(lttng-spi calls --format json typed | grep -c '"exit"')" \
	'each end has its duration'

# ---- JSON ----
check 'JSON: an object a line, with values of their types' python3 - "$(lttng-spi calls --format json typed | tee json | head -1)" <<'END'
import json, sys
first = json.loads(sys.argv[1])
assert first['kind'] == 'entry' and first['function'] == 'shop::pay' and first['depth'] == 0, first
assert first['arguments'] == {'amount': -3, 'kind': 'Card', 'who': 'ann "a" \\ \x1b[31m'}, first
calls = [json.loads(line) for line in open('json')]
entries = {c['call']: c for c in calls if c['kind'] == 'entry'}
exits = [c for c in calls if c['kind'] == 'exit']
assert len(entries) == len(exits)
for c in exits:
    assert c['time'] - entries[c['call']]['time'] == c['duration'] and 0 <= c['self'] <= c['duration'], c
assert [c['left'] for c in exits if 'left' in c] == ['exception'] + ['longjmp'] * 3
assert [c['result'] for c in exits if c['function'] == 'shop::pay'] == [-1, 8]
END

# ---- filters ----
is "$(functions typed --function '*::tax' | sort | uniq -c | awk '{ print $1, $2 }')" '2 shop::tax' '--function'
is "$(functions typed --caller shop::pay | sort -u | tr '\n' ' ')" 'shop::find shop::tax ' '--caller'
is "$(functions typed --depth 1 | sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ' ')" '1 shop::check 1 shop::jumps 2 shop::pay ' '--depth'
is "$(functions typed --error | tr '\n' ' ')" \
	'shop::pay shop::find shop::fail shop::jump shop::jump shop::jump ' '--error: negative, null, exception, longjmp'
is "$(functions typed --error --depth 1 | tr '\n' ' ')" 'shop::pay shop::fail shop::jump ' '--error --depth: the outermost of these'
is "$(functions typed --process shop --thread "$(lttng-spi calls typed | sed -n '1s/.*\[\([0-9]*\)\].*/\1/p')" | wc -l)" \
	"$(functions typed | wc -l)" '--process, --thread: all are of one'
is "$(functions typed --process nobody 2>/dev/null | wc -l)" 0 '--process: none'
middle=$(lttng-spi calls typed | sed -n '/shop::check/{s/ .*//p;q}')
is "$(functions typed --to "$middle" --function shop::pay | wc -l) $(functions typed --from "$middle" --function shop::pay | wc -l)" '1 1' \
	'--from, --to'

# ---- other ways of recording ----
spi_trace -f 'shop::*' --one-event -o whole ./shop >/dev/null
is "$(lines whole | grep -v jump)" "$(cat <<'END'
shop::tax(amount = -3, rate = 0.19) = -0.5700000000000001
shop::find(name = "ann") = 0x0
shop::pay(amount = -3, kind = Card, who = "ann \"a\" \\ \x1b[31m") = -1
shop::fail(n = 3) exception
shop::check(n = 3) = 0
shop::tax(amount = 7, rate = 0.19) = 1.33
shop::find(name = "bob") = 0x1
shop::pay(amount = 7, kind = Cash, who = "bob") = 8
END
)" 'one event a call: as they end' || lines whole | sed 's/^/# /'
spi_trace --tree=main --lib shop -o plain ./shop >/dev/null
spi_trace --tree=main --lib shop --compact -o compact ./shop >/dev/null
lines plain >plain.lines
lines compact >compact.lines
same_file compact.lines plain.lines 'compact records and plain events of a tree are the same calls'
like "$(lttng-spi calls --caller shop::pay whole 2>&1)" 'do not say what is around them' 'whole-call events and --caller: it is said'
grep -o 'shop::[a-z]*' plain.lines >plain.names
lines typed | grep -o '^ *shop::[a-z]*' | tr -d ' ' >typed.names
same_file plain.names typed.names 'and so are typed events'
for dir in typed whole; do
	is "$(lttng-spi flame --folded --function shop::pay $dir | awk '{ sum += $2 } END { print sum }')" \
		"$(lttng-spi report --format csv --function shop::pay $dir | awk -F, 'NR > 1 { print $5 }')" "$dir: self time is the same in each view"
done
for view in 'report --by function' graph; do
	for dir in typed whole; do
		# shellcheck disable=SC2086
		lttng-spi $view --format json $dir | grep -o '"\(name\|function\)":"[^"]*"\|"calls":[0-9]*' >"$dir.view"
		sort -o "$dir.view" "$dir.view"
	done
	same_file whole.view typed.view "$view: whole-call events are nested and counted as entries and exits"
done
spi_trace -f shop::tax --backtrace=2 -o traced ./shop >/dev/null
is "$(lttng-spi calls traced | sed -n '2,3s/+0x[0-9a-f]*//p' | head -2)" \
	"$(printf '%16sby %s\n' '' 'shop::pay(int, shop::Kind, char const*) [shop]' '' 'main [shop]')" 'a backtrace stands below its entry'
spi_trace -f till::name_of -o texts ./shop >/dev/null
is "$(lines texts --error)" 'till::name_of(n = 0) = "(null)"' '--error: a text that is a null pointer'
cp shop $'s\e[31m\xc2\x9bp'
spi_trace --tree=main --lib 's*p' -o 'escapes' $'./s\e[31m\xc2\x9bp' >/dev/null
for view in report 'report --by process' info graph; do
	# shellcheck disable=SC2086
	lttng-spi $view escapes >view
	is "$(LC_ALL=C grep -acP '\x1b|\xc2\x9b' view) $(grep -qa 's?\[31m?' view && echo there)" '0 there' \
		"$view: a terminal obeys no name of a program"
done
# ---- babeltrace2's own graphs ----
sink() { babeltrace2 --plugin-path="$SPI_TOP_BUILDDIR/bt2/.libs" "$@"; }
same_file <(sink typed --component=s:sink.lttng-spi.calls) <(lttng-spi calls typed) 'sink.lttng-spi.calls prints the same'
same_file <(sink compact --component=s:sink.lttng-spi.report --params='by="object",format="csv"') \
	<(lttng-spi report --by object --format csv compact) 'sink.lttng-spi.report prints the same'
sink typed --component=s:sink.lttng-spi.report --params='by="colour"' >out 2>err
check 'a bad parameter is refused' test $? != 0
check 'and it says which values there are' grep -q 'by is function, object, thread, process or caller' err
tap_done
