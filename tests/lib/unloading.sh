# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# For the tests of programs that load and unload libraries all the time: ./unloading (programs/unloading.c), and its three libraries.

. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"

unloading_build() {
	local source=$SPI_PROGRAMS/unloading.c i

	for i in 1 2 3; do
		gcc -O2 -shared -fPIC -DLIBRARY -o libunloading-$i.so "$source" || exit 1
	done
	gcc -O2 -pthread -o unloading "$source" || exit 1
}
