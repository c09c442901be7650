#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 90
#
# A program that a traced one executes has the agent already, and the broker attaches to it while it registers. When its
# registration is let go before its rules are in force, as on a machine that stands still for a while, it waits for them
# all the same: each call from its first one on is recorded.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
export LTTNG_SPI_HOLD_MS=1
spi_sessiond
cat >spawner.c <<'C'
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
__attribute__((noipa)) int short_work(int a) { return a + 1; }
__attribute__((noipa)) int spawn_one(char *self)
{
	char *words[] = { self, "child", NULL };
	int status = -1;
	pid_t child;

	if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ))
		return 9;
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}
int main(int argc, char **argv)
{
	int sum = 0;

	if (argc > 1)
		return short_work(2) + short_work(3);
	puts("ready");
	fflush(stdout);
	getchar();
	for (int i = 0; i < 20; i++)
		sum += spawn_one(argv[0]);
	printf("%d\n", sum);
	return 0;
}
C
spi_cc spawner spawner.c -Wl,--no-as-needed -llttng-ust
quiet lttng create s -o "$PWD/s.trace"
quiet lttng add-context -u -s s -t vpid
quiet "$SPI_LTTNG" enable-event --spi -s s -f short_work
quiet "$SPI_LTTNG" enable-event --spi -s s --tree=spawn_one
quiet lttng start s
mkfifo in
./spawner <in >out 2>err 5>&- &
pid=$!
exec {in}>in
spi_wait 10 file_has out ready
is_traced() { "$SPI_LTTNG" list --spi 2>/dev/null | grep -A6 "^  $pid spawner" | grep -q 'tree(spawn_one.*active'; }
check "the program is traced" spi_wait 10 is_traced
echo >&"$in"
wait "$pid"
is "$? $(tail -n 1 out) $(cat err)" "0 140 " "the programs run as ever"
quiet lttng destroy s
babeltrace2 s.trace 2>babel.err >s.txt
is "$(grep -c ' spi:short_work_entry:' s.txt) $(grep -c ' spi:short_work_exit:' s.txt)" "40 40" "all calls of all of them are recorded" ||
	diag "$(cat babel.err | head -n 5)"
tap_done
