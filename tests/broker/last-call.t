#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A program that the daemon brought in, before whose libc the agent does therefore not come, ends in the middle of its
# calls by _exit(), as forked children do, or by executing another program with execve(): these calls have their exits,
# those of other threads, too. Where another function of libc calls execve(), an -f rule has no exit. What is executed
# gets the arguments and environment that it was given; where it fails the program goes on.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
. "$SPI_TOP_SRCDIR/tests/lib/broker.sh"
spi_private "$@"
tree_tools
broker_daemon
tree_cc last ends-in-calls.c -O1 -fno-optimize-sibling-calls -Wl,--no-as-needed -llttng-ust
cat >child.c <<'EOF_C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAY "echo $0 $1 $2 $3 $4 $5 $6 $V"
static char *words[] = { "sh", "-c", SAY, "a", "b", "c", "d", "e", "f", "g", NULL }, *values[] = { "V=own", NULL };

__attribute__((noipa)) void t_child(const char *how)
{
	if (!strcmp(how, "_exit"))
		_exit(0);
	if (!strcmp(how, "execl") || !strcmp(how, "vfork"))
		execl("/bin/sh", "sh", "-c", SAY, "a", "b", "c", "d", "e", "f", "g", NULL);
	if (!strcmp(how, "execlp"))
		execlp("sh", "sh", "-c", SAY, "a", "b", "c", "d", "e", "f", "g", NULL);
	if (!strcmp(how, "execle"))
		execle("/bin/sh", "sh", "-c", SAY, "a", "b", "c", "d", "e", "f", "g", NULL, values);
	if (!strcmp(how, "execv"))
		execv("/bin/sh", words);
	if (!strcmp(how, "execvp"))
		execvp("sh", words);
	if (!strcmp(how, "execvpe"))
		execvpe("sh", words, values);
	if (!strcmp(how, "execve"))
		execve("/bin/sh", words, values);
	if (!strcmp(how, "execveat"))
		execveat(AT_FDCWD, "/bin/sh", words, values, 0);
	if (!strcmp(how, "fexecve"))
		fexecve(open("/bin/sh", O_RDONLY | O_CLOEXEC), words, values);
	if (!strcmp(how, "fails"))
		execlp("no-such-program", "x", NULL);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int status = 0;
		pid_t pid = !strcmp(argv[i], "vfork") ? vfork() : fork();

		if (!pid) {
			t_child(argv[i]);
			_exit(!strcmp(argv[i], "fails") ? 5 : 6);
		}
		waitpid(pid, &status, 0);
		printf("%s: %d\n", argv[i], WEXITSTATUS(status));
		fflush(stdout);
	}
	return 3;
}
EOF_C
spi_cc child child.c -Wl,--no-as-needed -llttng-ust
inside=(execl execlp execle execv execvp execvpe)	# libc calls execve() by itself
ways=(_exit execve execveat fexecve fails vfork)
V=mine ./child "${ways[@]}" "${inside[@]}" >plain

# begin SESSION ARGS... - a session that records all of what the arguments name
begin() {
	local session=$1
	shift
	lttng_ok create "$session" --output="$SPI_TMP/$session"
	lttng_ok enable-channel -u -s "$session" c --subbuf-size=1M --num-subbuf=8 --blocking-timeout=inf
	lttng_ok add-context -u -s "$session" -c c -t vpid -t vtid
	"$SPI_LTTNG" -q enable-event --spi -s "$session" -c c "$@"
	lttng_ok start "$session"
}
export LTTNG_UST_ALLOW_BLOCKING=1

begin funcs -f 't_*'
./last _exit 4
is $? 7 "functions: the program's status"
V=mine ./child "${ways[@]}" "${inside[@]}" >traced
is $? 3 "functions: that of one with children"
same_file traced plain "functions: what these execute"
recorded funcs
is "$(spi_count "$SPI_TMP/funcs" t_end_exit)/$(spi_count "$SPI_TMP/funcs" t_child_exit)" "1/${#ways[@]}" \
	"functions: the calls in which it ends have their exits"
is "$(spi_count "$SPI_TMP/funcs" t_child_entry)" $((${#ways[@]} + ${#inside[@]})) \
	"functions: those that libc's functions end have none"

begin tree --tree=main --lib last --lib child --exec last --exec child
./last _exit 4
is $? 7 "tree: the program's status"
V=mine ./child "${ways[@]}" "${inside[@]}" >traced
is $? 3 "tree: that of one with children"
same_file traced plain "tree: what these execute"
lttng_ok destroy tree
tree_balanced "$SPI_TMP/tree" "tree: every entry has its exit, in its thread"
tap_done
