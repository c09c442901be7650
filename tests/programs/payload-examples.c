/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the examples of payloads are tried with. Prints what the payload has to see.
 *
 *	payload-examples exit		forks, and ends with status 7
 *	payload-examples security	opens, changes, removes and executes
 *	payload-examples phases		calls before(), waits for a line, calls after() five times
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile int sum;
NOINLINE void leaf(int i) { sum += i; }
NOINLINE void before(void) { leaf(1); }
NOINLINE void after(void) { leaf(2); }

static int exits(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	printf("child process id: %d\nexit code: 7\n", child);
	exit(7);
}

static int security(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(9) };
	int fd = open("made", O_CREAT | O_RDWR, 0600), s = socket(AF_INET, SOCK_STREAM, 0);
	pid_t child;

	printf("open(\"made\", %d)\nopen = %d\n", O_CREAT | O_RDWR, fd);
	chmod("made", 0640);
	printf("chmod(\"made\", 0640)\nchmod = 0\n");
	rename("made", "moved");
	printf("rename(\"made\", \"moved\")\nrename = 0\n");
	unlink("moved");
	printf("unlink(\"moved\")\nunlink = 0\n");
	inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
	printf("connect(%d, 127.0.0.1:9)\nconnect = %d\n", s, connect(s, (struct sockaddr *) &address, sizeof(address)));
	child = fork();
	if (!child) {
		execl("/bin/true", "true", (char *) NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	printf("execve(\"/bin/true\")\n");
	return 0;
}

static int phases(void)
{
	char line[16];

	before();
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 0; i < 5; i++)
		after();
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	return !strcmp(what, "exit") ? exits() : !strcmp(what, "security") ? security() : phases();
}
