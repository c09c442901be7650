#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# The same program as signals.t's, which the agent comes to when it runs already:
# what it does with SIGTRAP from then on, it does as if alone, although there is
# int3 in its code. When the agent goes, its code and libc's are the files'.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
ulimit -c 0
signals=$SPI_TOP_SRCDIR/tests/programs/signals
spi_cc signals "$signals.c" "$signals-masks.c" "$signals-taken.c" "$signals-ends.c" -no-pie -Wno-deprecated-declarations

for name in $(./signals | grep -v look); do
	may_die timeout $((20 * SPI_PATIENCE)) ./signals "$name" >plain 2>plain.err
	status=$?
	rm -f attached.err
	SIGNALS_ATTACH=1 timeout -s KILL $((20 * SPI_PATIENCE)) ./signals "$name" >attached 2>attached.err </dev/null &
	target=$!
	spi_wait 10 file_has attached.err ready
	pid=$(pgrep -P "$target" signals)
	spi_trace -f t_tiny -f t_tiny2 -f t_text -o "trace-$name" -p "$pid" >/dev/null
	{ wait "$target"; } 2>/dev/null		# bash names the signal
	is $? "$status" "$name: status" || diag "$(tail -n 8 trace.err)"
	same_file attached plain "$name: output"
done

# attached again and again: libc's code is changed and put back each time
cat >again.c <<'C'
#include <stdio.h>
#include <unistd.h>
int t_tiny(int x);
int t_tiny2(int x);
__asm__(".text\n.globl t_tiny, t_tiny2\n.type t_tiny, @function\n.type t_tiny2, @function\n"
	"t_tiny: lea 1(%rdi), %eax\n ret\n.size t_tiny, . - t_tiny\n"
	"t_tiny2: lea 2(%rdi), %eax\n ret\n.size t_tiny2, . - t_tiny2\n");
int main(void)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		usleep(t_tiny(999));
}
C
spi_cc again ./again.c -no-pie
background ./again
recorded=0 put_back=0
for i in 1 2 3 4 5 6; do
	spi_trace -f t_tiny -p "$target" --duration 0.3 -o "again-$i" >/dev/null
	[ "$(spi_count "again-$i" t_tiny_entry)" -gt 0 ] && recorded=$((recorded + 1))
	python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$target" >>equal.log 2>&1 && put_back=$((put_back + 1))
done
is "$recorded $put_back" "6 6" "attached again and again: recorded, and the code put back" || diag "$(tail -n 5 equal.log trace.err)"
kill "$target"
tap_done
