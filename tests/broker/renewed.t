#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# A daemon that gives root's rights up is traced as before, and as the user that it becomes: what it loads then, and rules that come then.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
[ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ] || skip_all "needs several users: root"
broker_setup
spi_cc becomes "$SPI_PROGRAMS/renewed.c" -Wl,--no-as-needed -llttng-ust -ldl
echo 'int step_late(int n) { __asm__ volatile("" ::: "memory"); return n; }' >late.c
gcc -g -O1 -shared -fPIC -o liblate.so late.c
chmod 755 . liblate.so

# follow NAME PROGRAM [temporary] - its steps, with a rule that comes after it has become the user
follow() {
	local name=$1 program=$2 how=${3:-}
	record "$name" spi:step_root_entry spi:step_late_entry
	app_start "$name" "./$program" "$PWD/liblate.so" 2001 $how
	check "$name: its rules are in force" spi_wait 10 status_like "^applied.$app_pid.step_root.active"
	echo >&"$app_in"
	spi_wait 10 file_has "$name.out" became || diag "$(cat "$name.out" "$name.err")"
	lttng_ok enable-event -u -s "$name" spi:step_user_entry
	[ -n "$how" ] || check "$name: so is one that comes when it is another user" spi_wait 10 status_like "^applied.$app_pid.step_user.active"
	echo >&"$app_in"
	spi_wait 10 file_has "$name.out" called
	like "$(cat "$name.out")" 'sum 495[0-9]' "$name: it runs as ever"
	is "$(grep -c lttng-spi "/proc/$app_pid/task/"*/comm | grep -c ':1$')" 1 "$name: with one control thread"
	echo >&"$app_in"
	exec {app_in}>&-
	wait "$!" 2>/dev/null || :
	recorded "$name"
	is "$(spi_count "$SPI_TMP/$name" step_root_entry) $(spi_count "$SPI_TMP/$name" step_late_entry)" "1 100" \
		"$name: what it called before, and all that it called in what it loaded as that user" || diag "$(status | tail -n 20)"
	is "$(status | grep -c not\ analysed)" 0 "$name: nothing was refused"
}
follow daemon becomes
follow temporary becomes temporary
tap_done
