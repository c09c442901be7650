#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# COMMAND cannot tell that it runs under the tracer: its standard streams,
# environment, descriptors, signals and exit status are what they would be.
. "${SPI_TOP_SRCDIR:?}/tests/lib/trace.sh"
spi_private "$@"
spi_daemon
spi_cc zoo zoo.c

cat >self.c <<'EOF'
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* What a program can see of how it was started. */
__attribute__((noinline)) int show(int argc, char **argv)
{
	sigset_t set;
	char path[64], link[4096];

	for (char **e = environ; *e; e++)
		printf("env %s\n", *e);
	for (int i = 0; i < argc; i++)
		printf("arg %s\n", argv[i]);
	for (int fd = 0; fd < 256; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t n = readlink(path, link, sizeof(link) - 1);
		if (n > 0 && fd < 100)
			printf("fd %d %.*s\n", fd, (int) (strcspn(link, ":[") < (size_t) n ? strcspn(link, ":[") : (size_t) n), link);
	}
	sigprocmask(0, NULL, &set);
	for (int s = 1; s < 65; s++) {
		struct sigaction a;
		if (s != 32 && s != 33 && sigismember(&set, s))
			printf("blocked %d\n", s);
		/* the tracer may have handlers of its own for faults; what a program can inherit is being ignored */
		if (sigaction(s, NULL, &a) == 0 && a.sa_handler == SIG_IGN)
			printf("ignored %d\n", s);
	}
	printf("group %d\n", getpgrp() == getppid() || getpgrp() == getpid());
	return 0;
}

int main(int argc, char **argv)
{
	return show(argc, argv);
}
EOF
spi_cc self self.c

# as_without NAME ENVIRONMENT... -- ARGS... - run with and without, compare stdout
as_without() {
	local name=$1
	local -a settings=()
	shift
	while [ "$1" != -- ]; do settings+=("$1"); shift; done
	shift
	env "${settings[@]}" ./self "$@" >out 2>err </dev/null 3</etc/passwd
	grep -v "^env LTTNG_SPI_" out | sort >plain.sorted # those are for the tracer
	rm -rf t
	env "${settings[@]}" "$SPI_LTTNG" -q trace -f show -o t ./self "$@" >out 2>err </dev/null 3</etc/passwd
	sort out >traced.sorted
	cmp -s plain.sorted traced.sorted
	ok $? "$name" || diag "$(diff plain.sorted traced.sorted; cat err)"
}

as_without "arguments, environment, descriptors" -- one 'two three' '' '*'
as_without "an empty environment but PATH" -i "PATH=$PATH" HOME="$HOME" LTTNG_HOME="$HOME" \
	${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS"} ${LTTNG_SPI_CODEMAP:+"LTTNG_SPI_CODEMAP=$LTTNG_SPI_CODEMAP"} -- x
as_without "a register timeout of the user's" LTTNG_UST_REGISTER_TIMEOUT=5000 -- x
# A front end built with ASan itself refuses to start behind another preloaded library.
nm -D "$SPI_LTTNG" 2>/dev/null | grep -q __asan_init ||
	as_without "a library of the user's in LD_PRELOAD" LD_PRELOAD=libm.so.6 -- x
as_without "variables of other tracers" LTTNG_UST_WITHOUT_BADDR_STATEDUMP=0 -- x
(trap '' INT TERM; as_without "ignored signals" -- x)
tap_count=$((tap_count + 1))

# The standard streams.
head -c 300000 /dev/urandom >blob
"$SPI_LTTNG" -q trace -f libc.so.6:setlocale -o s cat <blob >blob.out
is $? 0 "stdin to stdout: status"
same_file blob.out blob "stdin to stdout: byte for byte"
"$SPI_LTTNG" -q trace -f libc.so.6:setlocale -o s2 sh -c 'echo out; echo err >&2' >o 2>e
is "$(cat o)/$(cat e)" "out/err" "stdout and stderr are two"
"$SPI_LTTNG" -q trace -f libc.so.6:setlocale -o s3 cat <&- >o 2>e
is $? 1 "a closed stdin stays closed"

# The exit status.
for status in 0 1 2 23 126 127 255; do
	rm -rf t
	"$SPI_LTTNG" -q trace -f libc.so.6:exit -o t /bin/sh -c "exit $status"
	is $? "$status" "exit status $status"
done
for name in TERM KILL SEGV ABRT PIPE USR1; do
	rm -rf t
	# A shell reports a death by signal as 128 + n, and says so when it waits itself: the front end dies of it too.
	python3 - "$SPI_LTTNG" "$name" <<'EOF'
import signal, subprocess, sys
lttng, name = sys.argv[1:]
r = subprocess.run([lttng, '-q', 'trace', '-f', 'libc.so.6:exit', '-o', 't', '/bin/sh', '-c', 'kill -%s $$' % name])
sys.exit(0 if r.returncode == -getattr(signal, 'SIG' + name) else 1)
EOF
	ok $? "ended by SIG$name"
done
[ -z "$(find . -name 'core*' -type f)" ]
ok $? "no core file of the front end"

# A script is its interpreter; #!/usr/bin/env is followed.
printf '#!/usr/bin/env bash\necho "script $0 $1"; exit 9\n' >script && chmod +x script
out=$("$SPI_LTTNG" trace -f 'execute_command*' -o sc ./script arg 2>err)
is "$?/$out" "9/script ./script arg" "#!/usr/bin/env NAME" || diag "$(cat err)"
[ "$(spi_count sc execute_command_entry)" -gt 0 ]
ok $? "the interpreter's functions are recorded"
printf '#!/bin/bash -e\necho "script $0 $1 $-"; false; echo no\n' >script2 && chmod +x script2
out=$("$SPI_LTTNG" -q trace -f 'execute_command*' -o sc2 ./script2 arg)
is $? 1 "#! with an argument: status"
like "$out" '^script ./script2 arg .*e' "#! with an argument"

# The order of things: a COMMAND in PATH, by name.
PATH=$PWD:$PATH "$SPI_LTTNG" -q trace -f t_leaf -o pa zoo leaf 3 >o
is "$(cat o)" "count t_leaf 3" "COMMAND from PATH"
is "$(spi_count pa t_leaf_entry)" 3 "its events"
# A library beside the program, found from where the file is, not from where a link to it is.
mkdir -p far/bin far/lib near
echo 'int beside(int a) { return a + 1; }' >beside.c && gcc -shared -fPIC -o far/lib/libbeside.so beside.c
echo 'int beside(int); int main(void) { return beside(4); }' >main.c &&
	gcc -o far/bin/beside main.c -Lfar/lib -lbeside -Wl,-rpath,'$ORIGIN/../lib'
ln -s "$PWD/far/bin/beside" near/beside
"$SPI_LTTNG" -q trace -f beside -o be near/beside 2>err
is "$?/$(spi_count be beside_entry)" 5/1 "\$ORIGIN of a program behind a symbolic link" || diag "$(cat err)"
is "$(lttng list 2>/dev/null | grep -cE '^ *[0-9]+\)')" 0 "no session is left"
tap_done
