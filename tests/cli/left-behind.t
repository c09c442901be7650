#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# What `lttng trace` has in the directory for temporary files goes when it ends; what one that was killed has left there goes
# with the next that ends, and nobody's who lives.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >waits.c <<'E2'
#include <stdio.h>
static __attribute__((noipa)) int work(int n) { return n + 1; }
int main(void) { printf("%d\n", work(1)); fflush(stdout); getchar(); return work(2) != 3; }
E2
spi_cc waits waits.c
mkdir xdg; chmod 711 xdg	# root makes none where other users cannot get to: what COMMAND executes as one of them connects there
export XDG_RUNTIME_DIR=$SPI_TMP/xdg
mkfifo killed.in lives.in
there() { (cd xdg && echo lttng-spi-*); }
count_is() { [ "$(there | wc -w)" = "$1" ] && [ "$(there)" != 'lttng-spi-*' ]; }

"$SPI_LTTNG" trace -f work -o killed ./waits <killed.in >killed.out 2>killed.err & killed=$!
exec 8>killed.in
spi_wait 20 file_has killed.out 2
left=$(there)
program=$(cat "/proc/$killed/task/$killed/children")
{ kill -9 "$killed" && wait "$killed"; } 2>/dev/null
exec 8>&-
for pid in $program; do spi_wait 10 test ! -e "/proc/$pid"; done
is "$(there)" "$left" "one that is killed leaves it"

"$SPI_LTTNG" trace -f work -o lives ./waits <lives.in >lives.out 2>lives.err & lives=$!
exec 8>lives.in
spi_wait 20 file_has lives.out 2
spi_wait 5 count_is 2
ok $? "one that lives has its own" || diag "$(there)"
touch -d '1 minute ago' xdg/lttng-spi-*
"$SPI_LTTNG" trace -f work -o short ./waits </dev/null >short.out 2>short.err
is $? 0 "a third ends"
check "what the killed one had is gone" test ! -e "xdg/$left"
spi_wait 5 count_is 1
ok $? "the living one has its own still" || diag "$(there)"
exec 8>&-
wait "$lives"
is $? 0 "and goes on with it"
is "$(babeltrace2 lives | grep -c ' spi:work_entry')" 2 "all calls are recorded"
is "$(there)" 'lttng-spi-*' "nothing is left"
tap_done
