#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# long
# timeout: 280
#
# Who lies, and what comes of it: an id that another process has got, a setuid
# program in the middle of an injection, an environment, a mount namespace and
# sockets that say what is not so, a cache that others have written to. Nothing is
# loaded where it must not be, others are traced meanwhile, and the broker stays.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
[ "$(id -u)" = 0 ] || skip_all "needs several users: root"
spi_private "$@"
agent=$SPI_TOP_BUILDDIR/liblttng-spi/.libs/liblttng-spi.so.0
liar() { timeout 60 setpriv --reuid 2001 --regid 2001 --clear-groups /usr/bin/python3 \
	"$SPI_PROGRAMS/liar.py" /run/lttng/spi-agent "$@"; }
as_a() { setpriv --reuid 2001 --regid 2001 --clear-groups "$@"; }
spi_app
spi_cc inside "$SPI_PROGRAMS/inside.c" -Wl,--no-as-needed -llttng-ust
spi_cc plain "$SPI_PROGRAMS/inside.c"
# A library that says so when it is loaded
cat >evil.c <<C
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void)
{
	int fd = open("$PWD/evil.log", O_WRONLY | O_APPEND | O_CREAT, 0666);

	dprintf(fd, "uid %d in %d\n", (int) geteuid(), (int) getpid());
	close(fd);
}
int lttng_spi_attach(int fd, unsigned int flags) { return 0; }
C
gcc -shared -fPIC -o evil.so evil.c 2>cc.log && install -m 666 /dev/null evil.log && chown 2001 evil.so
spi_sessiond
broker=$(pgrep -x -o spi-broker)
export LTTNG_UST_REGISTER_TIMEOUT=-1
quiet lttng create s -o "$PWD/s"
quiet lttng enable-channel -u -s s --tracefile-size 1M --tracefile-count 2 c
quiet lttng enable-event -u -s s -c c 'spi:app_*'
quiet lttng start s
applied() { spi_status | grep -P "^applied\t$1\t[^\t]*\tactive"; }
process() { spi_status | grep -P "^process\t$1\t"; }
same_broker() { kill -0 "$sessiond" && [ "$(pgrep -x -o spi-broker)" = "$broker" ]; }
./app busy stop >/dev/null & witness=$!
check "a program is traced" spi_wait 15 applied "$witness"

# ---- ids --------------------------------------------------------------------------
if [ -w /proc/sys/kernel/ns_last_pid ]; then
	for round in 1 2 3; do
		# Another of the daemon's processes may have got it.
		for try in 1 2 3 4; do
			timeout 30 python3 "$SPI_PROGRAMS/reuse.py" 2001 2002 /run/lttng "$PWD/plain" 2500 >reused 2>&1
			grep -q 'the id is not to be had' reused || break
		done
		like "$(cat reused)" 'uid 2002 inside 0' \
			"round $round: nothing is loaded into the process that has got an application's id"
		unlike "$(cat reused)" 'RULE_ADD|MAP' \
			"and who made a connection under that id before is not heard for it" || diag "$(cat reused)"
	done
else
	skip "an id that another process gets" "the kernel does not let it be chosen"
fi
setpriv --reuid 2002 --regid 2002 --clear-groups ./plain 4000 >victim.out & victim=$!
timeout 20 python3 "$SPI_PROGRAMS/reuse.py" claim 2001 /run/lttng "$victim"
is "$(process "$victim")" "" "who registers with another's id makes that no application"
wait "$victim"
is "$(cat victim.out)" "uid 2002 inside 0" "and nothing is loaded into it"

