#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
#
# timeout: 100
#
# Unmodified programs that live by others: make with a compiler and a make below it, a
# bash script with all that forks and executes, git that packs and clones, archivers
# and document processors with pipes of their own; every program of them in the tree.
. "${SPI_TOP_SRCDIR:?}/tests/lib/follow.sh"
spi_private "$@"
spi_daemon
tree_tools
mkdir -p src/sub d
printf 'all: a.o sub\n\t@echo done $(shell echo hi)\na.o: a.c\n\t@gcc -O0 -c a.c -o a.o\nsub:\n\t@$(MAKE) --no-print-directory -C sub\n.PHONY: all sub\n' >src/Makefile
printf 'x: ; @for i in 1 2 3; do echo sub $$i; done | sort -r | (cat; false) || echo failed\n' >src/sub/Makefile
echo 'int a(void) { return 3; }' >src/a.c
for i in 1 2 3; do seq $((i * 100)) >d/$i; done
cat >script <<'S'
set -o pipefail
f() { local x; while read -r x; do echo "<$x>"; done; }
seq 20 | f | grep -v 3 | tac | head -n 4
y=$(printf '%s\n' a b c | tr a-z A-Z | paste -sd,); echo "$y"
trap 'echo got it' USR1; kill -USR1 $$; (exit 3) || echo "sub $?"
cat <(echo p1) <(echo p2); wait
timeout 5 sh -c 'exec -a other sh -c "echo \$0"'
coproc { tr a-z A-Z; }; echo hello >&"${COPROC[1]}"; exec {COPROC[1]}>&-; cat <&"${COPROC[0]}"
false | true; echo "${PIPESTATUS[@]}"
exit 6
S
commit='git -c user.email=a@b -c user.name=n commit -q -m m'
date='GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z'

# real PROGRAMS NAME COMMAND... - that these are the programs in the tree, and nothing was left out that is told of
real() {
	local expected=$1 name=$2
	shift 2
	followed "$name" --compact "$@"
	is "$(programs)" "$expected" "$name: every program"
	unlike "$(cat traced.err)" 'not followed' "$name: none left out"
}
real "cat cc1 dash echo make rm sort x86_64-linux-gnu-as x86_64-linux-gnu-gcc-12 " "make" sh -c 'rm -f src/a.o; make -s -j2 -C src'
real "bash cat dash grep head paste seq tac timeout tr " "bash" bash script
real "dash git ls rm " "git" sh -c "rm -rf g g2; git init -q g; cd g; echo 1 >f; git add f; $date $commit; git log --oneline; git gc -q
	cd ..; git clone -q g g2; ls g2"
real "dash sort tar xz " "tar and xz" sh -c 'tar cJf - --mtime=@0 --sort=name --owner=0 --group=0 d | tar tJvf - | sort'
real "echo ls perl true " "perl" /usr/bin/perl -e 'open my $f, "-|", "ls d" or die; print while <$f>; close $f; print `echo sub`;
	system("true") == 0 or die; print fork() ? (wait(), "parent\n")[1] : do { exec "echo", "child" };'
real "dash ls mawk sort " "awk" mawk 'BEGIN { while (("ls d" | getline x) > 0) print "f", x; close("ls d")
	print "z\na" | "sort"; close("sort"); system("exit 2") }'
real "cut dash find wc " "find" find d -type f -exec sh -c 'wc -l "$1" | cut -d" " -f1' _ {} ';'
tap_done
