#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 90
#
# One user's processes make each injection look for a safe moment for as long as it may: another user's program that
# starts meanwhile has root's rules from its first call on.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
[ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ] || skip_all "needs several users: root"
broker_setup
cat >unsafe.c <<'C'
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <unistd.h>

/* The loader's lock is held. */
static int stay(struct dl_phdr_info *info, size_t size, void *data)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
__attribute__((noipa)) int stay_there(void) { return dl_iterate_phdr(stay, NULL); }
int main(void) { return stay_there(); }
C
spi_cc unsafe unsafe.c
cores=$(getconf _NPROCESSORS_ONLN)
places=$((cores < 2 ? 4 : cores > 8 ? 16 : 2 * cores))
user_prefix 1
stuck=()
for ((i = 0; i < 3 * places; i++)); do
	"${user[@]}" ./unsafe >"unsafe.$i" &
	stuck+=($!)
done
for ((i = 0; i < 3 * places; i++)); do spi_wait 10 file_has "unsafe.$i" ready; done
record s 'spi:add_entry' 'spi:call(stay_there;exec=unsafe)'
waiting() { [ "$(status process | grep -c '.waiting.unsafe')" -ge "$1" ]; }
check "injections into one user's processes are under way, and wait" spi_wait 10 waiting $((3 * places))
user_prefix 2
for round in 1 2 3 4; do "${user[@]}" ./app 5; done
check "they are still" waiting "$places"
missing=$(status process | grep 'first calls may be missing' | grep -v '.unsafe')
is "$missing" "" "nothing of another user's programs is said to be missing"
recorded s
is "$(spi_count "$SPI_TMP/s" add_entry)" 20 "each is traced from its first call on"
kill "${stuck[@]}"
tap_done
