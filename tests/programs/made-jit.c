/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * made-jit MAP ROUNDS [rwx|dual|again|threads|fork] - machine code that is made at run time, and calls itself and libc. MAP
 * is written as perf knows such files, "START SIZE NAME" in hexadecimal, with a line of the name "call" for each call
 * instruction.
 *
 *	jit_outer -> jit_inner -> jit_leaf	direct calls
 *	jit_outer -> labs			mov $address, %rax; call *%rax
 *	jit_outer -> jit_leaf			call *word(%rip)
 *
 * rwx: the code stays writable. dual: it is written by another mapping than it runs in. again: after half of the
 * rounds the memory is unmapped, and the same code made anew there. threads: four threads do all rounds each, and begin
 * together. fork: a child does the second half of the rounds.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES	8192u

static uint8_t *code, *runs;		/* where it is written, and where it runs */
static uint32_t used;
static FILE *map;

/* For a payload of a test: where the code is. */
struct made { uint64_t low, high; } made_now;
void made_ready(void) __attribute__((noinline, noipa));
void made_goes(void) __attribute__((noinline, noipa));
void made_ready(void) { }
void made_goes(void) { }

static void bytes(const void *from, uint32_t n)
{
	memcpy(code + used, from, n);
	used += n;
}

static void word32(uint32_t value) { bytes(&value, 4); }
static void word64(uint64_t value) { bytes(&value, 8); }

static void say(uint32_t from, const char *name)
{
	fprintf(map, "%lx %x %s\n", (unsigned long) (runs + from), used - from, name);
}

static void call_direct(uint32_t to)
{
	uint32_t from = used;

	bytes("\xe8", 1);
	word32(to - (used + 4));
	say(from, "call");
}

static uint32_t leaf_make(void)
{
	uint32_t from = used;

	bytes("\x8d\x47\x01\xc3", 4);			/* lea 1(%rdi), %eax; ret */
	say(from, "jit_leaf");
	return from;
}

static uint32_t inner_make(uint32_t leaf)
{
	uint32_t from = used;

	bytes("\x48\x83\xec\x08", 4);			/* sub $8, %rsp */
	call_direct(leaf);
	bytes("\x48\x83\xc4\x08\xc3", 5);		/* add $8, %rsp; ret */
	say(from, "jit_inner");
	return from;
}

static uint32_t outer_make(uint32_t inner, uint32_t word)
{
	uint32_t from = used, call;

	bytes("\x48\x83\xec\x08", 4);
	call_direct(inner);
	bytes("\xf7\xd8\x48\x63\xf8", 5);		/* neg %eax; movslq %eax, %rdi */
	call = used;
	bytes("\x48\xb8", 2);				/* movabs $labs, %rax */
	word64((uint64_t) labs);
	bytes("\xff\xd0", 2);				/* call *%rax */
	say(call, "call");
	bytes("\x89\xc7", 2);				/* mov %eax, %edi */
	call = used;
	bytes("\xff\x15", 2);				/* call *word(%rip) */
	word32(word - (used + 4));
	say(call, "call");
	bytes("\x48\x83\xc4\x08\xc3", 5);
	say(from, "jit_outer");
	return from;
}

static void memory_get(uint8_t *at, const char *mode)
{
	int fd;

	if (strcmp(mode, "dual")) {
		runs = code = mmap(at, BYTES, PROT_READ | PROT_WRITE | (strcmp(mode, "rwx") ? 0 : PROT_EXEC),
			MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
		return;
	}
	fd = memfd_create("jit", 0);
	if (ftruncate(fd, BYTES) < 0)
		exit(2);
	code = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	runs = mmap(NULL, BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	close(fd);
}

static int (*make(uint8_t *at, const char *mode, const char *path))(int)
{
	uint32_t leaf, inner, outer;

	memory_get(at, mode);
	map = fopen(path, "w");
	if (code == MAP_FAILED || runs == MAP_FAILED || !map)
		exit(2);
	used = 64;
	leaf = leaf_make();
	used = (used + 15) & ~15u;
	inner = inner_make(leaf);
	used = 4090;		/* the next one lies across two pages */
	outer = outer_make(inner, 16);
	*(uint64_t *) (code + 16) = (uint64_t) (runs + leaf);
	fclose(map);
	if (strcmp(mode, "rwx") && runs == code)
		mprotect(code, BYTES, PROT_READ | PROT_EXEC);
	made_now.low = (uint64_t) runs;
	made_now.high = made_now.low + BYTES;
	made_ready();
	return (int (*)(int)) (runs + outer);
}

static int (*volatile outer)(int);
static int rounds;
static pthread_barrier_t barrier;

static void *thread(void *sum)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < rounds; i++)
		__atomic_fetch_add((long *) sum, outer(i), __ATOMIC_RELAXED);
	return sum;
}

static void in_threads(long *sum)
{
	pthread_t threads[4];

	pthread_barrier_init(&barrier, NULL, 4);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread, sum);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* In the child: 1. */
static int in_child(void)
{
	const pid_t child = fork();
	int status = 0;

	if (child)
		waitpid(child, &status, 0);
	if (status)
		printf("the child ended with %x\n", (unsigned int) status);
	return !child;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 3 ? argv[3] : "rx";
	const int is_again = !strcmp(mode, "again"), is_fork = !strcmp(mode, "fork");
	long sum = 0;

	rounds = argc > 2 ? atoi(argv[2]) : 1;
	outer = make(NULL, mode, argv[1]);
	if (!strcmp(mode, "threads")) {
		in_threads(&sum);
		rounds = 0;
	}
	for (int i = 0; i < rounds; i++) {
		if (is_fork && i == rounds / 2 && !in_child())
			return 0;
		if (is_again && i == rounds / 2) {
			made_goes();
			munmap(code, BYTES);
			outer = make(code, mode, argv[1]);
		}
		sum += outer(i);
	}
	printf("%ld\n", sum);
	return 0;
}
