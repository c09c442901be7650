#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Which process is at the other end of a channel is found, whatever the channel is, and comes under the rule of the process that
# sends, if the rule's owner may trace it.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
export LTTNG_SPI_IPC_NEVER=nothing,nev*
broker_setup
record s 'spi:tree(main;ipc=pipe+unix+tcp+udp)'
peers() { rm -f fifo stream seqpacket waiting datagram absolute connected; timeout $((${within:-20} * SPI_PATIENCE)) python3 "$SPI_PROGRAMS/peers.py" /run/lttng/spi-agent "$@" 2>&1; }
brought=$'status 0 ready 1 refused 0 late 0 inode right\nreceiver\tpython3[.0-9]*\t0\t$'

for kind in pipe fifo unix seqpacket abstract waiting pair datagram absolute abstract-datagram connected-datagram tcp tcp6 wildcard \
	dual mapped listening listening-dual listening-6 reuse udp udp-wildcard udp-dual udp6 udp-connected; do
	out=$(peers $kind)
	like "$out" "^told 1 on-message position 4711"$'\n'"$brought" "$kind: the process at the other end is found, and told where the message begins"
done
like "$(peers tcp twice)" $'ready 1.*\t0\t\n.*ready 1.*\t1\t$' "one that was brought in is under the rule with the next message"
for kind in unix tcp pair; do
	like "$(peers $kind receiver)" "the receiver hears 0 right" "$kind: the receiver is told of the sender's end"
done
like "$(peers pipe alone)" $'ready 1 .*\nsender\t[^\t]*\t1\t$' "who has both ends of a pipe alone is at the other end"
like "$(peers pipe more=2 other=./plain)" $'\nreceiver\t.*\nanother\t.*\nanother\t' "all that have the reading end are found"

# what is not there, or may not be
like "$(peers udp-nobody)" $'status -113 .*\n.*\t127.0.0.1:9 is not in this network namespace$' "an address that is elsewhere is named"
like "$(peers tcp foreign)" $'status -1 .*no such descriptor$' "a process asks for its own channels alone"
like "$(peers nobody)" $'status -1 .*no connection to 127.0.0.1:2 by this socket$' "and for no connection that its socket is not of"
like "$(peers tcp wrong)" $'status -1 .*no rule that is in force in it follows messages over tcp$' "and by rules that it has"
cp plain sshd
cp plain never
for name in sshd never; do
	like "$(peers tcp copy=./$name)" $'refused 1 .*\nreceiver\t'$name$'\t-1\tit is one of the programs' "$name is never brought in"
done
like "$(peers listening copy=./never more=19 other=./never)" $'ready 0 refused 20 late 0 .*\n0\t4 more\t-7\tone message brings in 16' \
	"of many processes those beyond 16 are counted"
like "$(peers tcp mute deadline=300)" $'late 1 .*\nreceiver\t[^\t]*\t-115\t' "one that does not answer is late"
like "$(within=7 peers tcp mute deadline=300 again=10000)" $'late 1 .*\n.*late 1 .*' "nor does a second message to it wait"
like "$(peers tcp flood=100 | tail -n 1)" '^refused ([1-9]|[12][0-9]|3[0-6]) taken (6[4-9]|[7-9][0-9])$' "of many questions at a time some are refused"

# a program that has no agent
mkfifo hold
exec {hold}<>hold
peers tcp copy=./plain deadline=300 hold <hold >held &
check "one without the tracer is brought in" spi_wait 20 status_like "^applied.[0-9]+.tree\(main;ipc=pipe\+unix\+tcp\+udp;on-message;tag=[0-9a-f]*\).active"
brought=$(status brought | cut -f 2)
like "$(status brought)" $'^brought\t'"$brought"$'\ttcp\t[0-9]+\tpython3' "and listed with the message that brought it in"
like "$("$SPI_LTTNG" list --spi)" "Brought in by a message of [0-9]+ \(python3[.0-9]*\) over tcp.*tcp \(uid 0\): [0-9]+ channels asked for.*Not brought in over tcp .*sshd: it is one of" \
	"as lttng list --spi says, with what was not"
like "$("$SPI_LTTNG" --mi xml list --spi)" "<brought><channel>tcp</channel><sender>[0-9]+</sender>.*<unfollowed><uid>0</uid>|<unfollowed><uid>0</uid>.*<brought>" "and as XML"
lttng_ok destroy s
check "with the rule it goes" spi_wait 10 status_unlike "^(brought|applied)"
echo >&"$hold"
wait $!
record s 'spi:tree(main;ipc=pipe+unix+tcp+udp)'

if [ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ]; then
	like "$(peers tcp apart)" "ready 1 refused 0 late 0 inode right" "the network namespace is that of the process that asks"
	like "$(peers tcp sender=3 user=4)" $'ready 1 .*\n0\tanother user\'s process\t0\t$' "of another user's process nothing is told"
	lttng_ok destroy s
	for uid in 1 2; do mkdir -p "home-$uid" && chown "$uid" "home-$uid"; done
	as_user 1 lttng create theirs --output="$SPI_TMP/home-1/t" >lttng.log 2>&1 &&
		as_user 1 lttng enable-event -u -s theirs 'spi:tree(main;ipc=tcp)' >>lttng.log 2>&1 &&
		as_user 1 lttng start theirs >>lttng.log 2>&1 || { diag "$(cat lttng.log)"; echo "Bail out!"; exit 1; }
	spi_wait 10 status_like $'^rule\ttheirs\t'
	like "$(peers tcp sender=1 user=1)" $'ready 1 .*\nreceiver\t[^\t]*\t0\t$' "a user's rule follows into that user's processes"
	for uid in 2 0; do
		like "$(peers tcp sender=1 user=$uid)" $'refused 1 .*\n0\tanother user\'s process\t-1\twhat becomes of it is not told$' "and not into user $uid's"
	done
	out=$(as_user 1 python3 "$SPI_TOP_SRCDIR/tests/lib/broker-status.py")
	like "$out" $'\nunfollowed\t1\ttcp\t1\t0\tanother user\'s process\t' "nor does the user hear of them later"
	unlike "$out" $'\n(unfollowed|asked)\t0' "or of other users' messages"
else
	diag "users and network namespaces: not root"
fi
tap_done
