# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# For the tests of payloads: payload files built as a user builds them, and the ways in which they come into a program.

. "${BASH_SOURCE[0]%/*}/trace.sh"

SPI_LIBRARY=$SPI_TOP_BUILDDIR/liblttng-spi/.libs
export LTTNG_SPI_CODEMAP=$SPI_CODEMAP

# payload_cc OUTPUT SOURCE [OPTION...] - a payload file; SOURCE is looked up in programs/, then in doc/examples/
payload_cc() {
	local out=$1 source=$SPI_PROGRAMS/$2 compiler=gcc
	shift 2
	[ -e "$source" ] || source=$SPI_TOP_SRCDIR/doc/examples/${source##*/}
	case $source in *.cc) compiler=g++ ;; esac
	"$compiler" -O2 -g -Wall -Wextra -Werror -shared -fPIC "$source" -o "$out" -I"$SPI_TOP_SRCDIR/include" -L"$SPI_LIBRARY" \
		-llttng-spi -Wl,-rpath,"$SPI_LIBRARY" "$@" 2>"$SPI_TMP/cc.log" ||
		{ diag "$(cat "$SPI_TMP/cc.log")"; echo "Bail out! $source does not compile"; exit 1; }
}

# spi_private gives each test a directory that this user alone can write to, as payload files need.
