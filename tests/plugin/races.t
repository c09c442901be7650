#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 170
#
# The plugin built with ThreadSanitizer, then AddressSanitizer, in a small daemon
# with many applications, clients and forks at once, and with a broker that
# releases, dies, or talks nonsense: every registration comes through once, in
# order, and no sanitizer has anything to say.
. "${SPI_TOP_SRCDIR:?}/tests/lib/plugin.sh"
spi_private "$@"
plugin_build
mkdir run
for sanitizer in thread address,undefined; do
	if ! echo 'int main(void) { return 0; }' | gcc -x c -fsanitize="$sanitizer" -o any - 2>cc.log; then
		skip "$sanitizer" "the compiler has it not"
		continue
	fi
	name=libplugin-${sanitizer%%,*}.so
	sources=("$SPI_TOP_SRCDIR"/spi-sessiond-plugin/{init,{base,daemon,registrations,thread,hooks}/*,broker/{queue,life}}.c
		"$SPI_TOP_SRCDIR"/rules/{kinds,options,values,target,text,writer}.c)
	# Its child runs in this memory on a stack of its own, of which no sanitizer knows.
	gcc -std=gnu11 -O1 -g -fPIC -c -D_GNU_SOURCE -I"$SPI_TOP_SRCDIR" -o spawn.o "$SPI_TOP_SRCDIR/spi-sessiond-plugin/broker/spawn.c"
	[ "$sanitizer" = thread ] && sources+=("$SPI_TOP_SRCDIR/tests/programs/units/plugin/stub-spawn.c") || sources+=(spawn.o)
	if ! gcc -std=gnu11 -O1 -g -fPIC -shared -pthread -fsanitize="$sanitizer" -D_GNU_SOURCE -I"$SPI_TOP_SRCDIR" \
		-DSPI_PKGLIBEXECDIR='"/nowhere"' -o "$name" \
		"${sources[@]}" 2>cc.log; then
		fail "$sanitizer: compiles"
		diag "$(head -n 5 cc.log)"
		continue
	fi
	stub_build -fsanitize="$sanitizer" -Wl,--no-as-needed "-l:$name"
	for mode in "all" "all delay=3" "none slow-table=2" "no-table silent" "all die" "all garbage"; do
		n=60
		[ "$mode" != "no-table silent" ] || n=6
		rm -f run/*
		: >broker.log
		FAKE_BROKER=$mode ./stub-daemon "$PWD/run" "$n" 12 clients forks >out 2>err
		is $? 0 "$sanitizer, $mode: all came through" || diag "$(head -n 3 err)"
		is "$(grep -c -e Sanitizer -e 'runtime error' err)" 0 "$sanitizer, $mode: nothing is wrong" ||
			diag "$(grep -v '^$' err | head -n 40)"
		log_counts ^START 1
		ok $? "$sanitizer, $mode: there was a broker ($(count_log ^START); held $(count_log ^HELD))"
	done
done
tap_done
