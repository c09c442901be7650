#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 180
#
# Root's daemon and two users: A is in the tracing group, B is not. A's rule acts on
# A's processes alone, whatever it says, root's on everybody's. A sees nothing of
# others' in the status socket, reaches no other's process through the agent
# socket, and finds no way to the broker or its children. B makes no rules at all.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
[ "$(id -u)" = 0 ] || skip_all "needs several users: root"
spi_private "$@"
group=$(getent group tracing | cut -d: -f3)
[ -n "$group" ] || skip_all "there is no group tracing"
# The stock daemon ends when a user saves a session whom the system doesn't know.
grep -v 'spi-user' /etc/passwd >passwd
printf 'spi-user-%s:x:%s:%s::%s:/bin/sh\n' a 2001 2001 "$PWD/home-2001" b 2002 2002 "$PWD/home-2002" >>passwd
{ sed "s/^\(tracing:.*:\)\(.*[^:]\)$/\1\2,spi-user-a/;s/^\(tracing:.*:\)$/\1spi-user-a/" /etc/group
	printf 'spi-user-%s:x:%s:\n' a 2001 b 2002; } >group
mount --bind passwd /etc/passwd && mount --bind group /etc/group || skip_all "cannot mount a private /etc/passwd"
for uid in 2001 2002; do mkdir -p "home-$uid" && chown "$uid:$uid" "home-$uid"; done
as_a() { setpriv --reuid 2001 --regid 2001 --groups "$group" env HOME="$PWD/home-2001" LTTNG_HOME="$PWD/home-2001" \
	"$@"; }
as_b() { setpriv --reuid 2002 --regid 2002 --clear-groups env HOME="$PWD/home-2002" LTTNG_HOME="$PWD/home-2002" "$@"; }
# status_as a|b - what that user is told
status_as() { "as_$1" /usr/bin/python3 "$SPI_TOP_SRCDIR/tests/lib/broker-status.py"; }

spi_app
spi_sessiond
broker=$(pgrep -x -o spi-broker)
export LTTNG_UST_REGISTER_TIMEOUT=-1
as_a ./app busy stop >out.a & a=$!
as_b ./app busy stop >out.b & b=$!
./app busy stop >out.root & root=$!
for who in a b root; do spi_wait 10 file_has "out.$who" begun; done
pid_of() { pgrep -x app -u "$1" | tail -n 1; }
a=$(pid_of 2001) b=$(pid_of 2002) root=$(pid_of 0)
applied() { spi_status | grep -P "^applied\t$1\t$2\tactive"; }
# inside PID - has it anything of ours?
inside() { grep -q lttng-spi "/proc/$1/maps"; }

# ---- A's rules ------------------------------------------------------------------
check "A makes a session in root's daemon" as_a lttng create theirs -o "$PWD/home-2001/t"
check "and a rule" as_a lttng enable-event -u -s theirs 'spi:app_work*'
check "and rules that name others' processes" as_a lttng enable-event -u -s theirs "spi:call(app_other;pid=$b)"
quiet as_a lttng enable-event -u -s theirs "spi:call(app_other;pid=$root)"
quiet as_a lttng enable-event -u -s theirs "spi:call(app_other;exec=app)"
quiet as_a lttng add-trigger --condition event-rule-matches --type user --name 'spi:app_first_entry' --action notify
quiet as_a lttng start theirs
check "A's process is traced" spi_wait 15 applied "$a" 'app_work\*'
# New processes of each, which are held and let go
as_b ./app 3 >/dev/null
./app 3 >/dev/null
check "by the rule for a name, too" spi_wait 15 applied "$a" 'call\(app_other[^\t]*'
[ -z "$(applied "$b" '[^\t]*')$(applied "$root" '[^\t]*')" ] && ! inside "$b" && ! inside "$root"
ok $? "B's and root's have nothing inside" || diag "$(spi_status)"
like "$(status_as a)" $'\nprocess\t'"$a"$'\t2001\ttraced' "A sees A's process"
unlike "$(status_as a)" $'\n(process|applied|declined|counts|message)\t('"$b|$root"$')\t' "and no other's"
like "$(status_as a)" $'\nrule\ttheirs\t' "A sees A's rules"
unlike "$(status_as b)" $'\n(process|applied|declined|counts|message|rule)\t' \
	"B sees nothing: B has no process under a rule, and no rule"

