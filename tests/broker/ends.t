#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# The daemon ends, or the broker is killed: programs go on, nothing is left behind, and the next ones take over.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
broker_setup

app_start a ./app 3 wait
a=$app_pid in=$app_in
text_is_original() { python3 "$SPI_TOP_SRCDIR/tests/lib/text-equal.py" "$a"; }
broker_pids() { pgrep -x spi-broker; }
no_broker() { [ -z "$(broker_pids)" ]; }

record s 'spi:add_entry'
check "a program is traced" spi_wait 10 status_like "^applied.$a.add.active"
kill -9 "$(broker_pids | head -n 1)"
check "the broker is killed: the code goes back, or is traced again by the next one" \
	spi_wait 10 status_like "^applied.$a.add.active"
app_call "$in" 5 a.out
lttng_ok destroy s
spi_read "$SPI_TMP/s"
is "$(spi_count "$SPI_TMP/s" add_entry)" 5 "which traces it as the first did"
before=$(ls /proc/"$a"/fd | wc -l)/$(ls /proc/"$a"/task | wc -l)
for _ in 1 2 3; do
	old=$(broker_pids | head -n 1)
	kill -9 "$old"
	spi_wait 5 pid_gone "$old"
	spi_wait 10 status_has version
done
record s2 'spi:add_entry'
check "nor do three more kills keep it from its work" spi_wait 10 status_like "^applied.$a.add.active"
lttng_ok destroy s2
check "(the second session is gone)" spi_wait 10 status_like "^process.$a.0.idle"
is "$(ls /proc/"$a"/fd | wc -l)/$(ls /proc/"$a"/task | wc -l)" "$before" \
	"the program has as many descriptors and threads as before"

kill -9 "$daemon"
check "the daemon is killed: the broker and its children end" spi_wait 5 no_broker
check "the code is what it was" text_is_original
is "$(ls -A /run/lttng | grep spi)" "" "no socket and no directory of ours stays"
app_call "$in" 2 a.out
ok $? "the program runs"
broker_daemon
record s3 'spi:work_entry'
check "and a new daemon takes it back" spi_wait 15 status_like "^applied.$a.work.active"
kill "$daemon"
check "the daemon ends as it should: so does the broker" spi_wait 10 no_broker
check "the code is what it was" text_is_original
exec {in}>&-
wait "$a"
is $? 0 "the program ends as ever"
tap_done
