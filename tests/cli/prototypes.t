#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Functions of libc, libm and libz on a machine without their debug info: arguments and results are as the program itself has
# them, by the prototypes that come along. And a user's own files of prototypes, of which a broken one stops nothing.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
[ ! -d /usr/lib/debug ] || mount -t tmpfs tmpfs /usr/lib/debug || { echo 'Bail out! debug info cannot be hidden'; exit 1; }
spi_daemon

# C(RESULT-FORMAT, RESULT-TYPE, NAME, "ENTRY-FORMAT", (ARGUMENTS)): a call by pointer, and what went in and came out
cat >calls.c <<'EOF2'
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char record[65536];
static size_t used;
static void put(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	used += (size_t) vsnprintf(record + used, sizeof(record) - used, format, ap);
	va_end(ap);
}
#define C(out, type, name, in, args) \
	({ \
		__typeof__(&name) volatile p_ = name; \
		put(#name "_entry" in "\n", UNPACK args); \
		type r_ = p_ args; \
		put(#name "_exit|ret=" out "\n", r_); \
		r_; \
	})
#define UNPACK(...) __VA_ARGS__

int main(void)
{
	static char text[64] = "the text";
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	char buffer[16], *end;
	int fd, exponent;
	double whole;

	fd = C("%d", int, open, "|pathname=\"%s\"|flags=%d", ("calls.c", O_RDONLY | O_CLOEXEC));
	C("%ld", ssize_t, read, "|fd=%d|buf=0x%lX|count=%zu", (fd, buffer, (size_t) 10));
	C("%ld", ssize_t, pread, "|fd=%d|buf=0x%lX|count=%zu|offset=%ld", (fd, buffer, (size_t) 16, (off_t) 1000000000000));
	C("%ld", off_t, lseek, "|fd=%d|offset=%ld|whence=%d<SEEK_END>", (fd, (off_t) -7, SEEK_END));
	C("%ld", off_t, lseek, "|fd=%d|offset=%ld|whence=%d", (fd, (off_t) 7, 77));
	C("%d", int, dup2, "|oldfd=%d|newfd=%d", (fd, 99));
	C("%d", int, close, "|fd=%d", (99));
	C("%d", int, dup, "|oldfd=%d", (-12345));
	C("%d", int, access, "|pathname=\"%s\"|mode=%d<R_OK>", ("/nowhere", R_OK));
	C("%u", mode_t, umask, "|mask=%u", (077));
	C("%d", int, mkdir, "|pathname=\"%s\"|mode=%u", ("made", 0x1c0));
	C("%d", int, atoi, "|nptr=\"%s\"", ("-2147483648"));
	C("%d", int, abs, "|j=%d", (-77));
	C("%" PRIuMAX, uintmax_t, strtoumax, "|nptr=\"%s\"|endptr=0x%lX|base=%d", ("18446744073709551615", &end, 10));
	C("%d", int, kill, "|pid=%d|sig=%d<SIGWINCH>", (getpid(), SIGWINCH));
	C("%d", int, toupper, "|c=%d", ('q'));
	C("%d", int, strncasecmp, "|s1=\"%s\"|s2=\"%s\"|n=%zu", (text, "THE TEST", (size_t) 7));
	C("\"%s\"", const char *, strstr, "|haystack=\"%s\"|needle=\"%s\"", (text, "nothing"));
	C("%d", int, setenv, "|name=\"%s\"|value=\"%s\"|overwrite=%d", ("NAME", "value with \303\244", 1));
	C("\"%s\"", const char *, getenv, "|name=\"%s\"", ("NAME"));
	C("%d", int, madvise, "|addr=0x%lX|length=%zu|advice=%d<MADV_RANDOM>", (NULL, (size_t) 0, MADV_RANDOM));
	C("%g", double, fmax, "|x=%g|y=%g", (2.0, -3.0));
	C("%g", double, atan2, "|y=%g|x=%g", (0.0, 4.0));
	C("%g", float, fdimf, "|x=%g|y=%g", (7.5f, 2.25f));
	C("%Lg", long double, ldexpl, "|x=%Lg|exp=%d", (-0.75L, 5));
	C("%g", double, frexp, "|x=%g|exp=0x%lX", (80.0, &exponent));
	C("%g", double, modf, "|x=%g|iptr=0x%lX", (-8.5, &whole));
	C("%ld", long, lroundf, "|x=%g", (-8.5f));
	C("%lu", uLong, compressBound, "|sourceLen=%lu", (1000000UL));
	C("%lu", uLong, adler32, "|adler=%lu|buf=0x%lX|len=%u", (1UL, (Bytef *) text, 8u));
	C("%d<Z_STREAM_ERROR>", int, deflateEnd, "|strm=0x%lX", (NULL));
	C("%d", int, pthread_mutex_destroy, "|mutex=0x%lX", (&mutex));
	{
		__typeof__(&ldiv) volatile divide = ldiv;
		ldiv_t d = divide(-1000000000007, 10);

		put("ldiv_entry|numerator=-1000000000007|denominator=10\nldiv_exit|ret_quot=%ld|ret_rem=%ld\n", d.quot, d.rem);
	}
	return write(1, record, used) != (ssize_t) used;
}
EOF2
spi_cc calls ./calls.c -w -fno-builtin -lm -lz
mapfile -t names < <(./calls | sed -n 's/_entry.*//p' | sort -u)
rules=()
for name in "${names[@]}"; do
	rules+=(-f "lib?.so.*:$name")
done
spi_trace_ok "traced: ${#names[@]} functions" "${rules[@]}" -o calls.d ./calls
cp trace.out record
spi_read calls.d
out=$(events compare calls.d.txt record 2>&1)
ok $? "$(grep -c _entry record) calls of libc, libm and libz without debug info: each value is the program's own"
diag "$(head -n 20 <<<"$out" | cut -c1-200)" "$(tail -n 12 trace.err)"

# ---- a user's files ----

cat >own.c <<'EOF2'
struct opaque;
int own_first(short small, const char *text, struct opaque *p) { return small; }
double own_second(double d, int way) { return d; }
EOF2
spi_compile libown.so gcc -O1 -w -fPIC -shared -s own.c
cat >user.c <<'EOF2'
extern int own_first(int small, const char *text, void *p);
extern double own_second(double d, int way);
int main(void)
{
	return own_first(-3, "hello", (void *) 0x10) != -3 || own_second(1.5, 2) != 1.5;
}
EOF2
spi_cc user ./user.c -w -L. -lown -Wl,-rpath,"$PWD"
cat >own.txt <<'EOF2'
enum way { UP = 1, DOWN };
library libown.so
int own_first(short small, const char *text, struct opaque *p);
double own_second(double d, enum way way);
EOF2
cat >own.record <<'EOF2'
own_first_entry|small=-3|text="hello"|p=0x10
own_first_exit|ret=-3
own_second_entry|d=1.5|way=2<DOWN>
own_second_exit|ret=1.5
EOF2
# typed NAME OPTION... - with these options the calls have their types
typed() {
	local name=$1 out
	shift
	rm -rf own.d own.d.txt
	spi_trace -f 'libown.so:own_*' -o own.d "$@" ./user && spi_read own.d
	out=$(events compare own.d.txt own.record 2>&1)
	ok $? "$name" || diag "$(head -n 5 <<<"$out")" "$(head -n 5 trace.err)"
}
typed '--prototypes FILE' --prototypes own.txt
mkdir -p "$XDG_CONFIG_HOME/lttng-spi/prototypes"
mine=$XDG_CONFIG_HOME/lttng-spi/prototypes/mine.txt
cp own.txt "$mine"
typed "the user's directory"
is "$("$SPI_LTTNG" trace -l -f 'own_*' ./libown.so | tr '\n' ' ')" 'own_first(short small, const char *text, struct opaque *p) own_second(double d, enum way way) ' \
	'lttng trace -l has them, too'
sed -i 's/enum way way/int renamed/' "$mine"
sed -i 's/way=2<DOWN>/renamed=2/' own.record
typed 'a changed file is used at once, whatever the cache has'

rm -rf alone.d
lttng create alone -o "$PWD/alone.d" >/dev/null && lttng enable-event -u 'spi:*' >/dev/null && lttng add-context -u -t vtid >/dev/null && lttng start >/dev/null
LTTNG_UST_REGISTER_TIMEOUT=-1 "${SPI_ALONE[@]}" LTTNG_SPI_TP="$SPI_TOP_BUILDDIR/tp/.libs/liblttng-spi-tp.so" LTTNG_SPI_RULES='libown.so:own_*' ./user
lttng destroy >/dev/null
spi_read alone.d
out=$(events compare alone.d.txt own.record 2>&1)
ok $? 'an agent without a controller' || diag "$(head -n 5 <<<"$out")"

# ---- what is wrong with them ----

printf 'int own_first(short small\n' >bad.txt
spi_trace -f 'own_*' --prototypes bad.txt ./user >out
is "$? $(wc -c <out) $(cat trace.err)" "1 0 Error: bad.txt:2:1: expected ',' or ')' before the end of the file" 'a wrong file on the command line: one line, nothing runs'
spi_trace -f 'own_*' --prototypes missing.txt ./user >out
is "$? $(cat trace.err)" "1 Error: missing.txt: cannot be read: No such file or directory" 'one that is missing'
spi_trace -l --prototypes bad.txt ./libown.so >out
is "$? $(wc -c <out) $(wc -l <trace.err)" '1 0 1' 'the same with -l'
spi_trace -f 'own_*' --prototypes own.txt --exec user >out
is "$? $(grep -c 'prototypes goes without --exec' trace.err)" '2 1' '--exec: the command line cannot name files'

cp bad.txt "$XDG_CONFIG_HOME/lttng-spi/prototypes/bad.txt"
typed "a wrong file in the user's directory stops nothing"
is "$(grep -c 'bad.txt' trace.err) $(grep -c 'bad.txt:2:1: expected .* is not used' trace.err)" '1 1' 'one line names it'
ln -sf /dev/zero "$XDG_CONFIG_HOME/lttng-spi/prototypes/bad.txt"
typed 'nor does one that has no end'
is "$(grep -c 'bad.txt' trace.err) $(grep -c 'not a regular file' trace.err)" '1 1' 'one line names that'
rm "$XDG_CONFIG_HOME/lttng-spi/prototypes/bad.txt"

# ---- root's files, and another user's process ----

if [ "${SPI_OUTER_UID:-0}" = 0 ]; then
	chmod 700 "$HOME"
	cat >waits.c <<'EOF2'
#include <stdio.h>
#include <unistd.h>
extern int own_first(int small, const char *text, void *p);
extern double own_second(double d, int way);
int main(void)
{
	char c;

	while (read(0, &c, 1) == 1 && c != 'q') {
		own_first(-3, "hello", (void *) 0x10);
		own_second(1.5, 2);
		if (write(1, &c, 1) < 0)
			return 1;
	}
	return 0;
}
EOF2
	spi_cc waits ./waits.c -w -L. -lown -Wl,-rpath,"$PWD"
	mkfifo in
	rm -f other.out
	setpriv --reuid 65534 --regid 65534 --clear-groups ./waits <in >other.out &
	pid=$!
	exec {to}>in
	spi_wait 5 test -e "/proc/$pid/root" || diag 'no process'
	spi_trace -f 'libown.so:own_*' -p "$pid" -o other.d --duration 60 >out &
	tracer=$!
	spi_wait 30 grep -q 'Trace directory' trace.err
	printf x >&"$to"
	spi_wait 10 test -s other.out
	printf q >&"$to"
	exec {to}>&-
	wait "$pid" "$tracer"
	spi_read other.d
	out=$(events compare other.d.txt own.record 2>&1)
	ok $? "root's files type the functions of another user's process" || diag "$(head -n 5 <<<"$out")" "$(head -n 5 trace.err)"
else
	pass 'root traces another user: not root here # SKIP'
fi
tap_done