# ---- root's ----------------------------------------------------------------------
quiet lttng create all -o "$PWD/all"
quiet lttng enable-event -u -s all 'spi:app_oth*_entry'
quiet lttng start all
for pid in "$a" "$b" "$root"; do
	check "root's rule reaches everybody" spi_wait 15 applied "$pid" 'app_oth\*[^\t]*'
done
unlike "$(status_as a)" $'\nrule\tall\t' "A does not see root's rules"
unlike "$(status_as a)" $'\n(process|applied|declined|counts|message)\t('"$b|$root"$')\t' "nor others' processes now"
like "$(status_as b)" $'\nprocess\t'"$b"$'\t2002\t' "B sees B's"
unlike "$(status_as b)" $'\n(process|applied)\t('"$a|$root"$')\t' "and no other's"
[ -z "$(applied "$b" 'app_work[^\t]*')$(applied "$root" 'app_work[^\t]*')" ]
ok $? "A's rule still acts on A's alone"
as_a lttng disable-event -u -s all 'spi:app_oth*_entry' >refused 2>&1
isnt=$?
[ $isnt -ne 0 ]
ok $? "A cannot change root's rule"

# ---- other ways ------------------------------------------------------------------------
as_b lttng list >b.out 2>&1
as_b lttng enable-event -u -s all 'spi:app_first' >>b.out 2>&1
[ $? -ne 0 ]
ok $? "B, who is not in the group, makes no rules through root's daemon" || diag "$(cat b.out)"
as_b /usr/bin/python3 -c \
	'import socket; socket.socket(socket.AF_UNIX).connect("/run/lttng/client-lttng-sessiond")' 2>b.err
like "$(cat b.err)" PermissionError "nor has B a way to it"
is "$(stat -c '%a %U' /run/lttng/spi-query /run/lttng/spi-broker.lock | tr '\n' ' ')" "700 root 600 root " \
	"what the daemon saves is root's to read"
# The agent socket: say who one is not, ask for what is another's
cp app secret && chmod 711 secret
./secret busy stop >/dev/null & secret=$!
for other in "$b" "$secret"; do
	quiet lttng enable-event -u -s all "spi:call(app_first;pid=$other)"
	check "a rule for one process" spi_wait 15 applied "$other" 'call\(app_first[^\t]*'
	as_a /usr/bin/python3 "$SPI_PROGRAMS/liar.py" /run/lttng/spi-agent claim "$other" >claim 2>&1
	like "$(cat claim)" 'RULE_ADD .*app_oth' "who says that he is that one"
	unlike "$(cat claim)" 'RULE_ADD .*call\(app_first' "is not told its rule"
	as_a /usr/bin/python3 "$SPI_PROGRAMS/liar.py" /run/lttng/spi-agent maps "$other" \
		"$PWD/secret" >maps 2>&1
	is "$(grep -c '^map none' maps) $(wc -l <maps)" "3 3" "and gets no code map of a file that he may not read" ||
		diag "$(cat maps)"
	check "the other stays traced" applied "$other" 'app_oth\*[^\t]*'
done
# The broker, its injectors of A's own user and the other children: nothing that A can take hold of
as_a ./app 3 >/dev/null
workers=$(pgrep -P "$broker")
for pid in $broker $workers; do
	as_a ls "/proc/$pid/fd" >/dev/null 2>&1 && echo "fd of $pid"
	as_a dd if="/proc/$pid/mem" bs=1 count=0 status=none 2>/dev/null && echo "mem of $pid"
	as_a gdb -batch -p "$pid" -ex 'info registers rip' 2>/dev/null | grep -q '^rip' && echo "ptrace of $pid"
done >held
is "$(cat held)" "" "A gets hold of no descriptor and no memory of the broker and its children" || diag "$workers"
touch stop
nobody_runs() { ! pgrep -x app >/dev/null; }
check "all programs end" spi_wait 30 nobody_runs ||
	diag "$(ps -eLo pid,ppid,tid,user,stat,wchan:24,comm)" "$(for pid in $(pgrep -x app); do
		timeout 20 gdb -batch -p "$pid" -ex 'thread apply all bt 12' 2>&1 | grep '^[#T]'; kill -KILL "$pid"; done)"
wait
quiet lttng stop all
quiet as_a lttng destroy theirs
quiet lttng destroy all
spi_read all
like "$(grep -c app_other_entry all.txt)" '^[1-9]' "root's session has the calls"
is "$(grep -c app_work all.txt)" 0 "and nothing of what A asked for"
tap_done
