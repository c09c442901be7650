#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# The two events of a function are switched on and off by one command after the
# other while it is called all the time, alone and while another session records
# it: no exit without its entry, no entry without its exit. Who wants exits alone
# has them soon, and from main() on in programs that begin under the rule.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
export LTTNG_UST_REGISTER_TIMEOUT=-1
cat >calls.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline, noclone)) int leaf(int a) { __asm__ volatile(""); return a + 1; }
static const char *stop;

static void *work(void *data)
{
	for (int i = 0; access(stop, F_OK); i++) {
		for (int k = 0; k < 10; k++)
			leaf(i);
		nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, 0);
	}
	return data;
}

int main(int argc, char **argv)
{
	pthread_t other;

	stop = argv[argc - 1];
	leaf(7);
	puts("begun");
	fflush(stdout);
	pthread_create(&other, 0, work, 0);
	work(0);
	return pthread_join(other, 0);
}
C
spi_cc calls "$PWD/calls.c" -Wl,--no-as-needed -llttng-ust
spi_sessiond

# room NAME - a session that loses nothing, started
room() {
	quiet lttng create "$1" -o "$PWD/$1" && quiet lttng enable-channel -u --subbuf-size 4M --num-subbuf 8 c &&
		quiet lttng add-context -u -t vpid -t vtid && quiet lttng start
}
# over_and_over SESSION
over_and_over() {
	for i in 1 2 3 4 5; do
		quiet "$SPI_LTTNG" enable-event --spi -s "$1" -c c -f leaf || return 1
		spi_wait 0 false || :
		quiet "$SPI_LTTNG" disable-event --spi -s "$1" -c c -f leaf || return 1
	done
}
# whole SESSION AT-LEAST NAME
whole() {
	quiet lttng destroy "$1"
	balanced "$1" "$3"
	[ "$(spi_count "$1" leaf_entry)" -ge "$2" ]
	ok $? "and has calls ($(spi_count "$1" leaf_entry))"
}

background ./calls "$PWD/stop"
room alone
check "on and off, five times" over_and_over alone
whole alone 500 "a session by itself is balanced"
room steady
check "one that records it" "$SPI_LTTNG" enable-event --spi -s steady -c c -f leaf
room other
check "another that has it on and off" over_and_over other
whole other 500 "that is balanced"
quiet "$SPI_LTTNG" disable-event --spi -s steady -c c -f leaf
whole steady 2000 "and so is the one that went on"

room exits
quiet lttng enable-event -u -s exits -c c spi:leaf_exit
spi_wait 10 spi_status_has '^applied\t.*\tleaf\tactive\t'
ok $? "a rule for exits alone"
# what the consumer has written of them; the first ones it writes when a sub-buffer is full, so the buffers are saved
has_exits() { quiet lttng rotate exits && babeltrace2 exits 2>/dev/null | grep -qa 'spi:leaf_exit'; }
check "has them while the program runs" spi_wait 8 has_exits
touch stop
wait "$target"
background ./calls "$PWD/stop"
wait "$target"
quiet lttng destroy exits
is "$(babeltrace2 exits 2>/dev/null | grep -ac "vpid = $target, .*ret = 8 ")" 1 "a program that begins has its first call's"
is "$(babeltrace2 exits 2>/dev/null | grep -ac leaf_entry)" 0 "and no entry"
tap_done