# ---- setuid programs -----------------------------------------------------------------
cp inside setuid
chmod 4755 setuid
if [ "$(as_a ./setuid 0)" = "uid 0 inside 0" ]; then
	: >setuid.out
	# Five seconds each: the daemon waits so long for what answers it no more.
	moments=(0 0 2 8)
	[ -z "${SPI_SOAK:-}" ] || moments=(0 0 0 1 1 2 3 4 5 8 12 20)
	for ms in "${moments[@]}"; do
		timeout 20 python3 "$SPI_PROGRAMS/reuse.py" exec 2001 /run/lttng "$ms" \
			"$PWD/setuid" 30 >>setuid.out 2>&1
	done
	is "$(sort setuid.out | uniq -c | tr -s ' ')" " ${#moments[@]} uid 0 inside 0" \
		"a process that becomes a setuid program while it is held: nothing is loaded"
	as_a ./setuid 2000 >setuid.out & job=$!
	setuid() { pgrep -x setuid | head -n 1; }
	spi_wait 5 setuid
	pid=$(setuid)
	check "a setuid program is refused, with the reason" spi_wait 10 eval \
		"process $pid | grep -q 'refused.*runs with user or group ids of several users'" ||
		diag "$(process "$pid")"
	wait "$job"
	is "$(cat setuid.out)" "uid 0 inside 0" "and has nothing inside"
	chmod 4711 setuid
	cp plain setuid-plain
	chmod 4711 setuid-plain
	out=$(cd / && liar escape 4 "$SPI_TMP/setuid-plain" 2500)
	unlike "$out" 'map 0' "who has become one gets no code map of it"
	like "$out" 'map -1 .*runs with user or group ids of several users' "and the reason" || diag "$out"
	# Its registration says that the connection is that of a program which is no more.
	out=$(cd / && liar escape 4 "$SPI_TMP/setuid" 2500)
	like "$out" 'map -1 .*runs with user or group ids of several users|closed' "nor one that registers" || diag "$out"
else
	skip "setuid programs" "not on this file system"
fi
cp plain unreadable
chmod 711 unreadable
out=$(cd / && liar escape 4 "$SPI_TMP/unreadable" 2500)
like "$out" 'map -[0-9]+ .*' "nor who has become a program that he may not read" || diag "$out"
unlike "$out" 'map 0' "he gets no map"

# ---- environment, mount namespace --------------------------------------------------------
as_a env LTTNG_SPI_AGENT="$PWD/evil.so" LTTNG_SPI_CODEMAP="$PWD/evil.so" LTTNG_SPI_BROKER="$PWD/evil.so" \
	LTTNG_SPI_CACHE=/nowhere LTTNG_SPI_SOCKET=/nowhere LD_LIBRARY_PATH="$PWD" LTTNG_SPI_RULES='*' \
	./app busy stop >/dev/null &
# The oldest: lttng-ust makes a child for a moment, before main()
of_a() { pgrep -o -x app -u 2001; }
spi_wait 10 of_a
pid=$(of_a)
check "a program with an environment full of our names is traced" spi_wait 15 applied "$pid"
like "$(grep -m 1 'liblttng-spi.so' "/proc/$pid/maps")" "$(stat -L -c %i "$agent") .*$(readlink -f "$agent")" \
	"with the right agent"
unshare -m bash -c "mount --bind '$PWD/evil.so' '$(readlink -f "$agent")' &&
	exec setpriv --reuid 2003 --regid 2003 --clear-groups ./app busy stop" >/dev/null &
in_namespace() { pgrep -o -x app -u 2003; }
spi_wait 10 in_namespace
pid=$(in_namespace)
check "one with another file in the agent's place is traced, or refused" \
	spi_wait 15 eval "applied $pid || process $pid | grep refused" ||
	diag "$(process "$pid")"
unlike "$(cat "/proc/$pid/maps")" 'evil' "and that file is not loaded"
is "$(cat evil.log)" "" "nowhere"

# ---- the agent socket -----------------------------------------------------------------
answers() { timeout 5 python3 "$SPI_TOP_SRCDIR/tests/lib/broker-status.py" version; }
cd "$SPI_TMP" && chmod 777 .
for kind in unsealed truncated short empty blocks sparse huge zero fifo directory path socket; do
	mkfifo "go.$kind"
	liar page "$kind" <"go.$kind" >"page.$kind" 2>&1 & job=$!
	exec {go}>"go.$kind"
	spi_wait 10 test -s "page.$kind"
	echo "$(cat "page.$kind"): $(answers) $(spi_status | tail -n 1)" >>pages
	exec {go}>&-
	wait "$job"
done
is "$(sort pages | uniq -c | tr -s ' ')" " 12 welcome: version	1 end" \
	"status pages that are none: 12 kinds, each answered, none believed"
