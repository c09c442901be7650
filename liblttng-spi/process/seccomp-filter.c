/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a seccomp filter says to the system calls of the tracer: the filter's own
 * program, classic BPF (linux/filter.h; seccomp(2)), is run here for each of them.
 * The kernel has checked it, or will: jumps lead forward, so it ends. The instructions are those that
 * libseccomp, OpenSSH, chromium and systemd make; any other counts as deadly.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "liblttng-spi/arch/arch.h"
#include "liblttng-spi/process/seccomp-filter.h"

struct call {
	uint16_t number;
	uint16_t third;		/* argument */
};

/*
 * In threads of the program: recording, patching ahead of a call, room for deep recursion, a thread's first call and
 * its last.
 */
static const struct call record_calls[] = {
	{ SYS_write, 1 }, { SYS_mmap, PROT_READ | PROT_WRITE }, { SYS_munmap, 0 }, { SYS_rt_sigprocmask, 0 }, { SYS_getpid, 0 },
	{ SYS_gettid, 0 }, { SYS_futex, 1 },
	{ SYS_read, 64 }, { SYS_close, 0 }, { SYS_openat, 0 }, { SYS_mprotect, PROT_READ | PROT_WRITE },
	{ SYS_mprotect, PROT_READ | PROT_WRITE | PROT_EXEC }, { SYS_mprotect, PROT_READ | PROT_EXEC }, { SYS_mremap, 4096 },
	{ SYS_rt_sigaction, 0 }, { SYS_sched_yield, 0 }, { SYS_nanosleep, 0 }, { SYS_getcpu, 0 }, { SYS_membarrier, 0 },
	{ SYS_clock_gettime, 0 }, { SYS_tgkill, 0 }, { SYS_sigaltstack, 0 },
	{ SYS_mmap, PROT_NONE }, { SYS_mmap, PROT_READ | PROT_EXEC }, { SYS_pread64, 64 }, { SYS_fstat, 0 }, { SYS_brk, 0 },
	{ SYS_prlimit64, 0 },
};

/* And in one into which the agent is loaded, with the threads that it and lttng-ust make there, which inherit the filter. */
static const struct call load_calls[] = {
	{ SYS_clone, 0 }, { SYS_clone3, 0 }, { SYS_set_robust_list, 0 }, { SYS_rseq, 0 }, { SYS_prctl, 0 }, { SYS_exit, 0 },
	{ SYS_socket, 0 }, { SYS_socketpair, 0 }, { SYS_connect, 0 }, { SYS_sendmsg, 0 }, { SYS_recvmsg, 0 }, { SYS_sendto, 64 }, { SYS_recvfrom, 64 },
	{ SYS_setsockopt, 0 }, { SYS_getsockopt, 0 }, { SYS_poll, 0 }, { SYS_ppoll, 0 }, { SYS_eventfd2, 0 }, { SYS_fcntl, 0 },
	{ SYS_memfd_create, 0 }, { SYS_ftruncate, 0 }, { SYS_lseek, 0 }, { SYS_newfstatat, 0 },
	{ SYS_getdents64, 0 }, { SYS_readlink, 64 }, { SYS_readlinkat, 0 }, { SYS_faccessat, 0 }, { SYS_access, 0 }, { SYS_madvise, 4 },
	{ SYS_getuid, 0 }, { SYS_geteuid, 0 }, { SYS_getgid, 0 }, { SYS_getegid, 0 }, { SYS_uname, 0 },
	{ SYS_sched_getaffinity, 0 }, { SYS_clock_nanosleep, 0 }, { SYS_getrandom, 0 },
	{ SYS_dup, 0 }, { SYS_pipe2, 0 }, { SYS_restart_syscall, 0 }, { SYS_process_vm_readv, 1 },
};

/* SECCOMP_RET_*. */
static uint32_t filter_run(const struct sock_filter *code, uint32_t count, const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (uint64_t at = 0; at < count; at++) {
		const struct sock_filter *f = &code[at];

		switch (f->code) {
		case BPF_RET | BPF_K:
			return f->k;
		case BPF_LD | BPF_W | BPF_ABS:
			if (f->k % 4 || f->k > sizeof(*data) - 4)
				return SECCOMP_RET_KILL_PROCESS;
			a = ((const uint32_t *) data)[f->k / 4];
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= f->k;
			break;
		case BPF_JMP | BPF_JA:
			at += f->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			at += a == f->k ? f->jt : f->jf;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			at += a > f->k ? f->jt : f->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			at += a >= f->k ? f->jt : f->jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			at += a & f->k ? f->jt : f->jf;
			break;
		default:
			return SECCOMP_RET_KILL_PROCESS;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

/* Does it let the call fail or happen, and the thread live? */
static int is_survived(uint32_t verdict)
{
	verdict &= SECCOMP_RET_ACTION_FULL;
	return verdict == SECCOMP_RET_ALLOW || verdict == SECCOMP_RET_LOG || verdict == SECCOMP_RET_ERRNO;
}

static uint32_t deadly_of(const struct call *list, unsigned int n, const struct sock_filter *code, uint32_t count, uint64_t ip)
{
	for (unsigned int i = 0; i < n; i++) {
		struct seccomp_data data = { .nr = list[i].number, .arch = SPI_AUDIT_ARCH, .instruction_pointer = ip };

		data.args[2] = list[i].third;
		if (!is_survived(filter_run(code, count, &data)))
			return list[i].number + 1u;
	}
	return 0;
}

#define LIST(list)	list, sizeof(list) / sizeof(list[0])

uint32_t spi_seccomp_deadly(const struct sock_filter *code, uint32_t count, uint64_t ip, enum spi_seccomp_for purpose)
{
	uint32_t deadly = deadly_of(LIST(record_calls), code, count, ip);

	if (!deadly && purpose == SPI_SECCOMP_LOAD)
		deadly = deadly_of(LIST(load_calls), code, count, ip);
	return deadly;
}
