#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A library whose handlers of fork() wait for a thread of its own, which calls what is new to a call tree, and ends: the
# tracer's locks are not held then. And libc's fork() takes malloc's locks, which a thread may have whose calls are new.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools
: >tree.debug
tree_cc libhandlers.so fork-handlers.c -O1 -shared -fPIC -DLIBRARY
tree_cc app fork-handlers.c -O1 -L. -lhandlers -Wl,-rpath,"$PWD"

for options in '--tree' '--tree --compact' '-f libhandlers.so:* -f libc.so.6:pthread_*'; do
	# shellcheck disable=SC2086
	spi_trace_same "$options" t './app 6' $options
	rm -rf last && mv t last
	case $options in *compact) TREE_COMPACT=1 tree_balanced last "$options: balanced" ;; --tree) tree_balanced last "$options: balanced" ;; esac
done

cat >allocates.c <<'EOF_C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int stop;
static void *allocate(void *data)
{
	unsigned seed = (unsigned) (long) data;
	char *kept[64] = { 0 };
	while (!stop) {
		seed = seed * 1103515245 + 12345;
		unsigned i = seed >> 16 & 63;
		free(kept[i]);
		kept[i] = calloc(1, (seed >> 8) % (seed & 1 ? 200000 : 300) + 1);
	}
	for (int i = 0; i < 64; i++)
		free(kept[i]);
	return NULL;
}
int main(void)
{
	pthread_t threads[4];
	int sum = 0, status;
	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, allocate, (void *) (i + 1));
	for (int i = 0; i < 10; i++) {
		if (!fork()) {
			free(malloc(1000));
			_exit(i);
		}
		wait(&status);
		sum += WEXITSTATUS(status);
	}
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", sum);
	return 3;
}
EOF_C
gcc -O1 -pthread -o allocates allocates.c
for options in --tree '--tree --compact'; do
	# shellcheck disable=SC2086
	spi_trace_same "malloc, $options" "t${#options}" ./allocates $options
done
TREE_COMPACT=1 tree_balanced t16 "malloc: balanced"

# The agent comes last to a process that runs, and is there when its controller has gone.
mkfifo in
exec 7<>in
background sh -c 'exec ./app <&7'
for options in '-f libhandlers.so:*' '--tree --compact' '--tree'; do
	# shellcheck disable=SC2086
	timeout --kill-after=1 20 "$SPI_LTTNG" trace $options -p "$target" --duration 0.3 -o "attached$((++n))" 2>trace.err
	is $? 0 "attached, $options" || diag "$(tail -n 5 trace.err)"
done
# a child that lives when the session ends is told nothing: its calls stay open
TREE_COMPACT=1 tree_balanced attached2 "attached, compact: balanced" --open 50
tree_balanced attached3 "attached, plain: balanced" --open 50
echo end >&7
spi_wait 10 pid_gone "$target" || kill -9 "$target"
wait "$target"
is $? 9 "it ran on"
tap_done
