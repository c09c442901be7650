#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# in make soak
# timeout: 115
# soak-timeout: 1700
#
# Large unmodified programs with every call below main() traced, children too:
# python3 with threads, exceptions and generators, git making and reading a
# repository, gcc with the programs it runs, sqlite3. With SPI_SOAK more of each:
# python3's own tests where they are installed, gcc on 5 000 lines.
. "${SPI_TOP_SRCDIR:?}/tests/lib/tree.sh"
spi_private "$@"
spi_daemon
tree_tools

cat >script.py <<'P'
import sys, json, re, threading, subprocess, tempfile, os
class Broken(Exception):
    pass
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def generate(n):
    for i in range(n):
        yield i * i
print(fib(12), json.dumps({'a': [1, 2.5, None]}), re.sub('a+', 'b', 'caat'), sum(generate(50)))
for i in range(20):
    try:
        try:
            raise Broken(i)
        finally:
            i += 1
    except Broken as e:
        pass
t = [threading.Thread(target=lambda: fib(8)) for _ in range(3)]
[x.start() for x in t]; [x.join() for x in t]
print(sorted(os.listdir('/usr/lib'))[0] != '', subprocess.run(['/usr/bin/printf', '%s', 'child'], capture_output=True).stdout)
sys.exit(7)
P
tree_real "python3" /usr/bin/python3 -S -E ../script.py

export GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'
real_setup() {
	git init -q . && echo one >a && git add a && git commit -qm first && echo two >>a && git commit -qam second && seq 50 >b
}
printf '[user]\n\tname = A\n\temail = a@example.org\n[gc]\n\tauto = 0\n' >"$HOME/.gitconfig"
tree_real "git log" /usr/bin/git --no-pager log --stat -p
tree_real "git commit" bash -c '/usr/bin/git add b && exec /usr/bin/git commit -m third'
tree_real "git grep" /usr/bin/git grep -n -E '1|two'
tree_real "git gc" /usr/bin/git gc -q

real_setup() {
	printf '#include <stdio.h>\nint f(int a) { return a * 3; }\nint main(void) { printf("%%d\\n", f(4)); return 0; }\n' >small.c
	printf '#include <vector>\nint f(std::vector<int> &v) { v.push_back(3); return v.at(1); }\n' >small.cc
}
tree_real "gcc" /usr/bin/gcc -c -O1 small.c -o small.o
if [ -n "${SPI_SOAK:-}" ]; then
	tree_real "gcc, linked" /usr/bin/gcc -O2 small.c -o small
	tree_real "g++" /usr/bin/g++ -c small.cc -o small.o
fi

real_setup() { :; }
count=400
[ -z "${SPI_SOAK:-}" ] || count=4000
{
	echo 'create table t(a integer primary key, b text); begin;'
	for i in $(seq "$count"); do echo "insert into t values ($i, 'text $((i * 7919 % 1009))');"; done
	echo 'commit; create index i on t(b); select b, count(*) from t group by b order by 2, 1 limit 3; select nonsense;'
} >stdin
tree_real "sqlite3" /usr/bin/sqlite3 -batch :memory:
rm stdin

if [ -n "${SPI_SOAK:-}" ]; then
	tree_compact
	python3 "$SPI_PROGRAMS/five-thousand-lines.py" >large.c
	real_setup() { cp ../large.c .; }
	tree_real "gcc, 5 000 lines" /usr/bin/gcc -O2 -c large.c -o large.o
	real_setup() { :; }
	# What test_threading prints is no two times the same.
	cat >module.py <<'P'
import sys, unittest
def each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test
loaded = unittest.defaultTestLoader.loadTestsFromName('test.' + sys.argv[1])
result = unittest.TextTestRunner(verbosity=0).run(unittest.TestSuite(each(loaded)))
print(sys.argv[1], result.testsRun, len(result.failures), len(result.errors), flush=True)
P
	# test_threading has children that abort.
	libc=$(ldd /usr/bin/python3 | awk '/libc\.so/ { print $3 }')
	TREE_DIES_IN=$(readlink -f "$libc" | sed 's,^/lib/,/usr/lib/,')+0x$(nm -D "$libc" | awk '/ abort@/ { sub(/^0*/, "", $1); print $1 }')
	for module in test_grammar test_exceptions test_generators test_json test_re test_threading; do
		if /usr/bin/python3 -c "import test.$module" 2>/dev/null; then
			tree_real "python3's $module" bash -c "set -o pipefail; /usr/bin/python3 ../module.py $module 2>&1 | tail -n 1"
		else
			skip "python3's $module" "Debian's package of its tests is not installed"
		fi
	done
fi
tap_done
