#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# An installed copy works like the build tree.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/installed.sh"
spi_private "$@"
installed_copy
spi_daemon
spi_cc zoo zoo.c

for file in bin/lttng bin/spi-inject lib/liblttng-spi.so.0 lib/lttng-spi/lttng-front.so share/man/man1/lttng-trace.1 share/man/man1/spi-inject.1; do
	[ -e "$prefix/$file" ]
	ok $? "$file is installed"
done
mkdir elsewhere && cp zoo elsewhere/ && cd elsewhere || exit 1
env -u SPI_TOP_BUILDDIR -u SPI_TOP_SRCDIR PATH="$prefix/bin:$PATH" lttng trace -f t_leaf -o t ./zoo leaf 25 >out 2>err
is $? 0 "lttng trace of the installed copy" || diag "$(cat err)"
is "$(spi_count t t_leaf_entry) $(spi_count t t_leaf_exit)" "25 25" "records"
is "$(PATH="$prefix/bin:$PATH" lttng version 2>&1 | head -n 1)" "$(/usr/bin/lttng version 2>&1 | head -n 1)" \
	"any other command is the real lttng's"
tap_done
