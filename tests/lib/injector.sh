# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# For the injector's tests: its program, small targets, and a library whose
# constructor leaves a mark that can be counted.

. "${SPI_TOP_SRCDIR:?}/tests/lib/tap.sh"
. "${SPI_TOP_SRCDIR:?}/tests/lib/private.sh"

here=$SPI_TOP_SRCDIR/tests/programs
inject=${SPI_TOP_BUILDDIR:?}/injector/spi-inject
[ -x "$inject" ] || inject=$(command -v spi-inject) || skip_all "spi-inject is not built"

# build OUTPUT SOURCE [OPTION...]
build() {
	local out=$1 source=$2
	shift 2
	gcc -D_GNU_SOURCE -O1 -g -Wall -o "$out" "$here/$source" "$@" ||
		{ echo "Bail out! $source does not compile"; exit 1; }
}

# prepare - the usual target and library in $SPI_TMP; marks go to $SPI_MARKS
prepare() {
	export SPI_MARKS=$SPI_TMP/marks
	: >"$SPI_MARKS"
	chmod 666 "$SPI_MARKS"
	build target target.c "$here/target-block.c" "$here/target-compute.c" -pthread -lm
	build libmark.so mark.c -shared -fPIC
}

# marks - how many constructors have run
marks() { stat -c %s "$SPI_MARKS"; }

# start MODE [ARG...] - the target in the background: $target its pid, target.out its output, $feed its stdin
start() {
	[ -z "${feed:-}" ] || exec {feed}>&-
	rm -f feed
	mkfifo feed
	"$SPI_TMP/target" "$@" <feed >target.out 2>target.err &
	target=$!
	exec {feed}>feed
	spi_wait 10 file_has target.out '^ready' || diag "the target does not start: $(cat target.err)"
}

# is_blocked PID - its main thread waits in a system call
is_blocked() { [[ $(cut -d' ' -f1 "/proc/$1/syscall") != running ]] && grep -q '^State:.S' "/proc/$1/status"; }

# finish - let the target read end of file, and wait for it: its status
finish() {
	exec {feed}>&-
	feed=
	wait "$target"
}
