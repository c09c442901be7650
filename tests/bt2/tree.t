#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A call tree with compact records, expanded, is the plain one's: in each thread
# the same entries and exits of the same functions from the same call sites. With
# tail calls, and libraries followed.
. "${SPI_TOP_SRCDIR:?}/tests/bt2/expand.sh"
spi_private "$@"
spi_daemon
spi_cc ways "$SPI_TOP_SRCDIR/tests/bt2/ways.cc"
for way in 'nest 100' 'throw 50' 'jump 50' 'thread 30' 'ending' 'signal 50' 'exit'; do
	read -r name n <<<"$way"
	./ways $way >"$name.alone"
	alone=$?
	# of threads, which of them does what in libc is a matter of chance
	only=
	case $name in thread|ending) only=';lib=ways' ;; esac
	# the same addresses in both runs
	BEFORE='setarch -R' record "$name-plain" "tree(main$only)" ./ways $way
	BEFORE='setarch -R' record "$name" "tree(main$only;compact)" ./ways $way
	is "$?" "$alone" "$name: exit status"
	same_file "$name.out" "$name.alone" "$name: output"
	expand "$name"
	expand "$name-plain"
	check "$name: the same calls in each thread" python3 "$compare" sequences "$name-plain.expanded" "$name.expanded"
	check "$name: balanced" python3 "$compare" balance "$name.expanded"
	is "$(cat "$name.warn")" "" "$name: nothing missing"
done
tap_done
