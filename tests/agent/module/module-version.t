#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# An event module of another version than the agent, as in the middle of an installation: a program that has the agent runs and forks
# as untraced, and the front end says why it cannot trace.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >older.c <<'C'
#include <stdint.h>
struct ops { uint32_t abi, size; void *none[8]; };
const struct ops *spi_payload_init(const void *core, const char **error)
{
	static const struct ops ops = { 1, sizeof(ops) };

	return &ops;
}
C
gcc -shared -fPIC -o older.so older.c || exit 1
cat >forks.c <<'C'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noipa)) int work(int a) { return a + 1; }
int main(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(work(6));
	waitpid(pid, &status, 0);
	printf("%d %d\n", work(1), WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 3;
}
C
spi_cc forks "$PWD/forks.c"
export LTTNG_SPI_TP=$PWD/older.so
"${SPI_ALONE[@]}" LTTNG_SPI_RULES=work timeout 20 ./forks >out 2>err
is "$?/$(cat out)/$(cat err)" "3/2 7/" "the program's status and output"
timeout $((20 * SPI_PATIENCE)) "$SPI_LTTNG" trace -f work -o "$PWD/t" ./forks >out 2>err
is "$?/$(cat out)" 1/ "the front end does not start what it cannot trace"
like "$(cat err)" 'different versions: install both from one build' "and says why"
tap_done
