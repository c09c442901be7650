#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 60
#
# Tracing of functions leaves a running process while its threads are within their calls: these have their exits, said to be
# none of a return, and the process goes on as ever.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >waiting.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static char **words;
static void wait_for(const char *path)
{
	while (access(path, F_OK))
		nanosleep(&(struct timespec) { .tv_nsec = 2000000 }, NULL);
}
__attribute__((noipa)) double step_over(long n, const char *text) { return text[n] + 0.5; }
__attribute__((noipa)) long step_down(int depth)
{
	long sum = (long) step_over(depth, "0123456789");

	if (depth)
		return step_down(depth - 1) + sum;
	wait_for(words[2]);
	return sum;
}
static void *work(void *data)
{
	wait_for(words[1]);
	return (void *) step_down(*(int *) data);
}
int main(int argc, char **argv)
{
	pthread_t threads[4];
	long sum = 0;

	words = argv;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, (int []) { 3 });
	for (int i = 0; i < 4; i++) {
		void *result;

		pthread_join(threads[i], &result);
		sum += (long) result;
	}
	printf("%ld\n", sum);
	return argc != 3;
}
C
spi_cc waiting waiting.c -pthread -O1 -fno-optimize-sibling-calls
./waiting go end >out &
pid=$!
spi_wait 10 test "/proc/$pid/exe" -ef ./waiting	# no longer the shell
"$SPI_LTTNG" trace -f 'step_*' -o t -p "$pid" 2>trace.err >/dev/null </dev/null &
tracer=$!
attached() { grep -q 'Trace directory' trace.err && grep -qx lttng-spi /proc/"$pid"/task/*/comm; }
check "attached" spi_wait 20 attached
touch go
deep() { [ "$(gdb -p "$pid" -batch -ex 'thread apply all bt' 2>/dev/null | grep -c ' in step_down (depth=0)')" = 4 ]; }
check "all threads are deep in" spi_wait 20 deep
kill -INT "$tracer"
wait "$tracer"
spi_read t
is "$(spi_count t step_down_entry)/$(spi_count t step_down_exit)" 16/16 "calls that have not returned have their exits"
is "$(spi_count t step_over_entry)/$(spi_count t step_over_exit)" 16/16 "those that have had theirs"
is "$(grep -c 'spi_call:left.*how = .*"detached"' t.txt)" 16 "they are said not to have returned"
like "$(cat trace.err)" 'Events recorded: 64 \(32 entries, 32 exits\); lost: 0' "the summary counts them"
touch end
wait "$pid"
is "$? $(cat out)" "0 792" "the process goes on to its end"
tap_done
