#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# `lttng trace -f FUNC COMMAND`: programs that COMMAND executes are traced as well, by
# the same rules, where they have such a function; the summary counts them, and those
# without are nobody's concern.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
cat >outer.c <<'EOF_C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noipa)) int t_shared(int a) { return a + 1; }
__attribute__((noipa)) int t_outer(int a) { return a + 2; }
int main(int argc, char **argv)
{
	int n = t_shared(t_outer(argc));
	printf("outer %d %s\n", n, getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "-");
	fflush(stdout);
	if (system("./inner 3; env | grep -c LTTNG; ls >/dev/null"))
		n++;
	execv("./inner", argv + 1);
	return n;
}
EOF_C
cat >inner.c <<'EOF_C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noipa)) int t_shared(int a) { return a * 2; }
__attribute__((noipa)) int t_inner(int a) { return a * 3; }
int main(int argc, char **argv)
{
	int n = 0;
	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++)
		n += t_inner(t_shared(i));
	printf("inner %d\n", n);
	return 6;
}
EOF_C
spi_cc outer "$PWD/outer.c"
spi_cc inner "$PWD/inner.c"

./outer inner 4 >plain.out
plain=$?
spi_trace -f t_shared -f t_outer -o t ./outer inner 4 >out
is $? "$plain" "exit status" || diag "$(tail -n 4 trace.err)"
same_file out plain.out "output, environment included"
is "$(spi_count t t_shared_entry)" 8 "calls in all of them"
is "$(spi_count t t_outer_exit)" 1 "a function that one of them has"
balanced t "balanced"
is "$(grep -c ' spi:t_shared_entry: .* a = ' t.txt)" 8 "with their arguments"
like "$(cat trace.err)" 'Events recorded: 18 \(9 entries, 9 exits\); lost: 0' "the summary counts them"
unlike "$(cat trace.err)" 't_outer' "nobody is told which programs have none of the functions"
like "$(cat trace.err)" 'Functions instrumented: 4; not instrumented: 0' "the summary: functions of each process"
spi_trace -f t_shared -f 't_*' --tree --follow threads -o u ./outer inner 4 >out
is "$(spi_count u t_inner_entry)" 0 "--follow without exec: none of them"

# Two events a call, one of which a session has
cat >into.c <<'EOF_C'
#include <unistd.h>
__attribute__((noipa)) int t_into(char **argv) { execv(argv[0], argv); return 1; }
int main(int argc, char **argv) { return t_into(argv + 1); }
EOF_C
spi_cc into "$PWD/into.c"
lttng create alone -o "$PWD/alone" >/dev/null
lttng enable-event -u 'spi:t_into_exit' >/dev/null
lttng start >/dev/null
spi_trace -f t_into -o into.trace ./into /bin/true >out
lttng destroy --all >/dev/null
is "$(spi_count alone t_into_exit)" 1 "a session that has only exits: that of the call that executes a program"
is "$(lttng list 2>/dev/null | grep -c trace-)" 0 "no session is left"
tap_done
