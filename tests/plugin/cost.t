#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What the plugin adds to the registration of an application that no rule
# concerns: nobody is held and the broker is told; in `make soak` also under 50 us, the
# difference of the medians of 3 000 registrations with and without it.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
stub_build
mkdir run
export FAKE_BROKER=none
a=$(./stub-daemon "$PWD/run" 3000 1)
rm -f run/*
b=$(LD_PRELOAD=$SPI_PLUGIN_DIR/.libs/lttng-spi-sessiond.so ./stub-daemon "$PWD/run" 3000 1)
is "$?" 0 "every one got through"
diag "recv_reg_msg: $a ns without the plugin, $b ns with it"
spi_soon "$(((b - a) / 1000))" 49 "microseconds added"
# On a slow machine the first few may come before the broker has said that there are no rules.
is "$(tail -n +20 broker.log | grep -c ^HELD)" 0 "nobody was held"
# Not of those who were gone before the broker came, or after the stub ended.
spi_wait 5 log_counts '^APP ' 2000
ok $? "the broker was told of $(count_log '^APP ')"
tap_done
