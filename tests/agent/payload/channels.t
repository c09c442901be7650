#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Payloads and channels: which calls read and write one, beside strace; what a channel is called; a worker's own channels; and
# with a controller, what is asked before a first message, and how a payload begins with one.
. "${SPI_TOP_SRCDIR:?}/tests/lib/payload.sh"
spi_private "$@"
payload_cc channels.so payload-channels.c
payload_cc file-channel.so file-channel.c
spi_cc file-messages file-messages.c -O1 -fno-optimize-sibling-calls
gcc -O1 -w -o moves -x c - <<'END'
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <stdio.h>
	#include <sys/sendfile.h>
	#include <sys/socket.h>
	#include <sys/uio.h>
	#include <unistd.h>
	static char b[4096];
	int main(void)
	{
		struct iovec parts[] = { { b, 100 }, { b + 100, 23 } };
		struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
		int pair[2], ends[2], file = open("/proc/self/exe", O_RDONLY);
		FILE *out;

		pipe(ends);
		socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
		for (int i = 1; i < 9; i++) {
			write(ends[1], b, 100 * i); send(pair[0], b, 11 * i, 0); sendto(pair[0], b, 7 * i, 0, 0, 0);
			writev(pair[0], parts, 2); sendmsg(pair[0], &message, 0); sendfile(pair[0], file, NULL, 13 * i);
			read(ends[0], b, 90 * i); recv(pair[1], b, 10, 0); recvfrom(pair[1], b, i, 0, 0, 0);
			readv(pair[1], parts, 2); recvmsg(pair[1], &message, 0); read(pair[1], b, sizeof(b));
		}
		out = fdopen(ends[1], "w");
		fwrite(b, 1, 3000, out);
		fputs("abc", out);
		fputc('d', out);
		fclose(out);
		out = fdopen(ends[0], "r");
		fread(b, 1, 1000, out);
		fgets(b, 100, out);
		return fgetc(out) < 0;
	}
END

# ---- calls that read and write, beside strace ----

# sum CALLS - what such calls have moved over pipes and sockets
sum() { awk -v calls="^($1)\\\\(([0-9]+)<(pipe|UNIX|socket)" '$0 ~ calls && $NF > 0 { n += $NF } END { print n + 0 }' strace.out; }
strace -yy -e trace=desc,network -o strace.out ./moves
LD_PRELOAD=$PWD/channels.so ./moves 2>said
is $? 0 "the program's status" || diag "$(cat said)"
is "$(sed -n 's/^moved //p' said)" "$(sum 'readv?|recvfrom|recvmsg') $(sum 'writev?|sendto|sendmsg|sendfile')" \
	'the bytes that are read and written over channels' || diag "$(tail -n 3 said; cat strace.out)"

# by their names, called by the PLT and by pointers
cat >names.c <<'END'
	#define _GNU_SOURCE
	#include <stdio.h>
	int main(void)
	{
		FILE *f = fopen("/dev/zero", "r+");
		char b[8];
		/* what reads */
		read(-1, b, 0); __read_chk(-1, b, 0, 8); readv(-1, b, 0); recv(-1, b, 0, 0); __recv_chk(-1, b, 0, 8, 0);
		recvfrom(-1, b, 0, 0, 0, 0); __recvfrom_chk(-1, b, 0, 8, 0, 0, 0); recvmsg(-1, b, 0); accept(-1, 0, 0);
		accept4(-1, 0, 0, 0); fgets(b, 2, f); __fgets_chk(b, 8, 2, f); fgets_unlocked(b, 2, f); fgetc(f); fread(b, 1, 1, f);
		__fread_chk(b, 8, 1, 1, f); _IO_fgets(b, 2, f);
		/* what writes */
		write(-1, b, 0); writev(-1, b, 0); send(-1, b, 0, 0); sendto(-1, b, 0, 0, 0, 0); sendmsg(-1, b, 0);
		sendfile(-1, -1, 0, 0); sendfile64(-1, -1, 0, 0); connect(-1, 0, 0); fputs("", f); fputs_unlocked("", f); fputc('a', f);
		fwrite(b, 1, 1, f); (putchar)('\n');
		/* neither */
		dup(-1); shutdown(-1, 0); fsync(-1); fflush(f); close(-1); isatty(-1); fileno(f);
		return 0;
	}
END
for how in -fplt -fno-plt; do
	gcc -O1 -w -fno-builtin $how -o names names.c
	LD_PRELOAD=$PWD/channels.so LTTNG_SPI_PAYLOAD_ARGS=names=1 ./names 2>said >out
	is "$(sed -nE '/^moved/d; s/^[^ ]+ ([01] [01])$/\1/p' said | uniq -c | awk '{ printf "%s:%s%s ", $1, $2, $3 }')" '1:00 17:10 13:01 7:00 ' \
		"functions that read and write channels, by their names ($how)" || diag "$(cat said)"
