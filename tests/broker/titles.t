#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A server's workers write their title over arguments and environment, look their user up, for which libc loads a library, and
# drop root: each worker is recorded from its first call, under a rule and started by the tracer.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
[ "$(id -u)" = 0 ] || skip_all "needs root to drop it"
broker_daemon
cat >titled.c <<'C'
#define _GNU_SOURCE
#include <grp.h>
#include <iconv.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
__attribute__((noipa)) int serve(int a) { return a + 1; }
static void title(char **argv)
{
	char **env = environ, *end = argv[0];
	static char *none[1];

	for (int i = 0; argv[i]; i++)
		end = argv[i] + strlen(argv[i]) + 1;
	for (; *env; env++)
		end = *env + strlen(*env) + 1;
	environ = none;
	memset(argv[0], 0, (size_t) (end - argv[0]));
	strcpy(argv[0], "titled: worker");
}
static int worker(void)
{
	struct passwd *pw = getpwnam("nobody");
	iconv_t loads = iconv_open("UTF-16LE", "ISO-8859-15");
	int sum = 0;

	if (!pw || loads == (iconv_t) -1 || initgroups("nobody", pw->pw_gid) || setgid(pw->pw_gid) || setuid(pw->pw_uid))
		return 1;
	while (access("go", F_OK))
		usleep(1000);
	for (int i = 0; i < 500; i++)
		sum += serve(i);
	return sum != 125250;
}
int main(int argc, char **argv)
{
	int status, failed = 0;
	FILE *done;

	if (!strcmp(argv[1], "exit"))
		return 0;
	if (!strcmp(argv[1], "daemon") && daemon(1, 0))
		return 1;
	title(argv);
	for (int i = 0; i < 3; i++)
		if (!fork())
			_exit(worker());
	while (wait(&status) > 0)
		failed += status != 0;
	done = fopen("done", "w");
	fprintf(done, "%d\n", failed);
	return fclose(done);
}
C
spi_cc titled "$PWD/titled.c"
# Are the workers recorded, or will they be with their first call, as children of one that is?
workers_known() {
	local pid
	[ "$(pgrep -x titled | wc -l)" -ge 4 ] || return 1
	for pid in $(pgrep -x titled); do
		grep -q 'liblttng-spi\.so' "/proc/$pid/maps" || return 1
	done
	status_unlike '^process.[0-9]+.[0-9]+.(waiting|refused)'
}
whole() {
	spi_wait 20 file_has done . || diag "it has not ended"
	is "$(cat done)" 0 "$1: the workers are as untraced"
	rm -f done
}
: >go
spi_trace -f serve -o started ./titled stays
whole "started"
is "$(spi_count started serve_entry)/$(spi_count started serve_exit)" 1500/1500 "started: each call" || diag "$(cat trace.err)"
for func in serve titled:serve; do
	rm -rf named named.txt named.err go
	"$SPI_LTTNG" trace --exec titled -f "$func" -o named >/dev/null 2>named.err </dev/null &
	tracer=$!
	spi_wait 30 file_has named.err 'Trace directory'
	./titled exit		# a file that has been executed is guarded from then on
	spi_wait 5 status_like titled || :
	./titled daemon
	spi_wait 4 workers_known || diag "$(status)"
	: >go
	whole "--exec, $func"
	kill -INT "$tracer"
	wait "$tracer"
	is "$(spi_count named serve_entry)/$(spi_count named serve_exit)" 1500/1500 "--exec, $func: each call" || diag "$(cat named.err)"
done
tap_done
