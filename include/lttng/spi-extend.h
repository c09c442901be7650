/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * lttng/spi-extend.h - a part of lttng/spi.h, which includes it: what else happens in the process, which call
 * instructions are instrumented and how, other processes. The words [any], [payload] and [configure] mean what they
 * mean there.
 */
#ifndef LTTNG_SPI_EXTEND_H
#define LTTNG_SPI_EXTEND_H

#ifndef LTTNG_SPI_H
#error "include <lttng/spi.h>"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what else happens in the process ---- */

/*
 * Each function may be NULL: not wanted. They get the agent and `data`. They run in the thread in which it happens, or
 * in a thread of the agent's; [configure] functions must not be called there. One that faults or throws has the agent
 * switched off. Where an agent is named by rules, it is told from the time on at which its file was loaded.
 */
struct spi_observer {
	size_t size;		/* sizeof(struct spi_observer) */
	void *data;
	/*
	 * A process was created by fork() or posix_spawn(), which system() and popen() use: in the parent `child` is
	 * its id, or -1 where that is not known; in a child of fork() that is followed `child` is 0. Not told: vfork()
	 * and clone().
	 */
	void (*created)(struct spi_agent *agent, int32_t child, void *data);
	/* The process is about to execute `path`. Not told: what a child of vfork() or posix_spawn() executes. */
	void (*executes)(struct spi_agent *agent, const char *path, void *data);
	/*
	 * The process ends: `code` is what exit(), _exit() or main() gave, -1 where that is not known; or `signal` ends
	 * the process by its default action, and `code` is -1. Not told: SIGKILL, a real-time signal's default action,
	 * and a system call exit_group of the program's own.
	 */
	void (*ended)(struct spi_agent *agent, int32_t code, int32_t signal, void *data);
	/*
	 * The program gets a signal: its handler runs next, or is_fatal, and the signal ends the process. In the
	 * signal's handler, all signals blocked, maybe on a small stack: async-signal-safe functions alone. Not told:
	 * signals that are ignored, waited for by sigwait() and its like, or stop the process; real-time signals;
	 * SIGKILL; SIGTRAP and SIGSTKFLT.
	 */
	void (*signal)(struct spi_agent *agent, int32_t number, int32_t is_fatal, void *data);
	/*
	 * An object was loaded: for each that is there when the agent begins, and for each that comes, before its
	 * constructors run; and unloaded. The dynamic linker's lock may be held by another thread, which waits: no
	 * dlopen(), no dlsym().
	 */
	void (*loaded)(struct spi_agent *agent, struct spi_object *object, void *data);
	void (*unloaded)(struct spi_agent *agent, struct spi_object *object, void *data);
	/*
	 * A function of an object that a call tree of the agent's is about to go into. 0: leave the function alone, as
	 * if it were in spi_agent_set_functions_not_to_instrument(). As loaded().
	 */
	int (*function)(struct spi_agent *agent, struct spi_function *function, void *data);
	/* The tracer leaves the process, which goes on: spi_agent_stop(), or the controller goes. After fini(). */
	void (*detached)(struct spi_agent *agent, void *data);
	/*
	 * A rule that names the agent is in force, the first one since none was: from here on records can be written.
	 * Before main() in the program's thread, else in one of the agent's.
	 */
	void (*begun)(struct spi_agent *agent, void *data);
	/* As signal(), and instead of it: `info` is the handler's siginfo_t. */
	void (*signal_from)(struct spi_agent *agent, int32_t number, int32_t is_fatal, const void *info, void *data);
};

/*
 * spi_agent_set_observer() - the observer, which is copied. [configure]
 * An agent with an observer needs no payload. -EINVAL: `observer->size` is too small.
 */
int spi_agent_set_observer(struct spi_agent *agent, const struct spi_observer *observer);

/* ---- events of a payload's own, into LTTng ---- */

enum spi_record_kind {
	SPI_RECORD_UNSIGNED = 1,	/* 64 bits */
	SPI_RECORD_HEX,			/* 64 bits, shown as an address */
	SPI_RECORD_SIGNED,		/* 64 bits */
	SPI_RECORD_INT,			/* 32 bits, signed */
	SPI_RECORD_TEXT,		/* the address of a text, 0: ""; up to 255 bytes that can be read */
	SPI_RECORD_ADDRESSES,		/* a sequence, as spi_call_backtrace() fills: the last field */
};

struct spi_record_field {
	const char *name;
	uint32_t kind;			/* enum spi_record_kind */
};

struct spi_record;			/* an event */

