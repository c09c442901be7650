#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# Programs that live by executing others, followed into all of them: shells,
# compiler drivers, xargs, python3.
. "${SPI_TOP_SRCDIR:?}/tests/lib/follow.sh"
spi_private "$@"
spi_daemon
tree_tools

followed "a pipeline" "" sh -c 'ls /etc | sort | tail -n 3'
is "$(programs)" "dash ls sort tail " "a pipeline: every program"
like "$(cat traced.err)" 'Events recorded: [0-9]+ \(([0-9]+) entries, ([0-9]+) exits\); lost: 0' "the summary counts them"
counted() {
	is "$(sed -nE 's/.*\(([0-9]+) entries, ([0-9]+) exits.*/\1 \2/p' traced.err)" \
		"$(awk -F '\t' '{ n += $1 } END { print n, n }' t.counts)" "$1: as many as the trace has"
}
counted "a pipeline"
followed "bash" --compact bash -c 'for i in 1 2 3; do cat /etc/hostname | tr a-z A-Z; done; exec wc -c /etc/passwd'
counted "bash, whose forked shells return from its calls"
is "$(programs)" "bash cat tr wc " "bash: every program"
followed "xargs" --compact bash -c 'seq 30 | xargs -P 4 -n 3 echo | sort'
is "$(programs)" "bash echo seq sort xargs " "xargs: every program"
# Entry points at all that libc offers, but for what is watched there itself.
followed "libc, called from outside" "--lib libc.so.6 --lib dash --lib head" bash -c 'sh -c "sh -c \"head -c 4 /etc/passwd\"; exec head -c 4 /etc/passwd"; exit 3'
is "$(programs)" "dash head " "libc, called from outside: all programs that are executed"
counted "libc, called from outside"
unlike "$(cat traced.err)" 'cannot be watched|not followed' "libc, called from outside: nothing is in the way of following"

printf '#include <stdio.h>\nint main(void) { printf("%%d\\n", 3); return 0; }\n' >small.c
gcc -O2 -c small.c -o plain.o
followed "gcc" "--compact --lib gcc* --lib cc1 --lib *-as" gcc -O2 -c small.c -o small.o
is "$(programs)" "cc1 x86_64-linux-gnu-as x86_64-linux-gnu-gcc-12 " "gcc: compiler and assembler"
same_file small.o plain.o "gcc: the object file"

cat >run.py <<'EOF_PY'
import os, subprocess
print(subprocess.run(["ls", "/"], capture_output=True, text=True).stdout)
print(subprocess.run("sort /etc/group | head -n 2", shell=True, capture_output=True, text=True).stdout)
print(subprocess.run(["sort"], input=b"b\na\n", close_fds=False, stdout=subprocess.PIPE).stdout)
print(os.system("exit 3"), os.popen("cat /etc/hostname").read())
pid = os.posix_spawn("/bin/true", ["true"], {"A": "1"})
print(os.waitpid(pid, 0)[1])
try:
    subprocess.run(["/nonexistent"])
except FileNotFoundError as e:
    print(e)
EOF_PY
python=$(readlink -f /usr/bin/python3)
followed "python3" "--compact --depth 3" "$python" -S run.py
is "$(programs)" "cat dash head ls ${python##*/} sort true " "python3: all that it starts"
tap_done
