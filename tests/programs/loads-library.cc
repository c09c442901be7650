/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A library for loads.c that is used without dlsym(): its constructors hand out
 * functions, one starts a thread; its destructors call as well. Each function
 * counts itself, in the program.
 */
#include <pthread.h>
#include <stdlib.h>

#define FN extern "C" __attribute__((noipa))

extern "C" void plugin_register(int (*function)(int));
extern "C" void plugin_count(void);

FN int l_leaf(int a)
{
	plugin_count();
	return a + 1;
}

FN int l_work(int a)
{
	plugin_count();
	return l_leaf(a) + l_leaf(a + 1);
}

static void *in_thread(void *data)
{
	plugin_count();
	return (void *) (long) l_leaf((int) (long) data);
}

struct object {
	int value;
	__attribute__((noipa)) object()
	{
		plugin_count();
		value = l_leaf(1);
	}
	__attribute__((noipa)) ~object()
	{
		plugin_count();
		l_leaf(value);
	}
};
static object global;

FN __attribute__((constructor(200))) void l_early(void)
{
	plugin_count();
	l_leaf(2);
}

FN __attribute__((constructor)) void l_begin(void)
{
	pthread_t thread;

	plugin_count();
	plugin_register(l_work);
	if (!pthread_create(&thread, NULL, in_thread, NULL))
		pthread_join(thread, NULL);
}

FN __attribute__((destructor)) void l_end(void)
{
	plugin_count();
	l_leaf(3);
}
