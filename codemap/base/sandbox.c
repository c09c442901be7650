/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The sandbox of the processes that parse foreign files, which an attacker may have made. Such a
 * process needs memory, threads, and the descriptors that it has. Everything else is refused with
 * EPERM: no file can be opened, no socket made, nothing executed or signalled.
 */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include "codemap/base/base.h"
#include "codemap/base/sandbox.h"

#define ADDRESSES_MAX	(UINT64_C(16) << 30)	/* files are mapped whole, and inflated sections reserve theirs in advance */
#define MEMORY_MAX	(UINT64_C(1536) << 20)	/* what is written to */
#define SECONDS_MAX	300

static void limit_set(int what, uint64_t value)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) < 0)
		return;
	if (limit.rlim_max == RLIM_INFINITY || value < limit.rlim_max)
		limit.rlim_max = value;
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	setrlimit(what, &limit);
}

void sandbox_enter(int talks)
{
	static const int allowed[] = {
		SCMP_SYS(read),
		SCMP_SYS(pread64),
		SCMP_SYS(write),
		SCMP_SYS(writev),
		SCMP_SYS(lseek),
		SCMP_SYS(fstat),
		SCMP_SYS(close),
		SCMP_SYS(brk),
		SCMP_SYS(munmap),
		SCMP_SYS(mremap),
		SCMP_SYS(madvise),
		SCMP_SYS(futex),
		SCMP_SYS(exit),
		SCMP_SYS(exit_group),
		SCMP_SYS(set_robust_list),
		SCMP_SYS(rseq),
		SCMP_SYS(rt_sigprocmask),
		SCMP_SYS(rt_sigreturn),
		SCMP_SYS(getrandom),
		SCMP_SYS(clock_gettime),
		SCMP_SYS(gettid),
		SCMP_SYS(getpid),
		SCMP_SYS(sched_yield),
		SCMP_SYS(restart_syscall),
		SCMP_SYS(sched_getaffinity),
#ifdef __SANITIZE_ADDRESS__
		SCMP_SYS(sigaltstack),
		SCMP_SYS(rt_sigaction),
		SCMP_SYS(prctl),
		SCMP_SYS(readlink),
		SCMP_SYS(getrlimit),
		SCMP_SYS(prlimit64),
		SCMP_SYS(getuid),
#endif
	};
	scmp_filter_ctx filter;
	unsigned int i;
	int rc = 0;

	limit_set(RLIMIT_CORE, 0);
	limit_set(RLIMIT_CPU, SECONDS_MAX);
#ifndef __SANITIZE_ADDRESS__
	limit_set(RLIMIT_AS, ADDRESSES_MAX);
	limit_set(RLIMIT_DATA, MEMORY_MAX);
#endif
	filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	if (!filter)
		fail("cannot make the seccomp filter: check libseccomp");
	for (i = 0; i < sizeof(allowed) / sizeof(*allowed) && !rc; i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	if (!rc && talks)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(recvmsg), 0);
	if (!rc && talks)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendmsg), 0);
	/* Memory that can be executed is not to be had; threads are, processes are not. */
	if (!rc)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, 4, 0));
	if (!rc)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, 4, 0));
	if (!rc)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
				      SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
	/* clone3's flags are in memory, where a filter cannot look: glibc then uses clone. */
	if (!rc)
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	if (!rc)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	if (rc)
		fail("cannot enter its sandbox (seccomp: error %d): run it on a kernel with seccomp filters", -rc);
}
