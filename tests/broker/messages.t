#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# A server comes under its client's rule with the client's first message, from that message on; and does not where it may
# not. Neither of them sees a difference.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
export LTTNG_SPI_IPC_NEVER=spared
broker_setup
spi_cc server "$SPI_PROGRAMS/message-pair.c"
spi_cc client "$SPI_PROGRAMS/message-pair.c" -Wl,--no-as-needed -llttng-ust
cp server spared
user=()

# talk SERVER CLIENT KIND WHERE - three questions; the client's output in ./answer, the server's pid in $server
talk() {
	rm -f ready
	"${user[@]}" "./$1" serve "$3" "$4" >ready &
	server=$!
	spi_wait 10 file_has ready ready
	"./$2" ask "$3" "$4" 3 >answer
	is "$(cat answer)" 9 "a client of $1 has its answers over $3"
	wait "$server"
	is $? 0 "and the server ends as ever"
}
# brought_in KIND - what the trace has to say then
brought_in() {
	recorded s
	is "$(grep -c spi_ipc:recv s.txt) $(grep -c spi_ipc:send s.txt)" "7 7" "over $1 all messages are recorded, from the first one on"
	like "$(grep spi_ipc:peer s.txt)" "pid = $server, name = \"server\", status = 0, .*"$'\n'".* name = \"client\", status = 1, " \
		"the server was brought in, and the client was under the rule by then"
	unlike "$(grep spi_ipc:send s.txt)" 'flags = 0x[2-9A-F]' "before any message went out"
	rm -rf s s.txt
}

for kind in tcp unix fifo; do
	record s 'spi:tree(main;exec=client;ipc=pipe+unix+tcp)' 'spi_ipc:*'
	talk server client $kind $([ $kind = tcp ] && echo 4001 || echo at.$kind)
	brought_in $kind
done

record s 'spi:tree(main;exec=client;ipc=pipe+unix+tcp)' 'spi_ipc:*'
talk spared client tcp 4002
like "$(status unfollowed)" $'^unfollowed\t0\ttcp\t1\t'"$server"$'\tspared\tit is one of the programs' "one that is never brought in is named"
recorded s
is "$(grep -c spi_ipc:recv s.txt)" 3 "and the client's messages alone are recorded"

if [ "$(id -u)" = 0 ] && [ "${SPI_OUTER_UID:-0}" = 0 ]; then
	mkdir -p home-1 && chown 1 home-1
	as_user 1 lttng create theirs --output="$SPI_TMP/home-1/t" >lttng.log 2>&1 &&
		as_user 1 lttng enable-event -u -s theirs 'spi:tree(main;exec=client;ipc=tcp)' >>lttng.log 2>&1 &&
		as_user 1 lttng start theirs >>lttng.log 2>&1 || { diag "$(cat lttng.log)"; echo "Bail out!"; exit 1; }
	spi_wait 10 status_like $'^rule\ttheirs\t'
	user_prefix 1
	printf '#!/bin/sh\nexec %s ./client "$@"\n' "${user[*]}" >as-1
	chmod +x as-1
	user=()
	talk server as-1 tcp 4003
	like "$(status unfollowed)" $'\t'"$server"$'\tserver\tthe rule\'s owner' "a user's rule brings in nobody else's server"
else
	skip "not root"
fi
tap_done
