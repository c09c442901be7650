#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Programs that cannot be followed run as they would without a tracer, and are named
# with the reason. What cannot be executed at all gives the same errors, and the
# program that tried goes on with all its calls.
. "${SPI_TOP_SRCDIR:?}/tests/lib/follow.sh"
spi_private "$@"
spi_daemon
tree_tools
tree_cc follow follow.c -O1
cat >fds.c <<'EOF_C'
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	DIR *d = opendir("/proc/self/fd");
	char path[300], to[300];
	struct dirent *e;
	(void) argc;
	while ((e = readdir(d))) {
		ssize_t n;
		snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		n = readlink(path, to, sizeof(to) - 1);
		if (n > 0 && atoi(e->d_name) > 2 && atoi(e->d_name) != dirfd(d)) {
			to[n] = 0;
			printf("%s %s\n", e->d_name, to);
		}
	}
	puts(getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "no LD_PRELOAD");
	(void) argv;
	return 3;
}
EOF_C
gcc -static -o static fds.c && gcc -o fds fds.c && cp fds setuid && chmod u+s setuid && cp fds setgid && chmod g+s setgid
cp /bin/true busy && cp fds noperm && chmod 644 noperm
printf 'nothing' >junk && printf '#!/nonexistent/x\n' >badscript && chmod +x junk badscript
printf '#! /bin/sh\nexit 4\n' >script && printf '#!./static\n' >toscript && chmod +x script toscript

refused() {
	local name=$1 reason=$2
	shift 2
	followed "$name" "" "$@"
	like "$(cat traced.err)" "Note: not followed: [^:]*: $reason" "$name: named with the reason"
}
refused "static" "it is statically linked" ./follow exec ./static
is "$(programs)" "follow " "static: nothing of it"
refused "static, by a shell's vfork()" "it is statically linked" sh -c './static; ./static | sort; exit 7'
refused "static, by posix_spawn()" "it is statically linked" ./follow spawn ./static
refused "static, by a script" "it is statically linked" ./follow vfork ./toscript
# As a program in Go begins: by itself, and not by what gives main() to libc.
printf '#include <unistd.h>\nvoid _start(void) { write(1, "hi\\n", 3); _exit(3); }\n' >alone.c
gcc -O1 -nostartfiles -o alone alone.c
refused "without a main()" "it has no main\(\) that libc calls" sh -c './alone; ./alone'
printf 'int main(void) { return 3; }\n' >bare.c
gcc -O1 -fno-asynchronous-unwind-tables -s -o bare bare.c
refused "without a word on its functions" "it has no main\(\) that is known" ./follow exec ./bare
like "$("$SPI_LTTNG" trace --tree -o t2 ./bare 2>&1)" "^Error: --tree: bare: it has no main\(\)" "the same alone: the error says why"
if [ "$(id -u)" = 0 ]; then
	refused "setuid" "it is setuid" ./follow spawn ./setuid
	refused "setgid" "it is setgid" ./follow execve ./setgid
	if setcap cap_net_raw+ep ./fds 2>/dev/null; then
		refused "capabilities" "it has file capabilities" ./follow execve ./fds
		setcap -r ./fds
	fi
fi
# The program itself: a child that has just been forked may have nobody yet who could tell of it.
refused "little address space" "the limit on its address space is too low" bash -c 'ulimit -v 400000; exec ./fds'
followed "script" "" ./follow spawn ./script
is "$(programs)" "dash follow " "a script's interpreter is followed"

# Executed by no function of libc's, and still there to be seen.
rm -rf t
"$SPI_LTTNG" trace --tree -o t ./follow exec-inline /bin/sleep 0.3 2>traced.err
is $? 0 "an inline system call: status"
summary "not followed: [^:]*/sleep: it was executed without the tracer" "an inline system call: named"

for compact in "" --compact; do
	followed "what cannot be executed" "$compact" ./follow fails nosuch noperm /tmp junk badscript ""
	is "$(grep -c . plain.out)" "$(grep -c . traced.out)" "and it was tried"
	unlike "$(cat traced.err)" 'not followed' "which nobody has to be told"
	followed "execve() that fails late" "$compact" ./follow late ./busy
done
like "$(./follow late ./busy; echo)" '^(late: 26)?' "as it does without"

# Nothing else changes for programs that are followed: no descriptor, no variable.
list='env; printenv; ./static; ./fds | grep -v "^[1-9][0-9][0-9] "; LD_PRELOAD=libm.so.6 ./fds | tail -n 1'
LD_PRELOAD=libm.so.6 A=1 followed "descriptors and environment" "" env -u _ sh -c "$list"
mount -t tmpfs -o noexec tmpfs /mnt && cp fds /mnt/ && followed "noexec" "" sh -c '/mnt/fds; exit 5'
tap_done
