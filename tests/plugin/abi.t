#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Rules are seen by name with each version of the protocol between the session
# daemon and applications: up to lttng 2.14 (8), and from 2.15 on (11); whatever the
# library's name, whether its symbols have versions, and however the daemon binds them.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
mkdir run
export FAKE_BROKER=none

# daemon_build SONAME [OPTION...] - a library of that name, with versions where the name has a 6, and a daemon that uses it
daemon_build() {
	local soname=$1
	local -a versions=()
	shift
	rm -f liblttng-ust-ctl.so*
	echo 'LTTNG_UST_CTL_6 { global: *; };' >versions.map
	[[ $soname != *.6 ]] || versions=(-Wl,--version-script=versions.map)
	spi_cc "$soname" "$SPI_PROGRAMS/abi-daemon.c" -DLIBRARY -shared -fPIC -Wl,-soname,"$soname" "${versions[@]}"
	ln -s "$soname" liblttng-ust-ctl.so
	spi_cc abi-daemon "$SPI_PROGRAMS/abi-daemon.c" -L. -Wl,-rpath,"$PWD" -llttng-ust-ctl "$@"
}

daemon_build liblttng-ust-ctl.so.5
for version in 8 11; do
	: >broker.log
	rm -rf in run/*
	mkfifo in
	[ "$version" = 8 ] || daemon_build liblttng-ust-ctl.so.6 -fno-plt -Wl,-z,lazy
	LD_PRELOAD=$SPI_PLUGIN_DIR/.libs/lttng-spi-sessiond.so ./abi-daemon "$PWD/run" "$version" <in &
	exec 9>in
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
