/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The functions by which a program gets and gives back memory, descriptors and threads: of libc and the C++ runtime,
 * and of allocators that programs bring along, by the names that these export. The payload `memory` says by this table
 * what a function does, and `lttng trace --memory` makes a rule of each name.
 *
 *	X(name, what, first, second)	first, second: which arguments of the function, from 0 on
 */
#ifndef PAYLOADS_MEMORY_NAMES_H
#define PAYLOADS_MEMORY_NAMES_H

#define MEMORY_NAMES(X) \
	X(malloc, MALLOC, 0, 0) X(calloc, CALLOC, 0, 1) X(realloc, REALLOC, 0, 1) X(reallocarray, REALLOCARRAY, 0, 1) \
	X(free, FREE, 0, 0) X(cfree, FREE, 0, 0) X(free_sized, FREE, 0, 0) X(free_aligned_sized, FREE, 0, 0) \
	X(memalign, MEMALIGN, 0, 1) X(aligned_alloc, MEMALIGN, 0, 1) X(posix_memalign, POSIX_MEMALIGN, 0, 1) \
	X(valloc, PAGES, 0, 0) X(pvalloc, PAGES, 0, 0) \
	/* C++: new, new[], with nothrow, with alignment; delete likewise, with size */ \
	X(_Znwm, MALLOC, 0, 0) X(_Znam, MALLOC, 0, 0) \
	X(_ZnwmRKSt9nothrow_t, MALLOC, 0, 0) X(_ZnamRKSt9nothrow_t, MALLOC, 0, 0) \
	X(_ZnwmSt11align_val_t, MEMALIGN, 1, 0) X(_ZnamSt11align_val_t, MEMALIGN, 1, 0) \
	X(_ZnwmSt11align_val_tRKSt9nothrow_t, MEMALIGN, 1, 0) X(_ZnamSt11align_val_tRKSt9nothrow_t, MEMALIGN, 1, 0) \
	X(_ZdlPv, FREE, 0, 0) X(_ZdaPv, FREE, 0, 0) X(_ZdlPvm, FREE, 0, 0) X(_ZdaPvm, FREE, 0, 0) \
	X(_ZdlPvRKSt9nothrow_t, FREE, 0, 0) X(_ZdaPvRKSt9nothrow_t, FREE, 0, 0) \
	X(_ZdlPvSt11align_val_t, FREE, 0, 0) X(_ZdaPvSt11align_val_t, FREE, 0, 0) \
	X(_ZdlPvmSt11align_val_t, FREE, 0, 0) X(_ZdaPvmSt11align_val_t, FREE, 0, 0) \
	X(_ZdlPvSt11align_val_tRKSt9nothrow_t, FREE, 0, 0) X(_ZdaPvSt11align_val_tRKSt9nothrow_t, FREE, 0, 0) \
	/* jemalloc, with and without its prefix */ \
	X(je_malloc, MALLOC, 0, 0) X(je_calloc, CALLOC, 0, 1) X(je_realloc, REALLOC, 0, 1) X(je_free, FREE, 0, 0) \
	X(je_memalign, MEMALIGN, 0, 1) X(je_aligned_alloc, MEMALIGN, 0, 1) X(je_posix_memalign, POSIX_MEMALIGN, 0, 1) \
	X(je_mallocx, MALLOC, 0, 0) X(je_rallocx, REALLOC, 0, 1) X(je_dallocx, FREE, 0, 0) X(je_sdallocx, FREE, 0, 0) \
	X(mallocx, MALLOC, 0, 0) X(rallocx, REALLOC, 0, 1) X(dallocx, FREE, 0, 0) X(sdallocx, FREE, 0, 0) \
	/* tcmalloc */ \
	X(tc_malloc, MALLOC, 0, 0) X(tc_calloc, CALLOC, 0, 1) X(tc_realloc, REALLOC, 0, 1) X(tc_free, FREE, 0, 0) \
	X(tc_cfree, FREE, 0, 0) X(tc_free_sized, FREE, 0, 0) X(tc_memalign, MEMALIGN, 0, 1) \
	X(tc_posix_memalign, POSIX_MEMALIGN, 0, 1) X(tc_valloc, PAGES, 0, 0) X(tc_pvalloc, PAGES, 0, 0) \
	X(tc_new, MALLOC, 0, 0) X(tc_newarray, MALLOC, 0, 0) X(tc_new_nothrow, MALLOC, 0, 0) \
	X(tc_newarray_nothrow, MALLOC, 0, 0) X(tc_delete, FREE, 0, 0) X(tc_deletearray, FREE, 0, 0) \
	/* address space */ \
	X(mmap, MMAP, 0, 0) X(mmap64, MMAP, 0, 0) X(munmap, MUNMAP, 0, 0) X(mremap, MREMAP, 0, 0) X(brk, BRK, 0, 0) \
	X(sbrk, SBRK, 0, 0) \
	/* descriptors */ \
	X(open, OPEN, 0, 0) X(open64, OPEN, 0, 0) X(__open_2, OPEN, 0, 0) X(__open64_2, OPEN, 0, 0) \
	X(__open_nocancel, OPEN, 0, 0) X(__open64_nocancel, OPEN, 0, 0) X(creat, OPEN, 0, 0) X(creat64, OPEN, 0, 0) \
	X(openat, OPEN, 1, 0) X(openat64, OPEN, 1, 0) X(__openat_2, OPEN, 1, 0) X(__openat64_2, OPEN, 1, 0) \
	X(memfd_create, OPEN, 0, 0) X(mq_open, OPEN, 0, 0) X(shm_open, OPEN, 0, 0) \
	X(open_by_handle_at, DESCRIPTOR, 0, 0) X(socket, DESCRIPTOR, 0, 0) X(accept, DESCRIPTOR, 0, 0) \
	X(accept4, DESCRIPTOR, 0, 0) X(dup, DESCRIPTOR, 0, 0) X(dup2, DESCRIPTOR, 0, 0) X(dup3, DESCRIPTOR, 0, 0) \
	X(eventfd, DESCRIPTOR, 0, 0) X(epoll_create, DESCRIPTOR, 0, 0) X(epoll_create1, DESCRIPTOR, 0, 0) \
	X(timerfd_create, DESCRIPTOR, 0, 0) X(signalfd, SIGNALFD, 0, 0) X(inotify_init, DESCRIPTOR, 0, 0) \
	X(inotify_init1, DESCRIPTOR, 0, 0) X(fanotify_init, DESCRIPTOR, 0, 0) X(pidfd_open, DESCRIPTOR, 0, 0) \
	X(fcntl, FCNTL, 0, 0) X(fcntl64, FCNTL, 0, 0) X(pipe, PAIR, 0, 0) X(pipe2, PAIR, 0, 0) X(socketpair, PAIR, 3, 0) \
	X(close, CLOSE, 0, 0) X(__close_nocancel, CLOSE, 0, 0) X(close_range, CLOSE_RANGE, 0, 0) \
	X(closefrom, CLOSE_FROM, 0, 0) \
	/* threads */ \
	X(pthread_create, THREAD_CREATE, 0, 0) X(pthread_join, THREAD_JOIN, 0, 0) X(pthread_tryjoin_np, THREAD_JOIN, 0, 0) \
	X(pthread_timedjoin_np, THREAD_JOIN, 0, 0) X(pthread_clockjoin_np, THREAD_JOIN, 0, 0) \
	X(pthread_detach, THREAD_DETACH, 0, 0)

/*
 * Python's allocator, for --memory=python alone: CPython's own code may have been compiled into its callers, which then
 * get or give back a block that nobody sees.
 */
#define MEMORY_PYTHON_NAMES(X) \
	X(PyMem_Malloc, MALLOC, 0, 0) X(PyMem_Calloc, CALLOC, 0, 1) X(PyMem_Realloc, REALLOC, 0, 1) X(PyMem_Free, FREE, 0, 0) \
	X(PyMem_RawMalloc, MALLOC, 0, 0) X(PyMem_RawCalloc, CALLOC, 0, 1) X(PyMem_RawRealloc, REALLOC, 0, 1) \
	X(PyMem_RawFree, FREE, 0, 0) X(PyObject_Malloc, MALLOC, 0, 0) X(PyObject_Calloc, CALLOC, 0, 1) \
	X(PyObject_Realloc, REALLOC, 0, 1) X(PyObject_Free, FREE, 0, 0)

#endif /* PAYLOADS_MEMORY_NAMES_H */
