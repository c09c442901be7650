# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Helpers of the event module's own tests: build a test program with the
# stand-in core, run sessions, read traces.

tp_dir=$SPI_TOP_SRCDIR/tests/tp
# shellcheck source=/dev/null
. "$SPI_TOP_SRCDIR/tests/lib/tap.sh"
# shellcheck source=/dev/null
. "$SPI_TOP_SRCDIR/tests/lib/private.sh"
export SPI_TP_MODULE=${SPI_TP_MODULE:-$SPI_TOP_BUILDDIR/tp/.libs/liblttng-spi-tp.so}

# tp_program NAME [GCC-OPTION...] - NAME.c with the stand-in core, as $SPI_TMP/NAME
tp_program() {
	local name=$1
	shift
	gcc -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -rdynamic -I"$SPI_TOP_SRCDIR" -I"$tp_dir" \
		-o "$SPI_TMP/$name" "$tp_dir/$name.c" "$tp_dir/host.c" "$@" -ldl -lpthread ||
		{ echo "Bail out! $name does not compile"; exit 1; }
}

# session NAME [EVENT...] - created in $SPI_TMP/trace-NAME, vpid and vtid contexts, started
session() {
	local name=$1 event
	shift
	lttng -q create "$name" --output="$SPI_TMP/trace-$name" || return 1
	[ -n "${CHANNEL:-}" ] && lttng -q enable-channel -u -s "$name" ch ${CHANNEL}
	for event in "$@"; do
		lttng -q enable-event -u -s "$name" ${CHANNEL:+-c ch} "$event" || return 1
	done
	[ -n "${NO_START:-}" ] || lttng -q start "$name"
}

# events NAME - the trace as text, one event a line, without the time; the session is destroyed
events() {
	lttng -q destroy "$1" >/dev/null
	babeltrace2 --no-delta "$SPI_TMP/trace-$1" 2>"$SPI_TMP/$1.bt2" | sed 's/^\[[^]]*\] [^ ]* //'
	[ ! -s "$SPI_TMP/$1.bt2" ] || diag "$(head -n 5 "$SPI_TMP/$1.bt2")"
}
