#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A rule of a session for more functions than LTTng carries events of: the first 8 000 are recorded, each by its own
# events; the others are named with the reason, and left as they are. Off and on again is the same.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
n=8200
{
	echo '#include <stdio.h>'
	for ((i = 0; i < n; i++)); do
		echo "__attribute__((noinline)) int fun_$i(int a) { return a + $i; }"
	done
	echo 'int main(void) { int sum = 0; puts("ready"); fflush(stdout); while (getchar() != EOF) {'
	for ((i = 0; i < n; i++)); do echo "sum += fun_$i(sum & 1);"; done
	echo 'printf("%d\n", sum); fflush(stdout); sum = 0; } return 0; }'
} >many.c
gcc -O0 -o many many.c -Wl,--no-as-needed -llttng-ust
export LTTNG_UST_REGISTER_TIMEOUT=-1
export LTTNG_APP_SOCKET_TIMEOUT=60	# of the daemon: all events are one answer
broker_daemon
lttng_ok create s --output="$SPI_TMP/s"
lttng_ok enable-channel -u -s s c --subbuf-size 4M --num-subbuf 8
lttng_ok enable-event -u -s s -c c 'spi:fun_*'
lttng_ok start s
app_start a ./many
in=$app_in
check "8 000 functions are instrumented, the others not" spi_wait 30 status_like "^applied.$app_pid.fun_\*.active.$n.8000.200"
like "$(status declined "$app_pid")" 'fun_[0-9]*.beyond the 8 000 functions of one rule' "these are named, with the reason"
like "$(status message "$app_pid")" "$n functions match 'fun_\*': only the first 8000 are recorded" "and it is said in one line"
app_call "$in" 1 a.out
lttng_ok disable-event -u -s s -c c 'spi:fun_*'
check "off" spi_wait 10 status_like "^process.$app_pid.0.idle"
app_call "$in" 1 a.out
lttng_ok enable-event -u -s s -c c 'spi:fun_*'
check "on again" spi_wait 10 status_like "^applied.$app_pid.fun_\*.active.8000.8000.0"
app_call "$in" 1 a.out
exec {in}>&-
wait "$app_pid"
is $? 0 "the program ends as ever"
is "$(tail -n +2 a.out | sort -u | wc -l)" 1 "with the same results"
lttng_ok destroy s
babeltrace2 s 2>/dev/null | grep -o 'spi:fun_[0-9]*_[a-z]*' | sort | uniq -c | awk '{ n[$1]++ } END { for (k in n) print k, n[k] }' >counts
is "$(cat counts)" "2 16000" "each of them is recorded, twice"
tap_done
