#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Two `lttng trace COMMAND` of the same functions at once: each trace has its own
# program's calls, those of its children and of what these execute, and no other's. A
# session that is nobody's run has everybody's, however much it enabled.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon

cat >both.c <<'EOF_C'
/* both VALUE HERE THERE - calls when the other is there, and waits until the other has called */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noipa)) int work(int value)
{
	volatile int sum = value;

	for (int i = 0; i < 3; i++)
		sum += i;
	return sum;
}

static void meet(const char *here, const char *there, const char *what)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.%s", here, what);
	close(open(name, O_CREAT | O_WRONLY, 0600));
	snprintf(name, sizeof(name), "%s.%s", there, what);
	for (int i = 0; access(name, F_OK) && i < 10000; i++)
		nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
}

int main(int argc, char **argv)
{
	int value = atoi(argv[1]), status;
	char next[16];

	if (argc == 3) {
		for (int i = 0; i < 100; i++)
			work(value);
		return 0;
	}
	meet(argv[2], argv[3], "began");
	for (int i = 0; i < 100; i++)
		work(value);
	snprintf(next, sizeof(next), "%d", value + 2);
	for (int i = 0; i < 2; i++) {
		if (!fork()) {
			if (i)
				execl("/proc/self/exe", argv[0], next, "executed", NULL);
			for (int j = 0; j < 100; j++)
				work(value + 1);
			return 0;
		}
		wait(&status);
	}
	meet(argv[2], argv[3], "ended");
	return 0;
}
EOF_C
spi_cc both "$PWD/both.c"

# both_runs NAME OPTION... - two runs at once, to NAME.1 and NAME.2
both_runs() {
	local name=$1 first
	shift
	"$SPI_LTTNG" trace "$@" -o "$name.1" ./both 10 "$name.a" "$name.b" >"$name.out1" 2>"$name.err1" &
	first=$!
	"$SPI_LTTNG" trace "$@" -o "$name.2" ./both 20 "$name.b" "$name.a" >"$name.out2" 2>"$name.err2"
	[ $? = 0 ] && wait "$first"
	ok $? "$name: both runs end well" || diag "$(cat "$name.err1" "$name.err2")"
}
# values DIR EVENT - "VALUE times" for each value that its calls had
values() {
	spi_read "$1"
	grep -a " spi:$2: " "$1.txt" | grep -o 'value = [0-9]*' | sort | uniq -c | awk '{ printf("%s%s %s", NR > 1 ? ", " : "", $4, $1) }'
}

lttng create everything --output="$PWD/everything" >lttng.log 2>&1 && lttng enable-event -u -a >>lttng.log 2>&1 &&
	lttng start >>lttng.log 2>&1 || diag "$(cat lttng.log)"
lttng create named --output="$PWD/named" >lttng.log 2>&1 && lttng enable-event -u 'spi*:work*' >>lttng.log 2>&1 &&
	lttng start >>lttng.log 2>&1 || diag "$(cat lttng.log)"
both_runs typed -f work
lttng destroy everything >lttng.log 2>&1
lttng destroy named >lttng.log 2>&1
is "$(values typed.1 work_entry)" "10 100, 11 100, 12 100" "the first has its own calls"
is "$(values typed.2 work_entry)" "20 100, 21 100, 22 100" "and so has the second"
is "$(spi_count typed.1 work_exit)" 300 "with their exits"
balanced typed.1 "the first is balanced"
balanced typed.2 "the second is balanced"
all="10 100, 11 100, 12 100, 20 100, 21 100, 22 100"
is "$(values everything work_entry)" "$all" "a session with everything enabled has all"
is "$(values named work_entry)" "$all" "one that names the events, too"
is "$(cat typed.1.warn typed.2.warn everything.warn named.warn)" "" "all are readable"

both_runs one --one-event -f work
is "$(values one.1 work)" "10 100, 11 100, 12 100" "one event a call: the first has its own"
is "$(values one.2 work)" "20 100, 21 100, 22 100" "and so has the second"

# In trees events have addresses; whose they are is told by their process.
for how in plain compact; do
	options=(--tree=main --lib both)
	[ "$how" = plain ] || options+=(--compact)
	both_runs "$how" "${options[@]}"
	for n in 1 2; do
		babeltrace2 --plugin-path "$SPI_TOP_BUILDDIR/bt2/.libs" "$how.$n" >"$how.$n.txt" 2>"$how.$n.warn"
	done
	mine() { grep -aE ' (lttng_ust_cyg_profile:func_entry|spi_tree:calls)' "$1.txt" | grep -o 'vpid = [0-9]*' | sort -u; }
	is "$(mine "$how.1" | wc -l)" 3 "$how tree: the first has three processes"
	is "$(comm -12 <(mine "$how.1") <(mine "$how.2") | wc -l)" 0 "$how tree: none of them is the other's"
done
tap_done
