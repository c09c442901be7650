#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Saved sessions, real and hostile ones, under the sanitizers.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"

# shellcheck disable=SC2046
gcc -I"$SPI_TOP_SRCDIR" -std=gnu11 -D_GNU_SOURCE -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	$(pkg-config --cflags libxml-2.0) -o xml "$SPI_TOP_SRCDIR/tests/programs/units/broker/xml.c" \
	"$SPI_TOP_SRCDIR"/broker/rules/{xml-rules,requests,ruleset}.c "$SPI_TOP_SRCDIR"/broker/base/{child,loop}.c "$SPI_TOP_SRCDIR"/injector/base/foreign-fd.c "$SPI_TOP_SRCDIR"/rules/*.c "$SPI_TOP_BUILDDIR/injector/.libs/libspi-control.a" \
	$(pkg-config --libs libxml-2.0 libseccomp) -ldw -lelf -lpthread >cc.log 2>&1 || { diag "$(cat cc.log)"; echo "Bail out!"; exit 1; }
spi_daemon
lttng_ok create s1 --output=s1
lttng_ok enable-event -u 'spi:parse_*' --exclude 'spi:parse_x*,spi:parse_y*'
lttng_ok enable-event -u 'spi:main_entry' --filter 'a > 1 && b == "x<y"'
lttng_ok track -u --vpid 100,200
lttng_ok create s2 --snapshot
lttng_ok enable-event -u -a
lttng_ok save -o "$PWD/saved"
exec timeout 60 ./xml saved/*.lttng