/*
 * spi_agent_add_record() - an event PROVIDER:NAME of LTTng-UST's, with at most 8 fields. [configure]
 * It can be recorded by any session from the agent's first rule on; lttng-ust is loaded for that. Before a thread's
 * first call comes to the payloads, and before a forked child's, the thread or child is made ready to record; a call for
 * which that cannot be is lost, and counted. Filters do not see the fields of an event that has SPI_RECORD_ADDRESSES.
 * NULL: a name that LTTng does not take, or no memory; see spi_agent_error(). Names are copied.
 */
struct spi_record *spi_agent_add_record(struct spi_agent *agent, const char *provider, const char *name,
	const struct spi_record_field *fields, size_t count);

/* spi_record_is_on() - does a session record the event? [any] */
int spi_record_is_on(const struct spi_record *record);

/*
 * spi_record_write() - one event. [payload], and in observers
 * `ip` is what the context ip has. `values` has a word for each field but SPI_RECORD_ADDRESSES, which has
 * addresses[count], 128 at most. Needs neither memory nor a lock.
 * 0, also where no session records it; -ENOBUFS: there was no room in a buffer, which is counted; -EAGAIN: not now, as
 * the process ends, or the thread cannot record yet, which is counted of calls alone. Threads that observers run in are
 * made ready where that may be: not in a signal handler, nor in a forked child before its first call.
 */
int spi_record_write(struct spi_record *record, uint64_t ip, const uint64_t *values, const uint64_t *addresses,
	size_t count);

/* ---- the propeller: which call instructions a call tree takes ---- */

enum spi_call_site_kind {
	SPI_CALL_SITE_DIRECT = 1,	/* a call of a function in the same object */
	SPI_CALL_SITE_LIBRARY,		/* a call through the PLT, or a slot that the dynamic linker fills */
	SPI_CALL_SITE_INDIRECT,		/* a call through a register or memory */
	SPI_CALL_SITE_TAIL_DIRECT,	/* the same three as jumps, by which a function ends */
	SPI_CALL_SITE_TAIL_LIBRARY,
	SPI_CALL_SITE_TAIL_INDIRECT,
};

/* A call instruction. Addresses are those in the process; spi_function_at() has the functions. */
struct spi_call_site {
	size_t size;		/* of this struct, as the library has it */
	uint64_t address;	/* of the call instruction */
	uint64_t function;	/* that it is in: its first byte, or that of a piece of it that stands apart */
	uint64_t callee;	/* SPI_CALL_SITE_DIRECT and _TAIL_DIRECT; 0: only the call itself tells */
	uint32_t length;	/* of the call instruction, bytes */
	uint32_t kind;		/* enum spi_call_site_kind */
};

/*
 * Is the call instruction to be instrumented? 0: it is left alone, and what it calls is not instrumented for it. Runs
 * once a call instruction of a function that is about to be instrumented, maybe with all signals blocked and in any
 * state of the thread: async-signal-safe functions alone, and no [payload] function. Where a payload of the process has
 * SPI_PAYLOAD_GENERAL_REGISTERS, propellers and workers use no vector register either.
 */
typedef int spi_propeller(struct spi_agent *agent, const struct spi_call_site *site, void *data);

/* spi_agent_set_propeller() - the decision; NULL: all call instructions. [configure] */
int spi_agent_set_propeller(struct spi_agent *agent, spi_propeller *decide, void *data);

/*
 * spi_call_propel_calls() - spi_call_propel() with a given set of call instructions of the callee, by their `count`
 * addresses; those that are instrumented already stay so. [payload], in entry payloads
 * As spi_call_propel(), and -ENOENT: an address is no call instruction of the callee's; the others are instrumented.
 */
int spi_call_propel_calls(struct spi_call *call, const uint64_t *addresses, size_t count);

/*
 * spi_agent_propel() - from now on instrument what this function calls, and so on, whoever calls the function. In a
 * thread that may allocate memory, at any time after spi_agent_go(), never in a payload.
 * Each function takes one of the process's 16 call trees; once more for the same function is nothing.
 * 0, -EINVAL, -EDEADLK: in a payload or an observer; -ENOTSUP or another negative errno: see spi_agent_error().
 */
int spi_agent_propel(struct spi_agent *agent, struct spi_function *function);

/*
 * Which call instructions are left alone. [configure]
 * direct_calls_only: those through a register or memory are. Off by default.
 * tail_calls: jumps by which functions end are, if is_on is 0. On by default.
 */
int spi_agent_enable_direct_calls_only(struct spi_agent *agent, int is_on);
int spi_agent_enable_tail_calls(struct spi_agent *agent, int is_on);

/*
 * spi_agent_enable_trap_only() - reach call instructions by breakpoints (int3) alone, in the whole process and from now
 * on: for comparison. Those that a breakpoint must not stand at are named and left alone. [configure]
 */
int spi_agent_enable_trap_only(struct spi_agent *agent, int is_on);

/* ---- workers: how a call instruction is redirected ---- */

struct spi_site;	/* a call instruction, while a worker's function runs */

