/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* With its setuid bit, as su and sudo: becomes a user in all of its ids. `becomes UID MS` */
#include <grp.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline, noclone)) int secret_function(int n) { __asm__ volatile("" ::: "memory"); return n; }

int main(int argc, char **argv)
{
	const uid_t uid = (uid_t) atoi(argv[1]);

	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		return 1;
	usleep((useconds_t) (secret_function(atoi(argv[2])) * 1000));
	return 0;
}
