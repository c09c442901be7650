# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# installed_copy - `make install` onto an empty prefix that only this test sees, out of a copy of the build tree that only
# this test sees: libtool links the libraries again for their new place, and has them gone from the tree for a moment, in
# which other tests would fail. The prefix is in $prefix.

installed_copy() {
	prefix=$(sed -n 's/^prefix = //p' "$SPI_TOP_BUILDDIR/Makefile" 2>/dev/null)
	[ "${SPI_OUTER_UID:-0}" = 0 ] && [ -d "$prefix" ] && [ "$prefix" != /usr ] ||
		skip_all "needs root and a prefix of its own, not '$prefix'"
	mount -t tmpfs tmpfs "$prefix" || skip_all "cannot mount over $prefix"
	cp -a "$SPI_TOP_BUILDDIR" tree && mount --bind tree "$SPI_TOP_BUILDDIR" || skip_all "cannot mount over $SPI_TOP_BUILDDIR"
	check "make install" make -s -C "$SPI_TOP_BUILDDIR" install
}
