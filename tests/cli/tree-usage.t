#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Command lines with --tree that make no sense: status 2, one line, nothing
# started, the same words from `lttng trace` and from enable-event and
# disable-event --spi. And their help.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/rules.sh"
spi_private "$@"

# both REGEX OPTIONS... - all three commands refuse these options
both() {
	local regex=$1
	shift
	wrong 2 "$regex" trace "$@" true
	wrong 2 "$regex" enable-event --spi "$@"
	wrong 2 "$regex" disable-event --spi "$@"
}

both '--tree: ROOT is empty' --tree=
both '--depth: .0. is not a number from 1' --tree --depth 0
both '--depth: .x. is not a number' --tree --depth x
both '--depth: .1\.5. is not a number' --tree --depth=1.5
both '--depth: .-1. is not' --tree --depth=-1
both '--depth: .99999999999999999999. is not' --tree --depth 99999999999999999999
both '--depth goes with --tree' -f x --depth 3
both '--compact goes with --tree' -f x --compact
both '--exclude: .*function' --tree --exclude ''
both "--exclude: 'libc.so.6:f' names an object: give the function alone" --tree --exclude libc.so.6:f
both "--exclude: .*';'" --tree --exclude 'a;b'
both "--lib: '' is not the file name" --tree --lib ''
both "--lib: '/lib/libc.so.6' is not the file name.*behind the last /" --tree --lib /lib/libc.so.6
both '--exclude-lib: .* is not the file name' --tree --exclude-lib a/b
both '--exclude: at most 16' --tree $(printf -- '--exclude f%d ' {1..17})
both "--exclude: a pattern has at most" --tree --exclude "$(printf 'x%.0s' {1..201})"
both "--calls-of: .*function" --tree --calls-of ''
both 'the calls of single functions have no depth' --tree --calls-of f --depth 2
both "--follow: 'pipes' cannot be followed: threads, dlopen, fork and exec can" --tree --follow threads,pipes
both "--follow: '' cannot" --tree --follow ''
both "--follow: 'none' cannot" --tree --follow none,fork
both "--after: '0' is not a positive" --tree --after 0
both "--after: '-1' is not" --tree --after=-1
both "--after: '1s' is not" --tree --after 1s
both "--after: '0.0001' is not" --tree --after 0.0001
both "--on-signal: 'FOO' is not a signal: give a name such as USR1" --tree --on-signal FOO
both "--on-signal: '65' is not" --tree --on-signal 65
both "--on-signal: 'KILL' cannot be waited for" --tree --on-signal KILL
both "--on-signal: 'SIGTRAP' cannot" --tree --on-signal SIGTRAP
both "--on-signal: '32' cannot" --tree --on-signal 32
both 'after a time or on a signal, not both' --tree --after 1 --on-signal USR1
both "--budget: '0' is not a slow-down in percent" --tree --budget 0
both "--budget: '5%%' is not" --tree --budget 5%%
both "--budget: 'much' is not" --tree --budget much
both '--one-event goes with -f' --tree --one-event
wrong 2 'missing, or --tree' trace true
wrong 2 'missing, or --tree' enable-event --spi
wrong 2 'missing, or --tree' disable-event --spi
wrong 2 '--all goes with' disable-event --spi --all --tree
wrong 2 '--depth: its value is missing' trace --tree --depth
wrong 2 '-l goes with' trace -l --tree true
wrong 2 'COMMAND' trace --tree
wrong 2 'not both' trace --tree -p 1 true
wrong 2 'spi: --tree: unknown option' list --spi --tree
# Not an option's value: ROOT is behind a =.
wrong 127 'main: ' trace --tree main

for command in 'trace' 'enable-event --spi' 'disable-event --spi'; do
	# shellcheck disable=SC2086
	out=$("$SPI_LTTNG" $command --help)
	is $? 0 "$command --help: status"
	like "$out" '--tree\[=ROOT\]' "$command --help: --tree"
	# What the help promises is an option.
	[ "$command" = 'disable-event --spi' ] ||
		for option in depth exclude lib exclude-lib calls-of follow after on-signal budget compact parse-only; do
			like "$out" "--$option" "$command --help: --$option"
		done
done
tap_done
