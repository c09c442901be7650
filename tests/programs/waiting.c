/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* waiting FILE FILE - threads that are within calls from when the first FILE is there until the second is; prints what they came to. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static char **files;

__attribute__((noinline)) int until_there(const char *file)
{
	int n = 0;

	while (access(file, F_OK))
		usleep(2000), n = 1;
	__asm__ volatile("" : "+r" (n));
	return n;
}

__attribute__((noinline)) int inner(int a)
{
	a += until_there(files[2]) & 0;
	__asm__ volatile("" : "+r" (a));
	return a;
}

__attribute__((noinline)) int outer(int a)
{
	a = a ? outer(a - 1) + 1 : inner(a);
	__asm__ volatile("" : "+r" (a));
	return a;
}

static void *work(void *data)
{
	until_there(files[1]);
	return (void *) (long) outer((int) (long) data);
}

int main(int argc, char **argv)
{
	pthread_t t[3];
	long sum = 0;
	void *r;

	if (argc < 3)
		return 2;
	files = argv;
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, (void *) (i + 1));
	until_there(files[1]);
	sum = outer(4);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], &r), sum += (long) r;
	printf("%ld\n", sum);
	return 0;
}
