/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls work() ten times where it cannot be recorded: `timer`, a thread that blocks signal 32; `keys`, a destructor of
 * a thread's key in each of four rounds.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noipa)) int work(int a)
{
	return a + 1;
}

static pthread_key_t key;
static int rounds;

static void *timer(void *unused)
{
	unsigned long mask = 1ul << 31;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, sizeof(mask));
	for (int i = 0; i < 10; i++)
		work(i);
	return unused;
}

static void destructor(void *value)
{
	if (++rounds < 4)
		pthread_setspecific(key, value);
	for (int i = 0; i < 10; i++)
		work(i);
}

static void *keys(void *value)
{
	pthread_setspecific(key, value);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	void *(*start)(void *) = !strcmp(way, "timer") ? timer : keys;
	pthread_t thread;

	work(0);
	if (pthread_key_create(&key, destructor) || pthread_create(&thread, NULL, start, &key))
		return 1;
	pthread_join(thread, NULL);
	return 5;
}
