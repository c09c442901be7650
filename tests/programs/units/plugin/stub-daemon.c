/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * As much of a session daemon as the plugin stands before, to be loaded harder
 * and looked at closer than the real one: under sanitizers, or for the cost of
 * one call.
 *
 *   stub-daemon DIRECTORY N JOBS [clients] [forks]
 *
 * JOBS processes register N times each, one after the other, two sockets each
 * time; each registration is answered with its serial number, on the same
 * socket, which is then checked: nothing is lost, doubled, mixed up, or comes in
 * the wrong order. With `clients`, other connections go through the client
 * socket all the time; with `forks`, the daemon forks children that close
 * everything, as its worker does. Prints the median nanoseconds
 * of CPU that recv_reg_msg() took for a first socket; status 0 when all was right.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern int lttng_ust_ctl_recv_reg_msg(int, int *, uint32_t *, uint32_t *, uint32_t *, uint32_t *, uint32_t *,
				      uint32_t *, uint32_t *, uint32_t *, uint32_t *, uint32_t *, uint32_t *,
				      uint32_t *, int *, char *);

static struct sockaddr_un app_address, client_address;
static int app_socket, client_socket;
static uint32_t *took;
static unsigned int nr_took, nr_registered, wanted;
static int over;

/* Of this thread alone: what waits for the message or the processor doesn't count. */
static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void fail(const char *what)
{
	fprintf(stderr, "stub-daemon: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int bind_to(struct sockaddr_un *address, const char *directory, const char *name)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address->sun_family = AF_UNIX;
	snprintf(address->sun_path, sizeof(address->sun_path), "%s/%s", directory, name);
	if (fd < 0 || bind(fd, (struct sockaddr *) address, sizeof(*address)))
		fail(address->sun_path);
	return fd;
}

static int connect_to(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *) address, sizeof(*address)))
		fail("connect");
	return fd;
}

/* ---- the daemon ------------------------------------------------------------ */

/* Like the real one: a descriptor belongs to the application from here on; answered at once, then closed. */
static void *registrations(void *unused)
{
	while (nr_registered < wanted) {
		int sock = accept(app_socket, NULL, NULL), type, order;
		uint32_t n[12];
		char name[16];
		uint64_t began = clock_ns();

		if (sock < 0)
			fail("accept");
		if (lttng_ust_ctl_recv_reg_msg(sock, &type, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7],
					       &n[8], &n[9], &n[10], &n[11], &order, name)) {
			close(sock);
			continue;
		}
		nr_registered++;
		if (!type)
			took[nr_took++] = clock_ns() - began;
		if (n[6] != 64 || order != 1234 || strcmp(name, "stub"))
			fail("outputs");
		if (send(sock, &n[0], sizeof(n[0]), MSG_NOSIGNAL) < 0)
			fail("answer");
		close(sock);
	}
	return NULL;
}

static void *commands(void *unused)
{
	for (;;) {
		int sock = accept(client_socket, NULL, NULL);
		char byte;

		if (sock < 0)
			return NULL;
		if (recv(sock, &byte, 1, 0) < 0)
			fail("command");
		close(sock);
	}
}

static void *forks(void *unused)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		pid_t pid = fork();

		if (!pid) {
			for (int fd = 3; fd < 256; fd++)
				close(fd);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
		poll(NULL, 0, 5);
	}
	return NULL;
}

/* ---- the others --------------------------------------------------------------- */

static int register_one(uint32_t type, uint32_t serial)
{
	uint32_t message[2] = { type, serial };
	int fd = connect_to(&app_address);

	if (send(fd, message, sizeof(message), MSG_NOSIGNAL) != sizeof(message))
		fail("register");
	return fd;
}

static int answered(int fd, uint32_t serial)
{
	uint32_t answer;
	int right = recv(fd, &answer, sizeof(answer), MSG_WAITALL) == sizeof(answer) && answer == serial;

	close(fd);
	return right;
}

/* The second socket comes while the first may be held; its answer must not come before the first's. */
static int application(unsigned int job, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		uint32_t serial = (job << 16) + 2 * i;
		int cmd = register_one(0, serial), notify = register_one(1, serial + 1), early;
		struct pollfd both[2] = { { .fd = cmd, .events = POLLIN }, { .fd = notify, .events = POLLIN } };

		poll(both, 2, -1);
		/* Asked in this order: a first answer that came between the two looks is seen. */
		early = poll(&both[1], 1, 0) > 0 && poll(&both[0], 1, 0) == 0;
		if (early || !answered(cmd, serial) || !answered(notify, serial + 1)) {
			fprintf(stderr, "stub-daemon: job %u, %u: %s\n", job, i, early ? "order" : "answer");
			return 1;
		}
	}
	return 0;
}

static void client(void)
{
	for (;;) {
		int fd = connect_to(&client_address);

		if (send(fd, "", 1, MSG_NOSIGNAL) < 0)
			_exit(0);
		close(fd);
		poll(NULL, 0, 2);
	}
}

static int compare(const void *a, const void *b)
{
	return *(const uint32_t *) a < *(const uint32_t *) b ? -1 : *(const uint32_t *) a > *(const uint32_t *) b;
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 3 ? atoi(argv[2]) : 0, jobs = argc > 3 ? atoi(argv[3]) : 0, bad = 0;
	pthread_t registering, commanding, forking;
	pid_t clients = 0, job[256];
	int with_forks = 0, status;

	if (!n || !jobs || jobs > 256)
		return 2;
	app_socket = bind_to(&app_address, argv[1], "lttng-ust-sock-stub");
	client_socket = bind_to(&client_address, argv[1], "client-lttng-sessiond");
	wanted = 2 * n * jobs;
	took = calloc(wanted, sizeof(*took));
	if (listen(client_socket, 64) || listen(app_socket, 64))
		fail("listen");
	for (unsigned int i = 0; i < jobs; i++) {
		job[i] = fork();
		if (!job[i])
			_exit(application(i, n));
	}
	for (int i = 4; i < argc; i++) {
		with_forks |= !strcmp(argv[i], "forks");
		if (!strcmp(argv[i], "clients")) {
			clients = fork();
			if (!clients)
				client();
		}
	}
	pthread_create(&registering, NULL, registrations, NULL);
	pthread_create(&commanding, NULL, commands, NULL);
	if (with_forks)
		pthread_create(&forking, NULL, forks, NULL);
	for (unsigned int i = 0; i < jobs; i++)
		bad += waitpid(job[i], &status, 0) < 0 || status;
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	if (with_forks)
		pthread_join(forking, NULL);
	if (clients > 0) {
		kill(clients, SIGKILL);
		waitpid(clients, NULL, 0);
	}
	if (bad)
		return 1;
	pthread_join(registering, NULL);
	qsort(took, nr_took, sizeof(*took), compare);
	printf("%u\n", took[nr_took / 2]);
	return 0;
}
