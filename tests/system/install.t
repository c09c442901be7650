#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# An installed copy works like the build tree: `make install` onto an empty
# prefix that only this test sees, out of a copy of the build tree that only
# this test sees: libtool links the libraries again for their new place, and
# has them gone from the tree for a moment, in which other tests would fail.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
prefix=$(sed -n 's/^prefix = //p' "$SPI_TOP_BUILDDIR/Makefile" 2>/dev/null)
[ "${SPI_OUTER_UID:-0}" = 0 ] && [ -d "$prefix" ] && [ "$prefix" != /usr ] ||
	skip_all "needs root and a prefix of its own, not '$prefix'"
mount -t tmpfs tmpfs "$prefix" || skip_all "cannot mount over $prefix"
cp -a "$SPI_TOP_BUILDDIR" tree && mount --bind tree "$SPI_TOP_BUILDDIR" || skip_all "cannot mount over $SPI_TOP_BUILDDIR"
spi_daemon
spi_cc zoo zoo.c

check "make install" make -s -C "$SPI_TOP_BUILDDIR" install
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
