#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# timeout: 120
#
# The injector works on the process it was asked for and on no other: not on one
# that has got its id since, nor on another program or user under that id; and it
# loads no agent that others may have written.
. "${SPI_TOP_SRCDIR:?}/tests/lib/injector.sh"
library=$SPI_TOP_BUILDDIR/injector/.libs/libspi-control.a
agent=$SPI_TOP_BUILDDIR/liblttng-spi/.libs/liblttng-spi.so.0
[ -e "$library" ] && [ -e "$agent" ] || skip_all "needs the build tree"
spi_private "$@"
prepare
options=()
grep -q '^SAN_CFLAGS = .*-fsanitize' "$SPI_TOP_BUILDDIR/injector/Makefile" && options=(-fsanitize=address,undefined)
build expect units/injector/expect.c -I"$SPI_TOP_SRCDIR" "$library" "$SPI_TOP_BUILDDIR/rules/.libs/libspi-rules.a" "${options[@]}" -ldw -lelf -pthread
lib=$SPI_TMP/libmark.so
me=$(id -u)

start block read
like "$(./expect "$target" "$lib" 1 -)" "^ESRCH process $target \(target\) has the id of one that has ended: it started at" \
	"another start time is refused"
like "$(./expect "$target" "$lib" 0 4321)" "^EPERM process $target \(target\) is not uid 4321's: its real uid is $me" \
	"another user is refused"
is "$(marks)" 0 "and nothing was loaded"
is "$(./expect "$target" "$lib" +0 "$me")" "0 " "what was expected is injected"
is "$(marks)" 1 "once"
finish
ok $? "the program ends well"

like "$(./expect exec "$SPI_TMP/target" "$lib")" '^ESRCH process [0-9]+ \(expect\) runs another program now: nothing was loaded' \
	"a process that runs another program meanwhile is left alone"
is "$(marks)" 1 "nothing was loaded"
cp target setuid
if [ "${SPI_OUTER_UID:-0}" = 0 ] && chown 65534 setuid && chmod 4755 setuid &&
	[ "$(./setuid block read </dev/null | head -n 1)" = ready ] && ! findmnt -no OPTIONS -T . | grep -qw nosuid; then
	like "$(./expect exec "$SPI_TMP/setuid" "$lib")" '^EPERM process [0-9]+ \(expect\) has changed its user meanwhile' \
		"nor is one that runs a setuid program"
	is "$(marks)" 1 "nothing was loaded"
else
	skip "setuid program" "needs root and a file system with setuid"
fi

# A process that runs itself anew all the time: injected or not, it lives.
cat >anew.c <<'C'
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct pollfd p = { 0, POLLIN, 0 };
	struct timespec t = { 0, 300000 };

	if (argc < 3) {
		puts("ready");
		fflush(stdout);
	}
	if (poll(&p, 1, 0) > 0)
		return 0;
	nanosleep(&t, 0);
	execl("/proc/self/exe", "target", "again", "again", NULL);
	return 1;
}
C
mv target usual
gcc -O1 -o target anew.c
start
for i in $(seq 60); do
	"$inject" --deadline 50 pid "$target" "$lib" >>anew.out 2>>anew.err
done
diag "$(wc -l <anew.out) of 60 injections in time; others: $(sed 's/.*) //' anew.err | sort | uniq -c | sort -rn | head -n 3)"
finish
ok $? "one that runs itself anew all the time ends well"
mv usual target

start block read
cp "$agent" agent.so
chmod 775 agent.so
like "$(LTTNG_SPI_AGENT=$SPI_TMP/agent.so "$inject" pid "$target" 2>&1)" \
	"agent.so: not loaded into process $target: others may write to it; chmod go-w it" "an agent that a group may write"
chmod 755 agent.so
if [ "${SPI_OUTER_UID:-0}" = 0 ] && chown 4321 agent.so; then
	like "$(LTTNG_SPI_AGENT=$SPI_TMP/agent.so "$inject" pid "$target" 2>&1)" \
		"agent.so: not loaded into process $target: it belongs to uid 4321, and only" "an agent of another user"
	chown 0 agent.so
else
	skip "an agent of another user" "needs root"
fi
ok "$(grep -c agent.so "/proc/$target/maps")" "neither was loaded"
finish
ok $? "the program ends well"

# As the target's own user, without privileges.
if [ "${SPI_OUTER_UID:-0}" = 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
	chmod 755 "$SPI_TMP"
	cp "$(dirname "$inject")/.libs/spi-inject" as-user 2>/dev/null || cp "$inject" as-user
	chmod 755 as-user
	mkfifo feed2
	setpriv --reuid 65534 --clear-groups ./target block read <feed2 >target2.out & target=$!
	exec {feed}>feed2
	spi_wait 5 file_has target2.out '^ready'
	LTTNG_SPI_AGENT=$SPI_TMP/agent.so setpriv --reuid 65534 --clear-groups ./as-user pid "$target" >user.out 2>&1
	is $? 0 "its own user injects it" || diag "$(cat user.out)"
	finish
	ok $? "the program ends well"
else
	skip "its own user" "needs root"
fi
tap_done
