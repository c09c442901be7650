/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * idler SOCKET spin|sleep|exec|rename FILE - register with a real session daemon,
 * without lttng-ust, and answer nothing that it asks. Two threads, named as
 * lttng-ust's are, compute or sleep until FILE exists. In the end: how much processor
 * time, in milliseconds, the two have had with a real-time policy. Or each, as soon as
 * it has such a policy: executes sleep as soon as FILE exists, or takes another name.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* LTTng-UST's registration message, ABI 9. */
struct message {
	uint32_t magic, major, minor, pid, ppid, uid, gid, bits, align[5], type;
	char name[16], padding[64];
} __attribute__((packed));

static const char *end_file;
static int spins, executes, renames;
static double ahead_ms;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void *idle(void *unused)
{
	double before = cpu_ms(), now, sum = 0;

	pthread_setname_np(pthread_self(), "idler-ust");
	while (access(end_file, F_OK) || executes) {
		if (executes && sched_getscheduler(0) != SCHED_OTHER && !access(end_file, F_OK))
			execlp("sleep", "sleep", "60", (char *) NULL);
		if (renames && sched_getscheduler(0) != SCHED_OTHER)
			pthread_setname_np(pthread_self(), "another");
		if (!spins)
			nanosleep(&(struct timespec) { .tv_nsec = 10000000 }, NULL);
		now = cpu_ms();
		if (sched_getscheduler(0) != SCHED_OTHER)
			sum += now - before;
		before = now;
	}
	pthread_mutex_lock(&lock);
	ahead_ms += sum;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(int argc, char **argv)
{
	struct message message = { .magic = 0xC57C57C5, .major = 9, .minor = 0, .bits = 64, .align = { 8, 16, 32, 64, 64 },
				   .name = "idler" };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	pthread_t threads[2];

	if (argc != 4)
		return 2;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", argv[1]);
	spins = !strcmp(argv[2], "spin");
	executes = !strcmp(argv[2], "exec");
	renames = !strcmp(argv[2], "rename");
	end_file = argv[3];
	message.pid = getpid();
	message.ppid = getppid();
	message.uid = getuid();
	message.gid = getgid();
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, idle, NULL))
			return 1;
	if (connect(fd, (struct sockaddr *) &address, sizeof(address)) ||
	    send(fd, &message, sizeof(message), MSG_NOSIGNAL) != sizeof(message))
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%.0f\n", ahead_ms);
	return 0;
}
