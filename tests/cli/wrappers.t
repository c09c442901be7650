#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# COMMAND is a program that only executes another: FUNC is waited for in what it executes, also where that is another
# user's by then. What no program has had is said at the end, and by the status.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
chmod 755 "$SPI_TMP"
cat >inner.c <<'C'
#include <stdio.h>
#include <unistd.h>
__attribute__((noipa)) int inside(int a) { return a + 1; }
int main(void)
{
	int sum = 0;

	for (int i = 0; i < 7; i++)
		sum += inside(i);
	printf("%d %d\n", (int) getuid(), sum);
	return 0;
}
C
spi_cc inner "$PWD/inner.c"
cat >drop.c <<'C'
#include <grp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
/* drop UID how PROGRAM: as chpst does, or in a child, as runuser */
int main(int argc, char **argv)
{
	int uid = atoi(argv[1]), status = 0;

	if (*argv[2] == 'f' && fork())
		return wait(&status) < 0 || status;
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
		return 99;
	execv(argv[3], argv + 3);
	return 98;
}
C
spi_cc drop "$PWD/drop.c"
printf '#!/bin/sh\n./inner\n' >script && chmod +x script

# through NAME USER COMMAND... - each way to ask records the seven calls, and the output is as ever
through() {
	local name=$1 user=$2 how
	shift 2
	for how in "-f inside" "-f inner:inside" "--tree=inside"; do
		rm -rf t t.txt
		# shellcheck disable=SC2086
		spi_trace $how -o t "$@" >out
		is $? 0 "$name, $how: status" || diag "$(cat trace.err)"
		is "$(cat out)" "$user 28" "$name, $how: output"
		spi_read t
		is "$(grep -ac 'spi:inside_entry\|cyg_profile:func_entry' t.txt)" 7 "$name, $how: all calls" || diag "$(cat trace.err)"
	done
}
through env "$EUID" env A=1 ./inner
through timeout "$EUID" timeout 60 nice ./inner
through stdbuf "$EUID" stdbuf -oL ./inner
through "a script" "$EUID" ./script
through "a shell" "$EUID" sh -c 'true; ./inner'
if [ "$EUID" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ]; then
	through "another user" 61001 ./drop 61001 exec "$PWD/inner"
	through "another user's child" 61001 ./drop 61001 fork "$PWD/inner"
	mkdir -m 700 private
	XDG_RUNTIME_DIR=$SPI_TMP/private through "a private directory" 61001 ./drop 61001 exec "$PWD/inner"
	through setpriv 61002 setpriv --reuid 61002 --regid 61002 --clear-groups env "$PWD/inner"
fi

for func in nosuch inner:nosuch other:inside; do
	spi_trace -f "$func" -o "u-$func" env ./inner >out
	is $? 1 "$func, which nothing has: status"
	is "$(cat out)" "$EUID 28" "$func: the program runs"
	like "$(cat trace.err)" "Warning: $func: .*looked for in the programs" "$func: said at the beginning"
	like "$(cat trace.err)" "Error: $func: no program that ran has it" "$func: and at the end"
done
spi_trace -f nosuch -o v ./inner env >out
is "$?:$(cat out)" "1:" "a program that executes none is not started"
spi_trace -f inside --tree=inside --follow threads -o v env ./inner >out
is "$?:$(cat out)" "1:" "nor one that is not followed"
tap_done
