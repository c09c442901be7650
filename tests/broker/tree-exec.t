#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A session's call tree goes into the programs that a process under it executes,
# linked with lttng-ust or not, whatever the rule's own scope, from their main() on;
# from a process that was running, too. Without `exec` in --follow it does not.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
. "$SPI_TOP_SRCDIR/tests/lib/tree-names.sh"
spi_private "$@"
spi_cc follow "$SPI_TOP_SRCDIR/tests/programs/follow.c" -pthread -Wl,--no-as-needed -llttng-ust
spi_cc target "$SPI_TOP_SRCDIR/tests/programs/tree-program.c"
spi_cc target-ust "$SPI_TOP_SRCDIR/tests/programs/tree-program.c" -Wl,--no-as-needed -llttng-ust
./target 4 >expected
broker_daemon

# tree SESSION ARGS... - `enable-event --spi ARGS` in a new session with room for calls, started
tree() {
	local session=$1
	shift
	lttng_ok create "$session" --output="$SPI_TMP/$session"
	lttng_ok enable-channel -u -s "$session" calls --subbuf-size 1M --num-subbuf 4
	"$SPI_LTTNG" enable-event --spi "$@" -s "$session" -c calls >tree.log 2>&1 || { diag "$(cat tree.log)"; return 1; }
	lttng_ok start "$session"
}
# calls SESSION OBJECT - FUNCTION=ENTRIES/EXITS of this object's functions
calls() { tree_calls "$SPI_TMP/$1.names" "$2"; }
calls_read() { lttng_ok destroy "$1" && tree_read "$SPI_TMP/$1"; }
once="branch=4/4 leaf=12/12 main=1/1 middle=4/4 top=1/1 "

for way in spawn execvp vfork; do
	tree "$way" --tree --lib follow --lib 'target*' --exec follow
	for program in target target-ust; do
		timeout 20 ./follow "$way" "./$program" 4 >out 2>err
		is "$?/$(cat out err)" "0/$(cat expected)
$way: 3" "$way: $program ends as without"
	done
	./target 4 >/dev/null
	calls_read "$way"
	is "$(calls "$way" target)" "$once" "$way: what it executes, once"
	is "$(calls "$way" target-ust)" "$once" "$way: the same of a program that registers by itself"
done
tree no --tree --lib follow --lib target --exec follow --follow threads,fork
./follow spawn ./target 4 >/dev/null
calls_read no
is "$(calls no target)" "" "without exec: nothing of it"
like "$(calls no follow)" 'main=1/1' "but who executes it"

# A rule for every application: programs that register are held, and their agents come by themselves as well.
tree all --tree=main --lib follow --lib 'target*'
for program in target target-ust; do
	timeout 20 ./follow spawn "./$program" 4 >out 2>err
	is "$?/$(cat out err)" "0/$(cat expected)
spawn: 3" "no scope: $program ends as without"
done
calls_read all
is "$(calls all target)" "$once" "no scope: what it executes, once"
is "$(calls all target-ust)" "$once" "no scope: the same of a program that registers by itself"

# By no function of libc's: its agent is brought while it runs, or the reason is told.
tree inline --tree --lib follow --lib 'target*' --exec follow
mkfifo b.in
timeout 30 ./follow exec-inline ./target 4 wait <b.in >b.out 2>b.err &
inline=$!
exec {to}>b.in
spi_wait 10 file_has b.out ready
pid=$(pgrep -x -P $inline target)
check "executed by an inline system call: its agent is brought" spi_wait 10 status_like "^applied.$pid.tree.*active"
echo >&"$to"
exec {to}>&-
wait $inline
is $? 0 "it ends as without"
calls_read inline
is "$(calls inline target | tr ' ' '\n' | grep top)" "top=1/1" "and is traced from then on"

# One that runs.
app_start a bash -c 'echo ready; while read -r x; do eval "$x"; done'
a=$app_pid in=$app_in
tree running --tree --lib target --pid "$a"
check "a rule for a running process" spi_wait 10 status_like "^applied.$a.tree.*active"
echo './target 4; (./target 4; exec ./target 4) | cat; echo done' >&"$in"
spi_wait 20 file_has a.out done
is "$(grep -c "^$(tail -n 1 expected)\$" a.out)" 3 "it executes three"
calls_read running
is "$(calls running target)" "branch=12/12 leaf=36/36 main=3/3 middle=12/12 top=3/3 " "a running process: what it executes"
exec {in}>&-
wait "$a"
check "nothing is left" spi_wait 10 none_runs || diag "$(status)"
tap_done
