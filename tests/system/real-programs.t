#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 200
#
# Unmodified Debian programs with every function of their main object traced:
# python3, sqlite3, git and the gcc driver, each by its path, as PATH may hold
# wrappers written in shell. What they print and return is byte
# for byte the same, and next to all of their functions are instrumented.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
. "$SPI_TOP_SRCDIR/tests/lib/real.sh"
spi_private "$@"
spi_daemon

cat >script.py <<'P'
import sys, json, re
class Broken(Exception):
    pass
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(12), json.dumps({'a': [1, 2.5, None]}), re.sub('a+', 'b', 'caat'))
try:
    raise Broken('as it should')
except Broken as e:
    print('caught', e, file=sys.stderr)
import threading
t = [threading.Thread(target=lambda: fib(8)) for _ in range(3)]
[x.start() for x in t]; [x.join() for x in t]
sys.exit(7)
P
real_check "python3" /usr/bin/python3 -S -E ../script.py
real_coverage "python3" "$(readlink -f /usr/bin/python3)"

printf 'create table t(a, b);\ninsert into t values (1, "x"), (2, "y"), (3, NULL);\n.mode csv\nselect * from t;\nselect nonsense;\n' >stdin
real_check "sqlite3" /usr/bin/sqlite3 -batch :memory:
real_coverage "sqlite3" /usr/bin/sqlite3
rm -f stdin

printf '[user]\n\tname = A\n\temail = a@example.org\n' >"$HOME/.gitconfig"
real_setup() {
	git init -q . && echo one >a && git add a &&
		GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z' git commit -qm first && echo two >>a
}
real_check "git diff" /usr/bin/git --no-pager diff
real_coverage "git" /usr/bin/git
real_check "git log" /usr/bin/git --no-pager log --stat
real_check "git with a wrong command" /usr/bin/git no-such-command

real_setup() { printf 'int main(void) { return undeclared_thing; }\n' >bad.c; printf 'int main(void) { return 0; }\n' >good.c; }
real_check "gcc" /usr/bin/gcc -c good.c -o good.o
real_coverage "gcc" "$(readlink -f /usr/bin/gcc)"
real_check "gcc on a wrong program" /usr/bin/gcc -c bad.c
tap_done
