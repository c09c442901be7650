#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A stock client switches all of a channel off (`lttng disable-event --all`), several call trees among it, while threads are
# in calls of theirs that take their time: each of these has its exit, whatever order the daemon goes through the
# channel's events in. The front end switches off one of them: the others lose nothing. Another session's tree goes on.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree.sh"
spi_private "$@"
tree_tools
cat >slow.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define STAY __attribute__((noipa))

STAY void sleeps(int us) { usleep((unsigned int) us); }
STAY int quick(int n) { return n + 1; }
STAY int first(int n) { sleeps(30000); return quick(n); }
STAY int second(int n) { n = first(n); sleeps(7000); return quick(n); }
STAY int third(int n) { sleeps(2000); return n > 2 ? second(n) : quick(n); }
static const char *stop;

static void *work(void *data)
{
	int (*const calls[])(int) = { first, second, third };

	for (int i = 0; access(stop, F_OK); i++)
		calls[i % 3](i);
	return data;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	stop = argv[argc - 1];
	puts("begun");
	fflush(stdout);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], 0, work, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], 0);
	return 0;
}
C
spi_cc slow slow.c -pthread -Wl,--no-as-needed -llttng-ust
spi_sessiond
export LTTNG_UST_REGISTER_TIMEOUT=-1

# session NAME - one that loses nothing
session() {
	quiet lttng create "$1" -o "$PWD/$1"
	quiet lttng enable-channel -u -s "$1" c --subbuf-size 1M --num-subbuf 8
	quiet lttng add-context -u -s "$1" -c c -t vpid -t vtid -t ip
	quiet lttng enable-event -u -s "$1" -c c 'lttng_ust_statedump:*'
	quiet lttng start "$1"
}
rule() { quiet "$SPI_LTTNG" "$1" --spi -s "$2" -c c "${@:3}"; }
# under N - so many rules are in force
under() { [ "$(spi_status | grep -cP "^applied\t$pid\t[^\t]*\tactive")" = "$1" ]; }

session other
rule enable-event other --tree=quick
./slow stop >out & pid=$!
spi_wait 10 file_has out begun
check "another session's tree" spi_wait 10 under 1
for kind in "" --compact; do
	for i in 1 2 3; do
		session "s$i"
		rule enable-event "s$i" --tree=first $kind
		rule enable-event "s$i" --tree=second --depth 2 $kind
		rule enable-event "s$i" --tree=third --depth 1 $kind
		rule enable-event "s$i" -f quick -f sleeps
		check "in force${kind:+, compact}, $i" spi_wait 10 under 6
		spi_wait 0 false || :
		if [ "$i" = 3 ]; then
			rule disable-event s3 --tree=second --depth 2 $kind
			check "one switched off, the others stay${kind:+, compact}" spi_wait 10 under 5
			spi_wait 0 false || :
		fi
		quiet lttng disable-event -u -a -s "s$i" -c c
		check "all switched off${kind:+, compact}, $i" spi_wait 10 under 1
		quiet lttng destroy "s$i"
		TREE_COMPACT=1 tree_balanced "s$i" "every call has its exit${kind:+, compact}, $i"
		like "$("$SPI_TMP/calls" --expand "$SPI_EXPAND" "s$i" 2>/dev/null)" '^entries [1-9][0-9]' "there are calls${kind:+, compact}, $i"
		rm -rf "s$i"
	done
done
touch stop
wait "$pid"
is $? 0 "the program ends as ever"
quiet lttng destroy other
tree_balanced other "another session's tree: balanced"
tap_done
