/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * memory MODE - allocates in known ways, and prints what is right of it.
 *
 *	leaks	1000 blocks in 20 places are not given back, among others that are
 *	kinds	each function of malloc()'s family once, the results printed as the events of lttng-ust's wrapper have them
 *	threads	each of four threads gives back what another one has allocated; one block each is left
 *	fork	a child gives back its parent's block, and leaves two of its own
 *	double	gives a block back twice: libc ends the process
 *	foreign	gives back what was never allocated: likewise
 *	handler	a signal's handler opens and closes a descriptor, most often within malloc()
 *	descriptors	descriptors, threads and mappings, some of which stay
 *	serve	waits for a line, allocates 300 blocks and gives 100 of them back, and once more for each further line
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept;	/* so that the compiler leaves no allocation out */

#define NOIPA __attribute__((noipa))

/* ---- leaks ---- */

#define PLACE(n) NOIPA static void *place_##n(size_t size) { kept = malloc(size); return kept; }
#define PLACES(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15) x(16) x(17) x(18) x(19)
#define NAME(n) place_##n,
PLACES(PLACE)

static int leaks(void)
{
	void *(*const places[])(size_t) = { PLACES(NAME) };
	unsigned int left = 0;

	/* 31 to 69 of each place stay, 1000 in all; every other one is given back */
	for (unsigned int i = 0; i < 20; i++)
		for (unsigned int k = 0; k < 2 * (31 + 2 * i); k++) {
			void *p = places[i](100 + i);

			if (k & 1)
				free(p);
			else
				left++;
		}
	return left == 1000 ? 0 : 1;
}

/* ---- kinds ---- */

/* Nothing is allocated to print. */
static void say(const char *format, ...)
{
	char line[200];
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	if (write(STDOUT_FILENO, line, (size_t) n) != n)
		_exit(1);
}

static int kinds(void)
{
	void *a = malloc(11), *b = calloc(3, 7), *volatile none = NULL, *c = realloc(none, 50), *d;
	void *e = memalign(64, 200), *f = NULL, *g, *h;
	const uintptr_t c_was = (uintptr_t) c, a_was = (uintptr_t) a;
	int r = posix_memalign(&f, 128, 300);
	const uintptr_t f_was = (uintptr_t) f;

	kept = a;
	say("malloc size = 11, ptr = %p\n", a);
	say("calloc nmemb = 3, size = 7, ptr = %p\n", b);
	say("realloc in_ptr = 0x0, size = 50, ptr = %p\n", c);
	say("memalign alignment = 64, size = 200, ptr = %p\n", e);
	say("posix_memalign out_ptr = %p, alignment = 128, size = 300, result = %d\n", f, r);
	d = realloc(c, 60000);
	say("realloc in_ptr = %#lx, size = 60000, ptr = %p\n", c_was, d);
	g = malloc(SIZE_MAX / 2);
	say("malloc size = %zu, ptr = 0x0\n", SIZE_MAX / 2);
	h = aligned_alloc(32, 96);
	say("memalign alignment = 32, size = 96, ptr = %p\n", h);
	free(a);
	say("free ptr = %#lx\n", a_was);
	free(f);
	say("free ptr = %#lx\n", f_was);
	return g != NULL || !b;
}

/* ---- threads ---- */

#define THREADS	4u
#define EACH	5000u
static void *_Atomic slots[THREADS][EACH];
static pthread_barrier_t barrier;

static void *work(void *number)
{
	const unsigned int me = (unsigned int) (uintptr_t) number, other = (me + 1) % THREADS;

	for (unsigned int i = 0; i < EACH; i++)
		slots[me][i] = malloc(i == 7 ? 77 : 16 + i % 500);
	pthread_barrier_wait(&barrier);
	for (unsigned int i = 0; i < EACH; i++)
		if (i != 7)
			free(slots[other][i]);
	return NULL;
}

static int threads(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (unsigned int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *) (uintptr_t) i))
			return 1;
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* ---- fork ---- */

NOIPA static void *before_fork(void)
{
	return malloc(1111);
}

NOIPA static void in_child(void)
{
	kept = malloc(222);
	kept = malloc(333);
}

static int forks(void)
{
	void *p = before_fork(), *q = before_fork();
	int status = 1;
	pid_t child = fork();

	kept = q;
	if (!child) {
		free(p);
		in_child();
		_exit(0);
	}
	waitpid(child, &status, 0);
	free(q);
	return status;
}

/* ---- handler ---- */

static volatile sig_atomic_t handled;

static void on_alarm(int number)
{
	const int fd = open("/dev/null", O_RDONLY);

	(void) number;
	if (fd >= 0)
		close(fd);
	handled++;
}

static int handler(void)
{
	const struct itimerval each = { { 0, 500 }, { 0, 500 } };

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &each, NULL);
	for (unsigned int i = 0; handled < 200; i++) {
		kept = malloc(16 + i % 3000);
		free(kept);
	}
	return 0;
}

/* ---- descriptors ---- */

static void *idle(void *unused)
{
	return unused;
}

static int descriptors(void)
{
	pthread_t thread;
	int a = open("/etc/passwd", O_RDONLY), b = socket(AF_UNIX, SOCK_STREAM, 0), c = dup(a), d = eventfd(0, 0),
		pair[2];
	FILE *file = fopen("/etc/group", "r"), *other = fopen("/etc/hostname", "r");
	char *map = mmap(NULL, 5 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (a < 0 || b < 0 || c < 0 || d < 0 || !file || !other || map == MAP_FAILED ||
			socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		return 1;
	say("stays %d open\nstays %d dup\nstays %d socketpair\nstays %d open\n", a, c, pair[1], fileno(other));
	close(b);
	close(d);
	close(pair[0]);
	fclose(file);
	munmap(map + 4096, 2 * 4096);
	for (int i = 0; i < 3; i++) {
		if (pthread_create(&thread, NULL, idle, NULL))
			return 1;
		if (i == 0)
			pthread_join(thread, NULL);
		if (i == 1)
			pthread_detach(thread);
	}
	return 0;
}

/* ---- serve ---- */

NOIPA static void *serve_one(unsigned int i)
{
	return malloc(1000 + i % 2);
}

static int serve(void)
{
	void *old[50], *p;
	char line[16];

	for (unsigned int i = 0; i < 50; i++)
		old[i] = serve_one(i);
	say("ready\n");
	for (unsigned int round = 0; read(STDIN_FILENO, line, sizeof(line)) > 0; round++) {
		for (unsigned int i = 0; i < 300; i++) {
			p = serve_one(i);
			if (i % 3 == 0)
				free(p);
		}
		for (unsigned int i = 0; round == 0 && i < 50; i++)
			free(old[i]);
		say("done\n");
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} modes[] = {
		{ "leaks", leaks }, { "kinds", kinds }, { "threads", threads }, { "fork", forks },
		{ "handler", handler },
		{ "descriptors", descriptors }, { "serve", serve },
	};
	void *p = malloc(40);
	void *volatile again = p;

	if (argc == 2 && !strcmp(argv[1], "double")) {
		free(p);
		free(again);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "foreign")) {
		again = memset(p, 0, 40);
		again = (char *) p + 16;	/* libc looks at the zeros before it for a size */
		free(again);
		return 0;
	}
	free(p);
	for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name))
			return modes[i].run();
	return 2;
}