done

# ---- what is named ----

LD_PRELOAD=$PWD/channels.so LTTNG_SPI_PAYLOAD_ARGS='ipc=1;list=1' ./moves 2>said
is "$(grep -c '^messages to .* nobody looks for' said)" 2 'without a controller each channel that is written to is named once' ||
	diag "$(grep -v ^read said)"
like "$(cat said)" 'messages to pipe pipe:\[[0-9]*\]: .*lttng trace --payload FILE --tree --ipc COMMAND' '... with the remedy'
LD_PRELOAD=$PWD/channels.so LTTNG_SPI_PAYLOAD_ARGS='list=1' ./moves 2>said
is "$(grep -c '^messages to' said)" 0 'a payload that goes along none names none'
is "$(sed -nE 's/^(read|write) ([a-z]*) [-0-9]+ 1 (.*)$/\2 \3/p' said | sed 's/[0-9][0-9]*/N/' | sort -u | tr '\n' ',')" \
	'fgets EINVAL,fputc EINVAL,fread EINVAL,fwrite EINVAL,getc EINVAL,read pipe pipe:[N],read unix socket:[N],readv unix socket:[N],recv unix socket:[N],recvfrom unix socket:[N],recvmsg unix socket:[N],send unix socket:[N],sendfile unix socket:[N],sendmsg unix socket:[N],sendto unix socket:[N],write pipe pipe:[N],writev unix socket:[N],' \
	'a call knows its channel' || diag "$(grep -v ^messages said | sort -u)"

gcc -O1 -w -o many -x c - <<<'int main(void) { int p[2]; for (int i = 0; i < 40; i++) { pipe(p); write(p[1], "x", 1); } return 0; }'
LD_PRELOAD=$PWD/channels.so LTTNG_SPI_PAYLOAD_ARGS=ipc=1 ./many 2>said
is "$(grep -c '^messages to pipe' said) $(grep -o '^messages to [0-9]* more channels' said)" '32 messages to 8 more channels' \
	'no more than 32 of them, and how many more there are' || diag "$(cat said)"

# ---- a worker without a controller ----

work() { LD_PRELOAD=$PWD/channels.so LTTNG_SPI_PAYLOAD_ARGS="list=1;worker=$PWD/messages;$1" "${@:2}" >out 2>said; }
work ipc=1 ./file-messages write messages 3
is "$(grep -Ev '^(messages|moved)' said | sort | uniq -c | awk '{ $1 = $1 } 1' | tr '\n' ',')" \
	'1 close,1 inject the file 12,1 remote the file 1,3 write write 3 1 own-file the file 12,' 'what a worker is told' || diag "$(cat said)"
like "$(cat said)" 'messages to own-file the file: nobody' 'its channel is named'
work 'ipc=1;inject=1' ./file-messages write messages 3
unlike "$(cat said)" 'nobody looks' 'a worker that brings in the other end itself is left to do so'
work x=1 ./file-messages write messages 3
is "$(grep -c '^inject\|^remote' said)" 0 'a worker of a payload that follows no channels is not asked to'
work 'ipc=1;fault=1' ./file-messages write messages 3
is $? 0 'a worker that faults: the program goes on' || diag "$(cat said)"
like "$(cat said)" 'it has faulted.*switched off' '... and its payload is switched off and named'
for i in 1 2 3 4 5; do cp channels.so "many$i.so"; done
LD_PRELOAD=$(printf "$PWD/many%d.so:" 1 2 3 4 5) LTTNG_SPI_PAYLOAD_ARGS="worker=$PWD/messages" ./moves 2>said
is "$(grep '^refused' said)" 'refused: the process has four workers for channels already' 'a fifth worker is refused' || diag "$(cat said)"

# ---- with a controller ----

# control PROGRAM ARGS... - runs under tests/lib/controller.py
control() {
	rm -f said asked target.out
	coproc CONTROL { python3 "$SPI_TOP_SRCDIR/tests/lib/controller.py" "$@" 2>control.err; }
	exec {to}>&"${CONTROL[1]}"- {from}<&"${CONTROL[0]}"-
}
ask() { echo "$*" >&"$to"; read -r -t 40 -u "$from" answer; }
over() { exec {to}>&- {from}<&-; wait; }
of_tree="payload=$PWD/channels.so;payload-arg=list=1"

