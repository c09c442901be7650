/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the tests list and map. */
#include <setjmp.h>
#include <stdio.h>
#include <sys/stat.h>

enum color { RED, GREEN = 5, BLUE = -1 };
struct point { int x, y; char tag[4]; };
struct list { struct list *next; };
typedef int (*visit_fn)(const char *path, const struct stat *sb, int flag);

#define NI __attribute__((noipa))

NI int visit(const char *path, const struct stat *sb, int flag) { return path[0] + flag + (sb != NULL); }
NI int walk(visit_fn fn, const char *const *names, unsigned long n) { return n ? fn(names[0], NULL, 0) : 0; }
NI struct point move_point(struct point p, enum color c, double by) { p.x += (int) by + c; return p; }
NI long double stretch(long double a, float b, _Bool c, char d) { return a * b + c + d; }
NI int report(const char *format, ...) { return format[0]; }
NI __attribute__((noreturn)) void give_up(void) { __builtin_trap(); }
NI int length(struct list *l) { int n = 0; while (l) { l = l->next; n++; } return n; }
NI int apply(int (*op)(int, int), int values[3]) { return op(values[0], values[1]); }
NI void nothing(void) { __asm__ volatile(""); }
int original(int a) __attribute__((noipa));
int original(int a) { return a + 1; }
int alias_of_it(int a) __attribute__((alias("original")));

/* A function whose second instruction something jumps to, and one that loops to its first byte. */
__asm__(".text\n.globl jumped_into\n.type jumped_into, @function\njumped_into:\n\tmov %rdi, %rax\n1:\tadd $1, "
	"%rax\n\tret\n"
	".size jumped_into, . - jumped_into\n.globl jumper\n.type jumper, @function\njumper:\n\tmov %rsi, %rax\n\tjmp "
	"1b\n"
	".size jumper, . - jumper\n.globl loops\n.type loops, @function\nloops:\n\tdec %edi\n\tjnz loops\n\tret\n.size "
	"loops, . - loops\n");

int main(int argc, char **argv)
{
	struct point p = { argc, 2, "abc" };
	const char *names[] = { "a" };

	if (argc > 100)
		give_up();
	p = move_point(p, GREEN, 1.5);
	nothing();
	printf("%d %d %Lg %d %d %d\n", walk(visit, names, 1), p.x, stretch(1, 2, 1, 'c'), report("x", 1), length(NULL),
	       original(1) + alias_of_it(2));
	return apply(NULL, NULL);
}
