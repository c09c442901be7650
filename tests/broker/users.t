#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# A user's rule acts on that user's processes only, root's on everybody's.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
[ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ] || skip_all "needs several users: root"
broker_setup
for uid in 1 2; do mkdir -p "home-$uid" && chown "$uid" "home-$uid"; done

as_user 1 lttng create theirs --output="$SPI_TMP/home-1/t" >lttng.log 2>&1 &&
	as_user 1 lttng enable-event -u -s theirs 'spi:add_entry' >>lttng.log 2>&1 &&
	as_user 1 lttng start theirs >>lttng.log 2>&1 || { diag "$(cat lttng.log)"; echo "Bail out!"; exit 1; }
check "whose rule it is becomes known" spi_wait 10 status_like $'^rule\ttheirs\tchannel0\tspi:add_entry\tenabled\t1\t'

user_prefix 1
app_start own "${user[@]}" ./app 3 wait
own=$app_pid
user_prefix 2
app_start other "${user[@]}" ./app 3 wait
other=$app_pid
app_start root ./app 3 wait
root=$app_pid
check "his own process is traced" spi_wait 10 status_like "^process.$own.1.traced"
check "another's is not" status_unlike "^process.$other."
check "nor is root's" status_unlike "^process.$root."
unlike "$(cat /proc/"$other"/maps /proc/"$root"/maps)" lttng-spi "and nothing of ours is in them"

record roots 'spi:work_entry'
for pid in "$own" "$other" "$root"; do
	check "root's rule reaches everybody" spi_wait 10 status_like "^applied.$pid.work.active"
done
check "and nothing of the other rule" status_unlike "^applied.($other|$root).add."
out=$(as_user 2 /usr/bin/python3 "$SPI_TOP_SRCDIR/tests/lib/broker-status.py")
like "$out" $'\nprocess\t'"$other"$'\t' "a user sees his own process"
unlike "$out" $'process\t('"$own|$root"')' "and no other's"
unlike "$out" $'\nrule' "and no other's rules"

# One that gave root's rights up may hold what its user must not see: it takes root's own, which rules do not use
cat >gave-up.c <<'C'
#include <stdio.h>
#include <unistd.h>
int add(int a) { __asm__ volatile(""); return a + 1; }
int main(void)
{
	if (setgid(3) || setuid(3))
		return 1;
	puts("ready");
	fflush(stdout);
	return getchar() + add(0) < 0;
}
C
gcc -O1 -o gave-up gave-up.c
app_start gave ./gave-up
lttng_ok enable-event -u -s roots "spi:call(add;pid=$app_pid)"
check "one that gave root's rights up is refused, and told is what goes" spi_wait 10 \
	status_like "^process.$app_pid.3.refused.gave-up.*its user's rights alone; root can trace it with lttng trace -p $app_pid(.again)?.?$"
exec {app_in}>&-
wait "$app_pid"
is $? 0 "it ends as ever"
tap_done
