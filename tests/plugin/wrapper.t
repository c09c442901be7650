#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# spi-sessiond stands for lttng-sessiond: lttng create starts it by
# LTTNG_SESSIOND_PATH; what it cannot find it names.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
sessiond=$SPI_PLUGIN_DIR/spi-sessiond
export FAKE_BROKER=none
LTTNG_SESSIOND_PATH=$sessiond lttng create s --output=s >out 2>&1
ok $? "lttng create starts it"
spi_wait 5 file_has broker.log ^DAEMON
ok $? "with the plugin"
lttng destroy -a >out 2>&1
kill "$(cat /run/lttng/lttng-sessiond.pid)"
like "$("$sessiond" --help)" '^Usage: spi-sessiond ' "help"
out=$(LTTNG_SPI_REAL_SESSIOND=/nowhere "$sessiond" 2>&1)
is $? 127 "no lttng-sessiond: status"
like "$out" '^spi-sessiond: /nowhere: No such file or directory: install lttng-tools' "no lttng-sessiond"
out=$(LTTNG_SPI_PLUGIN=/nowhere "$sessiond" 2>&1)
is $? 1 "no plugin: status"
like "$out" '^spi-sessiond: /nowhere: not found: install lttng-spi' "no plugin"
mkdir bin
cp "$sessiond" bin/lttng-sessiond
plugin=$SPI_PLUGIN_DIR/.libs/lttng-spi-sessiond.so
out=$(PATH=$PWD/bin:$PATH LTTNG_SPI_PLUGIN=$plugin bin/lttng-sessiond --version 2>&1)
is "$out" "$(lttng-sessiond --version)" "first in PATH under the real one's name: the next one runs"
is "$(LD_PRELOAD=$plugin sh -c 'echo $LD_PRELOAD')" "$plugin" "another program is left as it is"
tap_done
