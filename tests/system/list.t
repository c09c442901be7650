#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# lttng trace -l: what can be traced in a file and in a running process, one
# prototype a line.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc thrower thrower.cc
spi_cc zoo zoo.c

check "of a C program" sh -c '"$0" trace -l ./zoo >list.txt' "$SPI_LTTNG"
like "$(cat list.txt)" $'(^|\n)t_leaf\(long( int)? a, long( int)? b\)' "prototypes with names and types"
like "$(cat list.txt)" $'(^|\n)t_compare\((const )?void( const)? ?\* ?a, ' "pointers and qualifiers"
like "$(cat list.txt)" $'(^|\n)main\(int argc, char ?\*\* ?argv\)' "main"
check "of a C++ program" sh -c '"$0" trace -l ./thrower >list.txt' "$SPI_LTTNG"
like "$(cat list.txt)" 'zoo::Keeper::t_method\(.*int add\)' "a method, qualified"
check "of libc, whose debug info is elsewhere" sh -c '"$0" trace -l /lib/x86_64-linux-gnu/libc.so.6 >list.txt' "$SPI_LTTNG"
like "$(cat list.txt)" $'setlocale\(int category, const char ?\* ?locale\)' "typed, from libc6-dbg"
background ./thrower 0 1
check "of a process" sh -c '"$0" trace -l -p "$1" >list.txt' "$SPI_LTTNG" "$target"
like "$(cat list.txt)" 't_middle\(long( int)? i, double weight\)' "its own functions"
like "$(cat list.txt)" 'malloc\(' "and its libraries'"
finish "$target"
# What cannot be traced can be looked at, which is said; a library, which has no loader of its own either, is none of that
spi_cc static zoo.c -static
spi_cc static-pie zoo.c -static-pie -fPIE
spi_cc library.so zoo.c -shared -fPIC
for file in static static-pie; do
	check "of a $file program" sh -c '"$0" trace -l "./$1" >list.txt 2>list.err' "$SPI_LTTNG" "$file"
	like "$(cat list.txt)" $'(^|\n)t_leaf\\(long( int)? a, long( int)? b\\)' "its functions"
	like "$(cat list.err)" "^Warning: ./$file is statically linked: .*cannot be traced" "it is said that they cannot be traced"
	is "$(wc -l <list.err)" 1 "in one line"
done
for file in library.so zoo; do
	"$SPI_LTTNG" trace -l "./$file" >list.txt 2>list.err
	is "$?$(cat list.err)" 0 "nothing is said of $file"
done
tap_done
