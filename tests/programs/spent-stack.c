/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * spent-stack HOW BYTES - an alternate signal stack that is one no more, as the program sends itself no signals: its memory is
 * unmapped (gone), its upper half is (half), it cannot be written to (read-only), or it holds data (data). In the first thread, in
 * another one and in a child t_tiny() is called, which has no room for a jump. The program says whether the data are the same.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void t_tiny(void);
__asm__(".text\n.p2align 4\n.globl t_tiny\n.type t_tiny,@function\nt_tiny: ret\n.size t_tiny,1\n"
	".type t_beside,@function\n.globl t_beside\nt_beside: .byte 0x00,0xc0,0x00,0xc0,0x31,0xc0,0xc3\n.size t_beside,7\n");

static const char *how;
static size_t size;

static void *calls(void *unused)
{
	size_t all = (size + 4095) & ~(size_t) 4095;
	unsigned char *memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = memory, .ss_size = size }, now;

	if (sigaltstack(&stack, NULL))
		exit(3);
	t_tiny();
	memset(memory, 'd', all);
	if (!strcmp(how, "gone"))
		munmap(memory, all);
	else if (!strcmp(how, "half"))
		munmap(memory + all / 8192 * 4096, all - all / 8192 * 4096);
	else if (!strcmp(how, "read-only"))
		mprotect(memory, all, PROT_READ);
	for (int i = 0; i < 10; i++)
		t_tiny();
	for (size_t i = 0; !strcmp(how, "data") && i < all; i++)
		if (memory[i] != 'd') {
			puts("the data have changed");
			break;
		}
	if (sigaltstack(NULL, &now) || now.ss_sp != memory || now.ss_size != size || now.ss_flags)
		puts("it is told another stack");
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int status = 0;

	if (argc < 3)
		return 2;
	how = argv[1];
	size = strtoul(argv[2], NULL, 0);
	calls(NULL);
	pthread_create(&thread, NULL, calls, NULL);
	pthread_join(thread, NULL);
	if (!fork()) {
		t_tiny();
		_exit(5);
	}
	wait(&status);
	printf("%d\n", status);
	return 0;
}