/*
 * A way to redirect call instructions, asked before the agent's own. Each function returns a positive number for "done"
 * and 0 for "not", and runs once a site, maybe with all signals blocked and in any state of the thread:
 * async-signal-safe functions alone, and no [payload] function.
 *	save	the site is new: does the worker take it? What the worker wants to know later it notes here.
 *	run	change the site's bytes with spi_worker_write(): a thread that reaches the call instruction comes to
 *		the site's snippet from then on, by whatever way the worker has, with all registers as they were. If
 *		run does not succeed, the agent's own workers have the site.
 *	undo	change them back. Threads may still be on their way to the snippet, which stays. The agent looks
 *		whether the program's bytes stand there, and puts them back if not.
 * A worker that uses a fault has it handled by spi_agent_set_fault(): what the program blocks from then on leaves the
 * faults' signals out. Where a thread has blocked the signal before, the kernel ends the process. Sites in the C
 * library are not offered, nor where a jump leads into the middle of the instruction.
 */
struct spi_worker {
	size_t size;		/* sizeof(struct spi_worker) */
	const char *name;	/* in messages */
	void *data;
	int (*save)(struct spi_site *site, void *data);
	int (*run)(struct spi_site *site, void *data);
	int (*undo)(struct spi_site *site, void *data);
};

/*
 * spi_agent_add_worker() - a further worker, which is copied, for all call trees of the process. [configure]
 * -EINVAL: a function is missing; -ENOSPC: there are four already.
 */
int spi_agent_add_worker(struct spi_agent *agent, const struct spi_worker *worker);

/* Of a site. [any] */
uint64_t spi_worker_address(const struct spi_site *site);	/* of the call instruction */
uint32_t spi_worker_size(const struct spi_site *site);		/* of the call instruction, bytes */
const uint8_t *spi_worker_bytes(const struct spi_site *site);	/* the program's: so many */
uint64_t spi_worker_snippet(const struct spi_site *site);	/* where a thread is to be led */

/*
 * spi_worker_write() - change bytes of the call instruction, in one step as running threads see it. In run and undo.
 * 0; -EINVAL: not in the instruction, more than 8, or not now; -ERANGE: not to be had in one step; -EIO: the kernel
 * refuses.
 */
int spi_worker_write(struct spi_site *site, uint64_t address, const void *bytes, size_t size);

/*
 * spi_snippet_at() - the snippet of the site whose instruction begins there, if a user's own worker has or had the
 * site; 0: none. [any]
 */
uint64_t spi_snippet_at(uint64_t address);

/*
 * Called for faults of the program's (SIGSEGV, SIGBUS, SIGILL, SIGFPE) before the program's own handler: the signal
 * handler's arguments. Not 0: the fault was the agent's, and the thread goes on with what `context` (ucontext_t) says.
 */
typedef int spi_fault(struct spi_agent *agent, int number, void *info, void *context, void *data);

/* spi_agent_set_fault() - see spi_fault; NULL: none. The program's handlers stay as they are. [configure] */
int spi_agent_set_fault(struct spi_agent *agent, spi_fault *fault, void *data);

/* ---- other processes ---- */

/*
 * spi_inject_pid(), spi_inject_port() - what the command `spi-inject pid PID PATH` and `spi-inject port PORT PATH`
 * does, with the command's message in error[size]. In a thread that may allocate memory and have a child process, also
 * in a program that is not traced.
 * 0; -ENOENT: the command is not installed; -EPERM: the command refuses, or fails: `error` has its words; -EINVAL:
 * there is no path, -ESRCH: no such number; or another negative errno, of the child process.
 */
int spi_inject_pid(int32_t pid, const char *path, char *error, size_t size);
int spi_inject_port(uint16_t port, const char *path, char *error, size_t size);

/* ---- channels: a payload in the processes that its process sends messages to ---- */

/*
 * spi_agent_enable_ipc() - the agent's call trees go along pipes, sockets, and what IPC workers know. [configure]
 * Just before the first message goes out on a channel, whoever has attached the agent (lttng trace --payload) brings
 * the payload into the processes at the other end. There the tree begins with the first receive that has the message.
 * Where nobody can do that, as with LD_PRELOAD or spi-inject, the channels whose other ends were not looked for are
 * named where payloads write.
 */
int spi_agent_enable_ipc(struct spi_agent *agent, int is_on);

/*
 * spi_call_is_ipc_read(), spi_call_is_ipc_write() - is the callee, by its name, a function that reads, or writes, a
 * channel? That says nothing of the descriptor. [payload]
 *	read: read, readv, recv, recvfrom, recvmsg, accept, accept4, fgets, fgetc, getc, fread
 *	write: write, writev, send, sendto, sendmsg, sendfile, connect, fputs, fputc, putc, putchar, fwrite
 * and what libc has of them with sizes checked (__read_chk), without a lock (fputs_unlocked), with 64, and as a name of
 * its own (_IO_fgets). Of __read_chk(), which goes on to read(), both are.
 */
