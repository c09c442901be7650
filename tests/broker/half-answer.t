#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# An answer of the daemon that the broker cannot read, as it has no descriptor for a moment: what is left of it is not taken
# for the answer to the next question, in which all rules would be missing.
. "${SPI_TOP_SRCDIR:?}/tests/lib/broker.sh"
spi_private "$@"
cat >half.c <<'C'
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
int memfd_create(const char *name, unsigned int flags)
{
	if (!strcmp(name, "spi-rules") && !unlink(HERE "/fail")) {
		errno = EMFILE;
		return -1;
	}
	return ((int (*)(const char *, unsigned int)) dlsym(RTLD_NEXT, "memfd_create"))(name, flags);
}
/* The querier asks for sessions first. */
int lttng_list_triggers(void *triggers)
{
	if (!access(HERE "/slow", F_OK))
		usleep(700000);
	return ((int (*)(void *)) dlsym(RTLD_NEXT, "lttng_list_triggers"))(triggers);
}
C
gcc -shared -fPIC -D_GNU_SOURCE -DHERE="\"$SPI_TMP\"" -o half.so half.c
printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$SPI_TMP/half.so" "$SPI_TOP_BUILDDIR/broker/spi-broker" >broker
chmod +x broker
export LTTNG_SPI_BROKER=$SPI_TMP/broker
broker_setup

record s 'spi:add_entry'
app_start a ./app 3 wait
check "a program is traced" spi_wait 10 status_like "^applied.$app_pid.add.active"
touch slow fail
lttng_ok list
check "the daemon's answer cannot be read" spi_wait 10 eval '[ ! -e fail ]'
spi_wait 3 status_unlike "^applied.$app_pid.add.active"
is $? 1 "the rule stays in force" || diag "$(status)"
app_call "$app_in" 4 a.out
exec {app_in}>&-
wait "$app_pid"
rm slow
recorded s
is "$(spi_count "$SPI_TMP/s" add_entry)" 7 "all calls are recorded"
tap_done