control ./moves
ask peers 0 1 '4711\tserver\t0\t\n4712\tother\t-13\tno\n'
ask add 7 "tree(;$of_tree;ipc=unix)"
like "$answer" '^rule 7 0' 'a payload with a rule that follows channels' || diag "$(cat control.err)"
ask go
ask wait
is "$answer" 'ended 0' 'its program ends as it would'
is "$(cut -d' ' -f 1,2 asked)" '7 2' 'the other end is asked for once, under the rule, of the kinds that it follows' || diag "$(cat asked)"
is "$(grep -c 'socket:\[[0-9]*\] 4711 4712$' said)" "$(($(grep -c '^write [a-z]* 6 ' said) - 1))" \
	'from then on a call knows the processes there' || diag "$(cat said)"
over

control ./moves
ask peers 0 1 '4711\tserver\t0\t\n'
ask add 7 "tree(;$of_tree;payload-arg=ipc=1)"
ask go
ask wait
is "$(cut -d' ' -f 1,2 asked | sort | tr '\n' ,)" '7 1,7 2,' 'a payload that asks for it itself follows all kinds' || diag "$(cat asked control.err)"
over

rm -f messages
control ./file-messages write-at messages 4
ask peers 0 1 '4711\tserver\t0\t\n'
ask add 3 "tree(;payload=$PWD/file-channel.so;payload-arg=file=$PWD/messages)"
ask go
ask wait
stat -c "3 6 $((($(stat -c %d messages) << 32) ^ $(stat -c %i messages))) %i 0 %d  file $PWD/messages" messages >want
same_file asked want "a worker's channel: its id, file, position and name" || diag "$(cat asked)"
over

rm -f messages
control ./file-messages write messages 4
ask peers 0 1 '4711\tserver\t0\t\n'
ask add 3 "tree(;$of_tree;payload-arg=worker=$PWD/messages;ipc)"
ask go
ask wait
is "$(cut -d' ' -f 1-3,5,7- asked)" '3 6 4711 0 12 own-file the file' 'another one, whose positions the agent counts' || diag "$(cat asked)"
over

# ---- a payload that begins with a message ----

gcc -O1 -w -o reader -x c - <<'END'
	#include <stdio.h>
	#include <unistd.h>
	__attribute__((noipa)) void handle(char *message) { printf("%.15s\n", message); fflush(stdout); }
	int main(void)
	{
		char b[16];
		int fd = open("in", 0);

		while (read(fd, b, 16) == 16)
			handle(b);
		return 0;
	}
END
mkfifo in
control ./reader
ask add 1 "call(handle;payload=$PWD/channels.so;payload-arg=list=1)"
ask add 2 "tree(;$of_tree;ipc;on-message)"
like "$answer" '^rule 2 0' 'a tree of a payload that waits for a message' || diag "$(cat control.err)"
ask go
exec {in}>in
has_handled() { [ "$(wc -l <target.out)" = "$1" ]; }
printf 'message %7d\n' 1 2 >&"$in"
spi_wait 20 has_handled 2
is "$(grep -cx 'handle 0' said)" 2 'a function by its name: its payload is called before, and can say that the message has not come' ||
	diag "$(cat said)"
inode=$(stat -c %i in)
ask tell 2 1 "$inode" "$inode" 1000 -
is "$answer" 'told 0' 'the controller says which message it is'
printf 'message %7d\n' 3 4 >&"$in"
spi_wait 20 has_handled 4
exec {in}>&-
ask wait
is "$(grep -c 'handle 1' said)" 4 'then it has come, and the tree has the calls as well' || diag "$(cat said)"
is "$(grep -c '^read read' said)" 2 'from the receive after the first one on'
over

rm -f messages
./file-messages write messages 4
control ./file-messages read messages 6
ask add 2 "tree(;payload=$PWD/file-channel.so;payload-arg=file=$PWD/messages;on-message)"
ask go
ask tell 2 6 $((($(stat -c %d messages) << 32) ^ $(stat -c %i messages))) 0 64 "file $PWD/messages"
is "$answer" 'told 0' 'the same with the channel of a worker' || diag "$(cat control.err said)"
spi_wait 20 file_has target.out '^3 message 3$'
./file-messages write messages 2
ask wait
is "$(sed -n 's/^.*main -> handle$/handle/p' said | wc -l)" 2 "a worker's channel: old messages are not it" || diag "$(cat said)"
over

rm -f messages
./file-messages write messages 1
control ./file-messages read messages 5
ask add 2 "tree(;$of_tree;payload-arg=worker=$PWD/messages;payload-arg=can-start=3;ipc;on-message)"
ask go
spi_wait 20 file_has target.out '^0 message 0$'
ask tell 2 6 4711 0 0 'own-file the file'
./file-messages write messages 4
ask wait
is "$(sed -n '/^can-start/,/^local/p' said | tr '\n' ,)" 'can-start the file fd,can-start the file fd,can-start the file fd,local the file 1,' \
	'a worker says itself whether the message has come' || diag "$(cat said)"
is "$(grep -c '^handle' said)" 2 'and the payload begins then'
over
tap_done
