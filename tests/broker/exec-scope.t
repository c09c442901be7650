#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Programs that know nothing of lttng-ust, by name and by pid: those that run, and
# those to come, also where the kernel tells of none (as in these namespaces),
# which is said. A rule acts in its scope only.
. "${SPI_TOP_SRCDIR:?}/tests/lib/sessiond.sh"
spi_private "$@"
spi_cc zoo zoo.c
spi_cc thrower thrower.cc
cp thrower other
spi_sessiond
quiet lttng create s -o "$PWD/s"
background ./thrower 0 2
first=$target
check "a rule for programs of a name" "$SPI_LTTNG" enable-event --spi -f t_middle --exec thrower
quiet lttng start
spi_wait 10 spi_status_has "^applied\t$first\t.*active"
ok $? "one that runs already" || diag "$(spi_status)"
background ./other 0 2
elsewhere=$target
background ./thrower 0 2
second=$target
spi_wait 10 spi_status_has "^applied\t$second\t.*active"
ok $? "one that came later" || diag "$(spi_status)"
is "$(spi_status | grep -cP "^process\t$elsewhere\t")" 0 "a program of another name is left alone"
check "a rule for a process" "$SPI_LTTNG" enable-event --spi -f t_middle --pid "$elsewhere"
spi_wait 10 spi_status_has "^applied\t$elsewhere\t.*active"
ok $? "by its pid"
like "$("$SPI_LTTNG" list --spi)" 'looked for every second' "that the kernel tells of no exec is said"
spi_wait 10 sh -c "[ \"\$($SPI_LTTNG list --spi | grep -c 'Events recorded: [1-9]')\" = 3 ]"
ok $? "all three record" || diag "$("$SPI_LTTNG" list --spi)"
check "the rule by name goes" "$SPI_LTTNG" disable-event --spi -f t_middle --exec thrower
spi_wait 10 sh -c "! { $SPI_LTTNG list --spi | grep -A2 '^  $second ' | grep -q 'active'; }"
ok $? "and with it its points"
spi_status_has "^applied\t$elsewhere\t.*active"
ok $? "but not another rule's"
for pid in "$first" "$second" "$elsewhere"; do
	finish "$pid"
	is $? 0 "a process ends as ever" || :
done
quiet lttng stop
quiet lttng destroy
[ "$(spi_count s t_middle_entry)" -gt 10 ]
ok $? "their calls are in the trace"
tap_done
