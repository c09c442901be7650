#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A process in a seccomp sandbox: root looks into the filter of another user's, too, and injects where the filter is harmless; a wait with a
# timeout goes on after a stop although the filter kills for restart_syscall, which the kernel goes on with otherwise.
. "${SPI_TOP_SRCDIR:?}/tests/lib/injector.sh"
spi_private "$@"
[ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ] || skip_all "needs several users: root"
cat >confined.c <<'C'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
/* Kills for one system call, the one that is its argument. Ends well when a byte comes in while it polls with a timeout. */
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argc > 1 ? atoi(argv[1]) : 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	struct pollfd polled = { 0, POLLIN, 0 };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 2;
	puts("ready");
	fflush(stdout);
	return poll(&polled, 1, 60000) != 1;
}
C
gcc -O1 -o confined confined.c
gcc -O1 -shared -fPIC -o libnothing.so -x c - <<<'int nothing;'
chmod 755 . confined libnothing.so
inject=$SPI_TOP_BUILDDIR/injector/spi-inject
# injects NAME UID CALL STATUS REGEX
injects() {
	mkfifo "$1"
	setpriv --reuid "$2" --regid "$2" --clear-groups "$PWD/confined" "$3" <"$1" >"$1.out" & target=$!
	exec {feed}>"$1"
	spi_wait 10 file_has "$1.out" ready
	spi_wait 10 grep -q '^State:.*S' "/proc/$target/status"
	"$inject" pid "$target" "$PWD/libnothing.so" >"$1.said" 2>&1
	is $? "$4" "$1: status $4"
	like "$(cat "$1.said")" "$5" "$1: says how it went"
	echo >&"$feed"
	exec {feed}>&-
	wait "$target"
	is $? 0 "$1: the process goes on"
}
injects harmless 2001 999 0 "$target"
injects restart 2001 219 1 "filter kills for system calls that tracing needs"
injects own-restart 0 219 1 "filter kills for system calls that tracing needs"
tap_done