check "as before" same_broker
liar garbage >garbage.out 2>&1
is "$(cat garbage.out)" "done" "garbage, in whatever shape"
check "as before" same_broker
fds=$(find "/proc/$broker/fd" -mindepth 1 | wc -l)
liar endless 6 >endless 2>&1 & job=$!
liar endless 6 >endless2 2>&1 & job2=$!
slowest=0 unanswered=0
for round in 1 2 3 4 5 6 7 8; do
	began=${EPOCHREALTIME/./}
	answers >/dev/null || unanswered=$((unanswered + 1))
	took=$((${EPOCHREALTIME/./} - began))
	[ "$took" -le "$slowest" ] || slowest=$took
done
is "$unanswered" 0 "who talks without end keeps nobody else from being answered"
spi_soon "$((slowest / 1000))" 2000 "an answer while two talk without end"
./inside 100 >began.out
like "$(cat began.out)" 'inside [1-9][0-9]*' "nor from being traced from its beginning"
wait "$job" "$job2"
like "$(cat endless)" 'sent [1-9]' "it talked" || diag "$(cat endless)"
liar questions 200000 >questions 2>&1
like "$(cat questions)" '^closed|^not read' "who asks and does not read is not kept"
check "no descriptor stays of all this" spi_wait 10 eval \
	"[ \$(find /proc/$broker/fd -mindepth 1 | wc -l) -le $((fds + 2)) ]"
check "as before" same_broker
mkfifo go.rules
liar rules 'x\x1b[31m\ty\nprocess\t1\t0\ttraced' <go.rules >rules.out 2>&1 & job=$!
exec {go}>go.rules
spi_wait 10 file_has rules.out told
spi_wait 5 eval "spi_status | grep -q '^applied.*31m'"
spi_status >status.txt
exec {go}>&-
wait "$job"
is "$(tr -d '\n\t' <status.txt | grep -c '[[:cntrl:]]')$(grep -c $'^process\t1\t' status.txt)" 00 \
	"what an agent says of itself is one field of text"
check "the program from the beginning is still traced" applied "$witness"

# ---- the cache, and the agent's file -------------------------------------------------------
cache=$XDG_CACHE_HOME/lttng-spi
spi_wait 5 eval "[ -n \"\$(ls '$cache' 2>/dev/null)\" ]"
ok $? "root's code maps are cached" || diag "$(ls -la "$XDG_CACHE_HOME")"
another_broker() { [[ "$(pgrep -x -o spi-broker)" != @("$broker"|) ]] && answers; }
events() { babeltrace2 "c-$how" 2>/dev/null | grep -a 'app_first_entry' | tail -n 1; }
for how in malformed foreign writable; do
	kill -KILL "$broker"
	for file in "$cache"/*; do
		case $how in
		malformed) dd if=/dev/urandom of="$file" bs=64 count=20 seek=2 conv=notrunc status=none ;;
		foreign)
			dd if=/dev/urandom of="$file" bs=64 count=20 seek=2 conv=notrunc status=none
			chown 2001 "$file"
			;;
		writable) chmod 666 "$file"; chmod 777 "$cache" ;;
		esac
	done
	spi_wait 10 another_broker
	broker=$(pgrep -x -o spi-broker)
	spi_wait 10 applied "$witness"
	quiet lttng create "c-$how" -o "$PWD/c-$how"
	quiet lttng enable-event -u -s "c-$how" spi:app_first_entry
	quiet lttng start "c-$how"
	timeout 20 ./app 1 >/dev/null
	quiet lttng destroy "c-$how"
	like "$(events)" 'value = 42' "a cache that is $how: the right arguments still"
done
quiet lttng destroy s
touch stop
wait
kill "$sessiond"
no_daemon() { ! pgrep -x 'lttng-sessiond|lttng-consumerd|spi-broker'; }
check "all end" spi_wait 20 no_daemon
is "$(cat evil.log)" "" "nothing of the wrong was ever loaded"
cp "$agent" agent.so
chmod 775 agent.so
export LTTNG_SPI_AGENT=$SPI_TMP/agent.so
spi_sessiond
quiet lttng create t -o "$PWD/t"
quiet lttng enable-event -u 'spi:app_*'
quiet lttng start
./app busy stop2 >/dev/null & job=$!
pid=$job
check "an agent's file that others may write to is refused, with the reason" \
	spi_wait 10 eval "process $pid | grep -q 'refused.*others may write to it; chmod go-w it'" ||
		diag "$(process "$pid")"
unlike "$(cat "/proc/$pid/maps")" 'agent.so' "and not loaded"
touch stop2
wait "$job"
tap_done
