/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * frames MAP SECONDS WORKERS - the program's own functions, patched by the code
 * map that spi-codemap made of it, called while a timer interrupts them anywhere;
 * the handler unwinds, and must get to main() from stubs and moved instructions
 * as from everywhere else. Only at a trampoline, which is one jump, may the
 * backtrace end.
 */
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unwind.h>
#include "harness.h"

#define NOINLINE __attribute__((noinline, noclone, noipa))

/* Entries of all kinds, each of which calls the next; callers that find their frame by rbp, too. */
static volatile int sink;
NOINLINE int step_leaf(int x) { return x + 1; }
NOINLINE int step_global(int x) { sink += x; return step_leaf(x) + sink; }
NOINLINE int step_push(int x, int y) { int r = step_global(x); return r + step_leaf(y) + step_leaf(x + y); }
NOINLINE int step_array(int x)
{
	volatile int a[40];

	a[x & 31] = x;
	return step_push(a[x & 31], x) + a[x & 31];
}
NOINLINE int step_variable(int x)
{
	volatile char a[(x & 15) + 1];

	a[0] = (char) x;
	return step_array(x) + a[0];
}
__attribute__((noinline, optimize("O0"))) int step_plain(int x) { return step_variable(x) + 1; }
NOINLINE int step_branch(int x) { return x & 1 ? step_plain(x) : step_variable(x); }
NOINLINE int step_many(int a, int b, int c, int d, int e, int f)
{
	int r = step_branch(a);

	return r + step_branch(b + c) + d + e + f + r * a;
}
NOINLINE int step_tail(int x) { return step_many(x, 1, 2, 3, 4, 5); }

static uint64_t main_address, samples, lost, in_near;
static uint64_t lost_at[8];
static uint64_t near_low, near_high;

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *data)
{
	uint64_t *found = data, ip = _Unwind_GetIP(context);

	if (_Unwind_FindEnclosingFunction((void *) (ip - 1)) == (void *) main_address)
		*found = 1;
	return _URC_NO_REASON;
}

static int is_trampoline(uint64_t ip)
{
	int is_known = (ip >= near_low && ip < near_high) || (ip >= the_object.low && ip < the_object.high);

	return !is_known && *(const uint8_t *) ip == 0xe9;
}

static void on_timer(int number, siginfo_t *info, void *context)
{
	uint64_t found = 0, ip = (uint64_t) ((ucontext_t *) context)->uc_mcontext.gregs[REG_RIP];

	_Unwind_Backtrace(look, &found);
	samples++;
	in_near += ip >= near_low && ip < near_high;
	if (found || is_trampoline(ip))
		return;
	if (lost < 8)
		lost_at[lost] = ip;
	lost++;
}

static int object_find(struct dl_phdr_info *info, size_t size, void *data)
{
	the_object.bias = info->dlpi_addr;
	the_object.low = UINT64_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD)
			continue;
		the_object.low = at < the_object.low ? at : the_object.low;
		the_object.high = at + p->p_memsz > the_object.high ? at + p->p_memsz : the_object.high;
	}
	return 1;
}

static struct spi_map map_open(const char *name)
{
	struct spi_map map;
	struct stat st;
	int fd = open(name, O_RDONLY);

	fstat(fd, &st);
	map.size = (uint64_t) st.st_size;
	map.head = mmap(NULL, map.size, PROT_READ, MAP_PRIVATE, fd, 0);
	return map;
}

extern char counting_thunk[];
static uint64_t seen;

static int patch_all(const struct spi_map *map)
{
	const struct spi_map_func *func = SPI_MAP_AT(map, funcs, struct spi_map_func, 0);
	struct spi_point *points[64];
	const char *errors[64];
	unsigned int n = 0;

	gates = spi_near_alloc(&the_object, 64, 64);
	gates[0] = 1;
	for (uint32_t i = 0; i < map->head->funcs.count && n < 64; i++) {
		struct spi_point *point = spi_near_alloc(&the_object, sizeof(*point), 64);

		point->address = func[i].vaddr + the_object.bias;
		point->thunk = (uint64_t) counting_thunk;
		point->payload = &seen;
		point->gate[0] = point->gate[1] = gates;
		point->object = &the_object;
		point->map = map;
		point->func = &func[i];
		if (spi_patch_prepare(point, &errors[n]) < 0) {
			printf("# %s: %s\n", spi_map_string(map, func[i].name), errors[n]);
			continue;
		}
		near_low = point->body < near_low || !near_low ? point->body & ~4095ul : near_low;
		near_high = point->body > near_high ? (point->body | 4095) + 1 : near_high;
		printf("# %s: worker %d\n", spi_map_string(map, func[i].name), spi_patch_worker(point));
		points[n++] = point;
	}
	return spi_patch_install(points, n, errors);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerspec interval = { { 0, 20000 }, { 0, 20000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct spi_map map = map_open(argv[1]);
	double end;
	timer_t timer;
	int x = 0, installed;

	main_address = (uint64_t) main;
	dl_iterate_phdr(object_find, NULL);
	spi_patch_init();
	spi_patch_workers = (uint32_t) strtoul(argv[3], NULL, 0);
	installed = patch_all(&map);
	ok(installed > 0, "%d functions are patched", installed);
	sigaction(SIGUSR1, &action, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &interval, NULL);
	for (end = now() + atof(argv[2]); now() < end;)
		for (int i = 0; i < 1000; i++)
			x += step_tail(x);
	timer_delete(timer);
	printf("# %lu backtraces, %lu from near code, %lu calls\n", samples, in_near, seen);
	for (uint64_t i = 0; i < lost && i < 8; i++)
		printf("# lost at %#lx (near code %#lx-%#lx)\n", lost_at[i], near_low, near_high);
	ok(in_near > 0 || !installed, "some interrupt near code");
	ok(lost == 0, "all get to main (%lu do not)", lost);
	return done_testing();
}
