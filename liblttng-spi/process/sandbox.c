/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Programs that give system calls up: seccomp(2). A filter that kills for what it
 * does not know would kill the program for what the tracer does in its threads:
 * patch ahead of a call, block signals while a record is made, take memory for a
 * thread, end with the process.
 *
 * So before a thread gets a filter, the filter is asked (seccomp-filter.c). One that
 * lets the tracer's calls happen or fail changes nothing. Otherwise all
 * instrumentation is taken out first, for good, and named; handlers of fork() and of
 * threads' ends do nothing any more; and what lttng-ust would do at exit(), in the
 * program's thread, is left out: the session daemon sees the process end anyway.
 * A filter that kills only for what a traced child or a message takes leads to SPI_MODE_QUIET: calls are recorded
 * on, and children and executed programs are not followed.
 *
 * The tracer's threads stay outside of the filter, as all threads do that exist. One
 * that is meant for all threads (SECCOMP_FILTER_FLAG_TSYNC) would kill them, and
 * with them the process: where the program has one thread only it is for that alone.
 *
 * The same for a thread that gives up reading the processor's clock, which each record
 * has: prctl(PR_SET_TSC), as recorders of programs do. And for one that has its system calls
 * end in its own handler of SIGSYS (PR_SET_SYSCALL_USER_DISPATCH), as emulators do: it would be
 * called for the tracer's.
 */
#include <elf.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/ledger/ledger.h"
#include "liblttng-spi/process/internal.h"
#include "liblttng-spi/process/seccomp-filter.h"

#define DESTRUCTORS_MOST	16u

#ifndef PR_SET_SYSCALL_USER_DISPATCH	/* Linux 5.11 */
#define PR_SET_SYSCALL_USER_DISPATCH	59
#define PR_SYS_DISPATCH_OFF		0
#endif

enum verdict { HARMLESS, QUIET, DEADLY };

/*
 * Where the dynamic sections of the tracer's libraries say how many destructors there are: libc asks there at exit().
 * Found once, as no lock of the dynamic linker's may be taken later. Control side.
 */
static struct {
	Elf64_Dyn *size;
	int is_relro;		/* its page is read-only */
} destructors[DESTRUCTORS_MOST];
static unsigned int destructor_count;

static int destructors_find(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *name = strrchr(info->dlpi_name, '/');
	Elf64_Dyn *dyn = NULL;
	uint64_t relro = 0;

	(void) size;
	(void) unused;
	if (strncmp(name ? name + 1 : info->dlpi_name, "liblttng-", 9) || destructor_count == DESTRUCTORS_MOST)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_DYNAMIC)
			dyn = (Elf64_Dyn *) (info->dlpi_addr + p->p_vaddr);
		if (p->p_type == PT_GNU_RELRO)
			relro = info->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	while (dyn && dyn->d_tag != DT_NULL && dyn->d_tag != DT_FINI_ARRAYSZ)
		dyn++;
	if (!dyn || dyn->d_tag == DT_NULL)
		return 0;
	destructors[destructor_count].size = dyn;
	destructors[destructor_count++].is_relro = SPI_PAGE_OF((uint64_t) dyn) + SPI_PAGE <= relro;
	return 0;
}

void spi_sandbox_prepare(void)
{
	destructor_count = 0;
	dl_iterate_phdr(destructors_find, NULL);
}

void spi_sandbox_drop(void)
{
	for (unsigned int i = 0; i < destructor_count; i++) {
		uint64_t page = SPI_PAGE_OF((uint64_t) destructors[i].size);

		if (spi_sys(SYS_mprotect, page, SPI_PAGE, (long) (PROT_READ | PROT_WRITE)) < 0)
			continue;
		destructors[i].size->d_un.d_val = 0;
		if (destructors[i].is_relro)
			spi_sys(SYS_mprotect, page, SPI_PAGE, (long) PROT_READ);
	}
	spi_mode_set(SPI_MODE_SILENT);
}

static void sandbox_comes(const char *why)
{
	struct spi_thread *t = &spi_thread;

	spi_process_execs();		/* all calls that are open get their exits, */
	spi_ledger_abandon();		/* and record nothing when they return */
	spi_give_up(why);
	t->busy |= SPI_BUSY_ALWAYS;
	spi_last_thread_watch();
	spi_sandbox_drop();
}

