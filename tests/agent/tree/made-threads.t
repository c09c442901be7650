#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
#
# Threads that are made below a tree's root are in that tree, all of them: begun by a library that the tree leaves out
# (std::thread's start routine is libstdc++'s), interrupted by a signal before they begin, made after hundreds of others, or
# after some that could not be made.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools

cat >made.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#define FN __attribute__((noipa))
void *(*library_start(void))(void *);
static volatile int n;
static pthread_attr_t attributes;
FN void in_thread(void *told) { n += told == &n; }
FN void before(void) { n++; }
static void handler(int number) { n += number; before(); }
static void *start(void *told) { in_thread(told); return told; }
FN static int make(void *(*routine)(void *))
{
	pthread_t thread;
	void *told = NULL;

	if (pthread_create(&thread, &attributes, routine, (void *) &n))
		return 0;
	pthread_join(thread, &told);
	return told == &n;
}
FN int root(int others, int is_interrupted, int failing)
{
	struct rlimit old, none = { 0, 0 };
	int made = 0;

	getrlimit(RLIMIT_AS, &old);
	none.rlim_max = old.rlim_max;
	for (int i = 0; i < others; i++)
		made += make(library_start());
	setrlimit(RLIMIT_AS, &none);
	pthread_attr_setstacksize(&attributes, 64 << 20);	/* not from libc's cache */
	for (int i = 0; i < failing; i++)
		made += make(start);
	setrlimit(RLIMIT_AS, &old);
	pthread_attr_setstacksize(&attributes, 256 << 10);
	for (int i = 0; i < 10; i++) {
		if (is_interrupted)
			kill(getpid(), SIGUSR1);
		made += make(start);
	}
	return made;
}
int main(int argc, char **argv)
{
	int others = atoi(argv[1]);
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGUSR1, handler);
	pthread_attr_init(&attributes);
	pthread_attr_setsigmask_np(&attributes, &none);
	return root(others, !strcmp(argv[2], "interrupted"), atoi(argv[3])) != others + 10;
}
C
echo 'static void *go(void *told) { return told; } void *(*library_start(void))(void *) { return go; }' >library.c
cat >standard.cc <<'CC'
#include <thread>
static volatile int n;
__attribute__((noipa)) void in_thread() { n++; }
__attribute__((noipa)) void body() { in_thread(); }
__attribute__((noipa)) void root() { for (int i = 0; i < 10; i++) { std::thread t(body); t.join(); } }
int main() { root(); }
CC
gcc -O1 -g -shared -fPIC -o library.so library.c && gcc -O1 -g -pthread -o made made.c "$PWD/library.so" &&
	g++ -O1 -g -pthread -o standard standard.cc || { echo "Bail out! gcc"; exit 1; }

# in_threads NAME CALLS OPTIONS -- COMMAND... - so many calls of in_thread() are in the tree
in_threads() {
	local name=$1 calls=$2 options=()
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	rm -rf t
	"$SPI_LTTNG" -q trace "${options[@]}" -o t "$@" 2>traced.err
	is $? 0 "$name: status"
	is "$(babeltrace2 t --component=names:filter.lttng-utils.debug-info 2>/dev/null | grep -c 'func_entry:.*func = "in_thread+0"')" "$calls" \
		"$name: what the threads call"
	tree_balanced t "$name: balanced"
}
in_threads "plain" 10 --tree=root -- ./made 0 no 0
in_threads "interrupted before they begin" 10 --tree=root -- ./made 0 interrupted 0
in_threads "the tree goes into the program alone" 10 --tree=root --lib made -- ./made 5 no 0
in_threads "after 600 that begin in a library left out" 10 --tree=root --lib made -- ./made 600 no 0
in_threads "after 600 that were not made" 10 --tree=root --lib made -- ./made 0 no 600
in_threads "std::thread, the program alone" 10 --tree=root --lib standard -- ./standard
in_threads "std::thread" 10 --tree=root -- ./standard
tap_done
