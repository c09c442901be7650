#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# -o DIR: which directories are taken, what is in them afterwards; and the
# summary: counts, and every function that is not instrumented with its reason.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c

spi_trace -f t_leaf -o deep/er/ ./zoo leaf 10 >trace.out
is $? 0 "a directory whose parents are missing, with a slash at its end"
is "$(spi_count deep/er t_leaf_entry)" 10 "its events"
like "$(cat trace.err)" "^Trace directory: $PWD/deep/er"$'\n' "said as an absolute path"
like "$(cat trace.err)" 'Events recorded: 20 \(10 entries, 10 exits\); lost: 0' "events counted"
like "$(cat trace.err)" 'Functions instrumented: 1; not instrumented: 0' "functions counted"
mkdir empty sub
(cd sub && spi_trace -f t_leaf -o ../beside ./../zoo leaf 10 >../trace.out)
is "$?, $(spi_count beside t_leaf_entry)" "0, 10" "a directory beside this one"
like "$(cat trace.err)" "^Trace directory: $PWD/beside"$'\n' "said without the way there"
spi_trace -f t_leaf --one-event -o empty ./zoo leaf 10 >trace.out
is $? 0 "an empty directory"
like "$(cat trace.err)" 'Events recorded: 10; lost: 0' "one event a call, counted"
like "$(babeltrace2 empty | tail -n 1)" 'duration = [0-9]+' "and recorded"

# Functions that cannot be instrumented.
spi_trace -f 'libc.so.6:*' -o libc ./zoo leaf 10 >trace.out
is $? 0 "all of libc"
is "$(cat trace.out)" "count t_leaf 10" "all of libc: the output"
like "$(cat libc/not-instrumented.txt)" $'libc\\.so\\.6:_?setjmp\treturns twice' "not-instrumented.txt: object, name, reason"
unlike "$(cut -f2 libc/not-instrumented.txt | sort -u)" $'(^|\n)(\n|$)' "each has a reason"
is "$(sort -u libc/not-instrumented.txt | wc -l)" "$(wc -l <libc/not-instrumented.txt)" "each once"
like "$(cat trace.err)" "not instrumented: $(wc -l <libc/not-instrumented.txt)" "the summary counts the same"
shown=$(grep -o 'libc\.so\.6:' trace.err | wc -l)
total=$(wc -l <libc/not-instrumented.txt)
if [ "$total" -gt 20 ]; then
	is "$shown" 20 "twenty are named"
	like "$(cat trace.err)" "all $total are named in $PWD/libc/not-instrumented.txt" "and where the rest is"
else
	is "$shown" "$total" "all are named"
	pass "and nothing is left out"
fi
check "babeltrace2 passes over the file" sh -c 'babeltrace2 libc >/dev/null'
spi_trace -v -f 'libc.so.6:*' -o libc2 ./zoo leaf 10 >trace.out
is "$(grep -o 'libc\.so\.6:' trace.err | wc -l)" "$(wc -l <libc2/not-instrumented.txt)" "--verbose names all"

# Sub-buffers as asked for.
spi_trace -f t_leaf --subbuf-size 64K --num-subbuf 2 -o small ./zoo leaf 10 >trace.out
is $? 0 "buffers of a size that was asked for"
is "$(spi_count small t_leaf_exit)" 10 "small buffers: events"

# Strings.
cat >say.c <<'EOF'
__attribute__((noinline)) int say(const char *s) { __asm__ volatile("" :: "r"(s)); return 1; }
int main(void) { return say("0123456789abcdefghijklmnopqrstuvwxyz") - 1; }
EOF
spi_cc say say.c
spi_trace -f say -o long ./say && spi_trace -f say --string-max 16 -o short ./say
is $? 0 "--string-max"
like "$(babeltrace2 long)" 's = "0123456789abcdefghijklmnopqrstuvwxyz"' "a string, whole"
like "$(babeltrace2 short)" 's = "0123456789[a-z]*\.*"' "a string, cut"
unlike "$(babeltrace2 short)" 'uvwxyz' "a string, cut: not more"

# Another user: a daemon of his own, and no files of anybody else.
if [ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ]; then
	mkdir -m 777 other
	user=(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$PWD/other" LTTNG_HOME="$PWD/other" XDG_CACHE_HOME="$PWD/other")
	"${user[@]}" "$SPI_LTTNG" trace -f t_leaf -o other/t ./zoo leaf 10 >trace.out 2>trace.err
	is "$?/$(babeltrace2 other/t | grep -c 't_leaf_entry')" 0/10 "another user" || diag "$(cat trace.err)"
	"${user[@]}" "$SPI_LTTNG" trace -f t_leaf ./zoo leaf 10 >trace.out 2>trace.err
	is "$?/$(grep -ac 't_leaf_entry' trace.out)" 0/10 "another user, live" || diag "$(cat trace.err)"
	"${user[@]}" "$SPI_LTTNG" trace -f t_leaf -o deep/no ./zoo leaf >trace.out 2>trace.err
	is "$?/$(cat trace.out)" 1/ "a directory he must not write to"
	like "$(cat trace.err)" '^Error: deep/no: cannot record there: Permission denied$' "said"
fi
# Standard streams that are closed do not become sockets of ours.
"$SPI_LTTNG" trace -f t_leaf -o closed ./zoo leaf 10 <&- >trace.out 2>&-
is "$?/$(cat trace.out)" "0/count t_leaf 10" "stdin and stderr closed"
is "$(spi_count closed t_leaf_exit)" 10 "stdin and stderr closed: events"
tap_done