static void sandbox_look(enum verdict verdict)
{
	if (verdict == HARMLESS)
		return;
	/* One that has not begun does not any more, which has to be said before the filter is there. */
	if (spi_child_confined() && verdict != DEADLY) {
		spi_sandbox_drop();
		return;
	}
	if (!spi_mode_change(SPI_MODE_OWN, SPI_MODE_QUIET))
		spi_mode_change(SPI_MODE_CHILD_BEGINS, SPI_MODE_QUIET);
	if (verdict == DEADLY)
		sandbox_comes("it enters a seccomp sandbox that kills for system calls which tracing needs");
}

/* struct sock_fprog, in the program's memory. What cannot be read the kernel will refuse. */
static enum verdict filter_judge(uint64_t program)
{
	struct sock_filter *code;
	struct sock_fprog head;
	enum verdict verdict = HARMLESS;
	size_t size;

	if (spi_memory_copy(&head, program, sizeof(head)) < 0 || !head.len || head.len > BPF_MAXINSNS)
		return HARMLESS;
	size = head.len * sizeof(*code);
	code = spi_map_pages(size);	/* not the stack, which may be small, and no lock: a constructor may be who calls */
	if (!code)
		return DEADLY;
	if (spi_memory_copy(code, (uint64_t) head.filter, size) == 0)
		verdict = spi_seccomp_deadly(code, head.len, (uint64_t) filter_judge, SPI_SECCOMP_RECORD) ? DEADLY :
			spi_seccomp_deadly(code, head.len, (uint64_t) filter_judge, SPI_SECCOMP_LOAD) ? QUIET : HARMLESS;
	spi_sys(SYS_munmap, code, (size + SPI_PAGE - 1) & ~(SPI_PAGE - 1));
	return verdict;
}

static int may_look(void)
{
	return !spi_thread.busy && spi_may(SPI_MAY_ACT | SPI_MAY_HERE);
}

static void prctl_comes(int option, uint64_t a, uint64_t b)
{
	if (option == PR_SET_SECCOMP && may_look())
		sandbox_look(a == SECCOMP_MODE_STRICT ? DEADLY : filter_judge(b));
	else if (option == PR_SET_TSC && (int) a == PR_TSC_SIGSEGV && may_look())
		sandbox_comes("it has reading the processor's clock end in SIGSEGV");
	else if (option == PR_SET_SYSCALL_USER_DISPATCH && a != PR_SYS_DISPATCH_OFF && may_look())
		sandbox_comes("it has system calls end in its handler of SIGSYS");
}

static uint64_t prctl_enters(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	(void) point;
	(void) vec;
	(void) stride;
	prctl_comes((int) spi_frame_argument(frame, 0), spi_frame_argument(frame, 1), spi_frame_argument(frame, 2));
	return 0;
}

/* The same where libc's entry is not watched: what is done already is not done again. */
SPI_HOOK_DECLARE(prctl)
SPI_EXPORT int prctl(int option, ...)
{
	uint64_t a, b, c, d;
	va_list args;

	va_start(args, option);
	a = va_arg(args, uint64_t);
	b = va_arg(args, uint64_t);
	c = va_arg(args, uint64_t);
	d = va_arg(args, uint64_t);
	va_end(args);
	prctl_comes(option, a, b);
	return SPI_NEXT(prctl)(option, a, b, c, d);
}

const struct spi_hook spi_sandbox_hooks[] = {
	{ SPI_HOOK_ROW(prctl), .before = prctl_enters, .ways = SPI_HOOK_ORDER | SPI_HOOK_POINTERS | SPI_HOOK_ENTRY,
		.set = SPI_HOOKS_PROGRAMS },
	{ NULL },
};

int spi_sandbox_by_syscall(uint64_t operation, uint64_t flags, uint64_t args)
{
	enum verdict verdict = HARMLESS;

	if (!may_look())
		return 0;
	/* With arguments the kernel refuses it: libseccomp asks in that way whether there is such a system call. */
	if ((uint32_t) operation == SECCOMP_SET_MODE_STRICT && !(uint32_t) flags && !args)
		verdict = DEADLY;
	else if ((uint32_t) operation == SECCOMP_SET_MODE_FILTER)
		verdict = filter_judge(args);
	sandbox_look(verdict);
	return verdict != HARMLESS && (flags & SECCOMP_FILTER_FLAG_TSYNC) && spi_last_thread_is_one();
}
