#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Events of a payload's own (spi_agent_add_record()): all kinds of fields, in threads and forked children, in a session of
# the stock commands; and names that LTTng would not take.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
. "$SPI_TOP_SRCDIR/tests/lib/sessiond.sh"
spi_private "$@"
cat >records.c <<'END'
#include <lttng/spi.h>
#include <stdio.h>

static struct spi_record *all, *callers;

static void *enter(struct spi_call *call, void *data)
{
	struct spi_arguments at = { 0 };
	const int *x = spi_call_pop_argument(call, &at, sizeof(*x));
	uint64_t addresses[4];
	const uint64_t values[] = { 5, 0xabc, (uint64_t) -6, (uint32_t) *x, (uint64_t) "a text" };
	const size_t n = spi_call_backtrace(call, addresses, 4);

	(void) data;
	spi_record_write(all, spi_call_return_address(call), values, NULL, 0);
	spi_record_write(callers, spi_call_return_address(call), values + 1, addresses, n);
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	static const char *const names[] = { "leaf" };
	static const struct spi_record_field fields[] = {
		{ "count", SPI_RECORD_UNSIGNED }, { "where", SPI_RECORD_HEX }, { "change", SPI_RECORD_SIGNED },
		{ "x", SPI_RECORD_INT }, { "what", SPI_RECORD_TEXT },
	}, two[] = { { "where", SPI_RECORD_HEX }, { "from", SPI_RECORD_ADDRESSES } }, bad[] = {
		{ "from", SPI_RECORD_ADDRESSES }, { "x", SPI_RECORD_INT }, { "x", SPI_RECORD_INT }, { "a.b", SPI_RECORD_INT } };
	struct spi_agent *agent = spi_agent_create(NULL);

	for (int i = 0; i < 3; i++)
		if (!spi_agent_add_record(agent, "my", "bad", bad + i, i == 2 ? 2 : 2 + (i == 0)))
			fprintf(stderr, "%s\n", spi_agent_error(agent));
	if (!spi_agent_add_record(agent, "spi", "bad", fields, 5) || !spi_agent_add_record(agent, "my", "b:d", fields, 5) ||
			!spi_agent_add_record(agent, "my", "none", fields, 0))
		fprintf(stderr, "%s\n", spi_agent_error(agent));
	all = spi_agent_add_record(agent, "my", "all", fields, 5);
	callers = spi_agent_add_record(agent, "my", "callers", two, 2);
	spi_agent_set_entry(agent, enter, NULL);
	spi_agent_set_init_event(agent, spi_event_calls(names, 1));
	if (!all || !callers || spi_agent_go(agent) < 0)
		fprintf(stderr, "not: %s\n", spi_agent_error(agent));
	else if (spi_agent_add_record(agent, "my", "late", two, 2))
		fprintf(stderr, "an event was added late\n");
}
END
cat >leaf.c <<'END'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noipa)) int leaf(int x) { return 2 * x; }
static void *work(void *unused) { leaf(-3); return unused; }
int main(void)
{
	pthread_t thread;
	int status = 1;

	leaf(-1);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	if (fork() == 0) {
		leaf(-2);
		_exit(0);
	}
	wait(&status);
	return status;
}
END
spi_compile leaf gcc -O1 -g -pthread leaf.c
gcc -O2 -Wall -Wextra -Werror -shared -fPIC records.c -o records.so -I"$SPI_TOP_SRCDIR/include" -L"$SPI_LIBRARY" \
	-llttng-spi -Wl,-rpath,"$SPI_LIBRARY" || { echo "Bail out! records.c does not compile"; exit 1; }
sessiond_start
lttng_ok() { command lttng "$@" >lttng.log 2>&1 || diag "lttng $*: $(cat lttng.log)"; }
lttng_ok create own --output="$PWD/own"
lttng_ok enable-event -u 'my:*'
lttng_ok add-context -u -t vpid -t vtid -t ip
lttng_ok start
LD_PRELOAD=$PWD/records.so LTTNG_UST_REGISTER_TIMEOUT=-1 ./leaf 2>err
is $? 0 "the program's status" || diag "$(cat err)"
lttng_ok destroy own
babeltrace2 own >events 2>read.err
is "$(cat read.err)" "" "the trace is whole"
is "$(sed -n 's/.* my:all: .*}, { \(.*\) }$/\1/p' events)" \
	'count = 5, where = 0xABC, change = -6, x = -1, what = "a text"
count = 5, where = 0xABC, change = -6, x = -3, what = "a text"
count = 5, where = 0xABC, change = -6, x = -2, what = "a text"' "values of all kinds, in a thread and a forked child" || diag "$(head events)"
is "$(sed -n 's/.*vpid = \([0-9]*\), vtid = \([0-9]*\).*/\1 \2/p' events | sort -u | awk '!p[$1]++ { n++ } { t++ } END { print n, t }')" "2 3" \
	"of two processes and three threads"
is "$(grep -c 'my:callers: .*where = 0xABC, _from_length = [234], from = \[ \[0\] = 0x[0-9A-F]*, ' events)" 3 "sequences" || diag "$(head events)"
is "$(grep my:callers events | sed -n 's/.*ip = \([0-9]*\) .*\[0\] = 0x\([0-9A-F]*\).*/\1 \2/p' | while read -r ip first; do [ "$ip" = $((16#$first)) ] && echo same; done | sort -u)" \
	same "the context ip is what the payload says"
is "$(cat err)" "the event bad: a field of no known kind, or a sequence that is not its last field
the event bad: two fields of one name
the event bad: a field's name is no identifier, or too long
the event bad: its name or its provider's is no identifier, too long, or spi" "what LTTng would not take is refused"
tap_done