int spi_call_is_ipc_read(const struct spi_call *call);
int spi_call_is_ipc_write(const struct spi_call *call);

/*
 * spi_call_can_start_tracing() - is the call to be traced, as far as messages tell? [payload]
 * 0: the process was brought in by a message, and no receive has had the message yet. Payloads of call trees are not
 * called before; those of functions by name are. Else 1, also in a process that no message has brought in.
 */
int spi_call_can_start_tracing(const struct spi_call *call);

#define SPI_CHANNEL_COUNTED	UINT64_MAX
#define SPI_CHANNEL_PEERS	8

/* One direction of a channel. */
struct spi_channel {
	size_t size;		/* sizeof(struct spi_channel) */
	uint64_t id;		/* the same at both ends */
	uint64_t position;	/* of the call's first byte; SPI_CHANNEL_COUNTED: see struct spi_ipc_worker */
	uint64_t device, inode;	/* of a file that the processes at the other end have open; 0: none */
	int32_t peers[SPI_CHANNEL_PEERS];	/* processes at the other end; 0 ends the list */
	char name[100];		/* for people */
};

/*
 * spi_call_channel() - the channel that the call reads, or writes, by its descriptor, which is the first argument.
 * [payload], in entry payloads of calls for which spi_call_is_ipc_read() or spi_call_is_ipc_write() says 1
 * The caller sets `channel->size`. `name` is the kind and the other end, "tcp 127.0.0.1:80". `peers` are those that are
 * known: by the answer to the question about the other end, or by a worker. `id` is 0 where the other end is not
 * known yet, and `position` SPI_CHANNEL_COUNTED where that is not known, as of datagrams.
 * 0; -EINVAL: no such call, or a function that has no descriptor, as stdio's; -EBADF; -ENOENT: no channel.
 */
int spi_call_channel(const struct spi_call *call, struct spi_channel *channel);

/*
 * A worker for channels of a kind that the agent does not know: it is asked at each call that reads or writes a
 * descriptor which is no pipe and no socket. All functions but `channel` may be NULL. They run in any thread, in any
 * state, on the program's stack: async-signal-safe functions alone, and no [payload] function. Messages are told from
 * each other by their positions in a stream of bytes.
 *	channel		is the descriptor an end of a channel of the worker's? 1: yes, and `channel` was filled. `device`
 *			and `inode` are the descriptor's, so that most questions need no system call; they stay where the
 *			processes at the other end have the same file open. All else is 0. `offset`: pread()'s and
 *			pwrite()'s, else -1. As `position` the worker gives where the call's first byte will be; or
 *			SPI_CHANNEL_COUNTED: the agent counts what goes through the channel with this id, from where each
 *			end was first seen.
 *	inject		bring the payload into the processes at the other end. 1: done; NULL, or 0: whoever has attached
 *			the agent does it. Those are `peers`, and all processes that have the file (device, inode) open.
 *	set_remote_start	the first message is about to go out on the channel, after its receivers were brought in;
 *			is_on 0: the trees that followed the channel have ended, and the process goes on
 *	set_local_start		the first message has come by the channel, and trees begin with it; is_on 0: likewise
 *	can_start	a receive has had bytes of a channel by which trees wait for a message. 1: they begin. NULL: they
 *			do if `position` and the bytes received reach beyond where the sender was
 *	close		close() is called for a descriptor of the program's, whatever it is
 */
struct spi_ipc_worker {
	size_t size;		/* sizeof(struct spi_ipc_worker) */
	const char *name;	/* the kind of channel, in the trace and in messages: a word */
	void *data;
	int (*channel)(int fd, int is_write, int64_t offset, struct spi_channel *channel, void *data);
	int (*inject)(const struct spi_channel *channel, void *data);
	int (*set_remote_start)(const struct spi_channel *channel, int is_on, void *data);
	int (*set_local_start)(const struct spi_channel *channel, int is_on, void *data);
	int (*can_start)(int fd, const struct spi_channel *channel, void *data);
	void (*close)(int fd, void *data);
};

/*
 * spi_agent_set_ipc_worker() - the agent's worker, which is copied; NULL: none. Trees that follow channels follow the
 * worker's, too, while a rule names the agent. [configure]
 * -EINVAL: there is no function `channel`, or no name, or `name` is no word of at most 15 letters, digits and dashes;
 * -ENOSPC: the process has four already.
 */
int spi_agent_set_ipc_worker(struct spi_agent *agent, const struct spi_ipc_worker *worker);

#ifdef __cplusplus
}
#endif

#endif /* LTTNG_SPI_EXTEND_H */
