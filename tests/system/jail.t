#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A daemon that locks itself into a directory by chroot(), and one whose root pivot_root() has changed: traced when the trace began
# before, and when /proc and /dev/shm are there; otherwise it goes on as ever, and the reason and the remedy are said.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
[ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ] || skip_all "needs root to change the root directory"
spi_daemon
cat >jailed.c <<'C'
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
__attribute__((noipa)) int serve(int a) { return a * 3; }
static int lock(const char *how, const char *dir)
{
	if (!strcmp(how, "chroot"))
		return chroot(dir) || chdir("/");
	return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount(dir, dir, NULL, MS_BIND, NULL) || chdir(dir) ||
		syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/");
}
int main(int argc, char **argv)
{
	struct timespec t = { 0, 2000000 };
	long sum = 0, n = argc > 3 ? 200 : 1000000;

	if (lock(argv[1], argv[2]))
		return 1;
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < n; i++) {
		sum += serve(i);
		nanosleep(&t, NULL);
	}
	printf("%ld\n", sum);
	return 0;
}
C
spi_cc jailed "$PWD/jailed.c"
for how in chroot pivot; do
	mkdir "$how"
	rm -rf t t.txt
	spi_trace -f serve -o t ./jailed "$how" "$PWD/$how" ends >out
	is "$?:$(tail -n 1 out)" "0:59700" "$how: traced from the start: status and output"
	is "$(spi_count t serve_entry)" 200 "$how: each call is recorded"

	background ./jailed "$how" "$PWD/$how"
	for form in '-f serve' --tree; do
		rm -rf t t.txt
		spi_trace $form -p "$target" --duration 0.3 -o t >trace.out
		[ $? != 0 ]
		ok $? "$how: attached to, $form: it is not traced"
		like "$(cat trace.err)" "jailed.*no /proc in its root directory.*chroot.*mount --bind" "$how: $form: the reason and the remedy" ||
			diag "$(cat trace.err)"
	done
	check "$how: it goes on" kill -0 "$target"
	is "$(ls -A "$how" | wc -l)" 0 "$how: nothing is left in its root"
	finish "$target"
done

mkdir chroot/proc chroot/dev
mount --bind /proc chroot/proc
background ./jailed chroot "$PWD/chroot"
rm -rf t t.txt
spi_trace -f serve -p "$target" --duration 0.3 -o t >trace.out
[ $? != 0 ]
ok $? "with /proc alone: status"
like "$(cat trace.err)" "no /dev/shm in its root directory.*mount --bind" "the reason and the remedy" || diag "$(cat trace.err)"
mkdir chroot/dev/shm
mount --bind /dev/shm chroot/dev/shm
for form in '-f serve' --tree; do
	rm -rf t t.txt
	spi_trace $form -p "$target" --duration 0.3 -o t >trace.out
	is $? 0 "with both: $form: status" || diag "$(cat trace.err)"
	spi_read t
	[ "$(grep -ac 'serve_entry\|func_entry' t.txt)" -gt 10 ]
	ok $? "with both: $form: recorded"
done
check "it goes on" kill -0 "$target"
finish "$target"
tap_done
