#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Rules are seen by name with each version of the protocol between the session
# daemon and applications: up to lttng 2.14 (8), and from 2.15 on (11).
. "${SPI_TOP_SRCDIR:?}/tests/plugin/lib.sh"
spi_private "$@"
plugin_build
spi_cc libabi-ust-ctl.so "$PLUGIN_TESTS/abi-daemon.c" -DLIBRARY -shared -fPIC
spi_cc abi-daemon "$PLUGIN_TESTS/abi-daemon.c" -L. -Wl,-rpath,"$PWD" -labi-ust-ctl
mkdir run
export FAKE_BROKER=none
for version in 8 11; do
	: >broker.log
	mkfifo "in.$version"
	LD_PRELOAD=$SPI_PLUGIN_DIR/.libs/lttng-spi-sessiond.so ./abi-daemon "$PWD/run" "$version" <"in.$version" &
	exec 9>"in.$version"
	spi_wait 5 log_counts '^DAEMON' 1
	echo >&9
	spi_wait 5 log_counts 'RULE_SEEN .* enabled=1 spi:of_session$' 1
	ok $? "protocol $version: a session's rule"
	spi_wait 5 log_counts 'RULE_SEEN .* enabled=1 spi:of_trigger$' 1
	ok $? "protocol $version: a trigger's"
	exec 9>&-
	wait $!
	is $? 0 "the daemon ends as it would"
done
tap_done
