#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A call tree goes into the programs that COMMAND executes, in every way there is,
# and neither they nor COMMAND see a difference; static and setuid programs, and
# those that are not there, are left alone.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree-names.sh"
spi_private "$@"
spi_daemon
spi_cc app "$SPI_TOP_SRCDIR/tests/programs/tree-program.c"

cat >show.c <<'EOF_C'
#include <stdio.h>
extern char **environ;
int main(void)
{
	for (char **e = environ; *e; e++)
		puts(*e);
	return 7;
}
EOF_C
gcc -static -o static show.c && gcc -o show show.c && cp show setuid && chmod u+s setuid || echo "Bail out! cc"
cat >ways.c <<'EOF_C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;

static void ended(const char *how)
{
	int status;

	while (wait(&status) > 0)
		printf("%s %d\n", how, WEXITSTATUS(status));
	fflush(stdout);
}

int main(void)
{
	char *app[] = { "app", "1", NULL }, *sh[] = { "sh", "-c", "echo $A $LD_PRELOAD; exec ./app 1", NULL };
	char *own[] = { "A=1", "LD_PRELOAD=libm.so.6", "PATH=/bin", NULL }, *none[] = { NULL };
	pid_t pid;

	posix_spawn(&pid, "./app", NULL, NULL, app, environ), ended("posix_spawn");
	posix_spawnp(&pid, "app", NULL, NULL, app, environ), ended("posix_spawnp");
	printf("%s\n", strerror(posix_spawn(&pid, "./nosuch", NULL, NULL, app, environ)));
	fflush(stdout);
	if (!vfork()) execl("./app", "app", "1", NULL), _exit(99);
	ended("execl");
	if (!vfork()) execlp("app", "app", "1", NULL), _exit(99);
	ended("execlp");
	if (!vfork()) execle("/bin/sh", "sh", "-c", sh[2], NULL, own), _exit(99);
	ended("execle");
	if (!fork()) execv("./app", app), _exit(99);
	ended("execv");
	if (!fork()) execvp("app", app), _exit(99);
	ended("execvp");
	if (!vfork()) execvpe("app", app, none), _exit(99);
	ended("execvpe");
	if (!vfork()) fexecve(open("app", O_RDONLY), app, environ), _exit(99);
	ended("fexecve");
	if (!vfork()) execv("./nosuch", app), _exit(errno);
	ended("none");
	if (!vfork()) execve("./static", app, none), _exit(99);
	ended("static");
	if (!vfork()) execve("./setuid", app, own), _exit(99);
	ended("setuid");
	execve("./nosuch", app, environ);
	printf("%s\n", strerror(errno));
	execl("./app", "app", "1", NULL);
	return 1;
}
EOF_C
gcc -o ways ways.c 2>cc.log || { diag "$(cat cc.log)"; echo "Bail out! cc"; }
printf '#!/usr/bin/env bash\necho script $0 $1; ./app 1\n' >script
printf 'echo no interpreter $1\n./app 1\n' >nothing
chmod +x script nothing
cat >all.sh <<'EOF_SH'
./app 1; echo $?
./ways; echo $?
./script x
./nothing y
nosuch-command; echo $?
python3 -c 'import subprocess; print(subprocess.run(["./app", "1"], env={"X": "1"}).returncode)'
echo 1 1 | xargs -n 1 ./app
env - A=2 ./show
./static | sort
(./app 1)
exec ./app 1
EOF_SH
# What stands for the program that started it is another program.
PATH=$PATH:$PWD sh all.sh 2>plain.err | grep -v '^_=' >plain.out
plain=${PIPESTATUS[0]}
PATH=$PATH:$PWD spi_trace -q --tree --depth 2 -o t sh all.sh 2>traced.err | grep -v '^_=' >traced.out
is "${PIPESTATUS[0]}" "$plain" "exit status"
same_file traced.out plain.out "what all of them print, their environment included"
tree_read t

expected=$(grep -cx 6 plain.out)
is "$(tree_calls t.names)" "branch=$expected/$expected main=$expected/$expected middle=$expected/$expected top=$expected/$expected " \
	"each run of the program is in the trace"
is "$(grep 'bin = "app+[^"]*", func = "main' t.names | grep -o 'vpid = [0-9]*' | sort -u | wc -l)" "$expected" "as a process of its own"

# Not followed when that is asked for.
spi_trace -q --tree --lib app --lib sh --follow threads,dlopen,fork -o u sh -c './app 1; ./app 1; true' >out
is "$(cat out | tr '\n' ' ')" "$(./app 1) $(./app 1) " "--follow without exec: they run"
tree_read u
is "$(tree_calls u.names)" "" "--follow without exec: and are not in the trace"
tap_done
