/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * lttng/spi.h - code of a user's own before and after each call of a running program.
 *
 * A payload file is a shared library that is linked with -llttng-spi. Its constructor makes an agent, gives the agent
 * an entry payload, an exit payload or both, and lets the agent go:
 *
 *	static void *enter(struct spi_call *call, void *data)
 *	{
 *		puts(spi_function_name(spi_call_callee(call)));
 *		spi_call_propel(call);
 *		return NULL;
 *	}
 *
 *	__attribute__((constructor)) static void begin(void)
 *	{
 *		struct spi_agent *agent = spi_agent_create(NULL);
 *
 *		spi_agent_set_entry(agent, enter, NULL);
 *		spi_agent_go(agent);
 *	}
 *
 * The same file is loaded by LD_PRELOAD, by `spi-inject pid PID FILE`, or by `lttng trace --payload FILE`, which says
 * what is instrumented (a call tree, or functions) in place of the agent's event.
 *
 * Where a function may be called:
 *	[any]		anywhere: in payloads, signal handlers and other threads
 *	[payload]	in the payload that was given the call, until that payload returns
 *	[configure]	in a thread that may allocate memory and load libraries, before spi_agent_go()
 *
 * Functions that return int return 0 or a positive result, or a negative errno. No function changes errno.
 * Objects, functions and points that the library returns live for ever; their texts, too. A NULL object, function or
 * point is allowed as an argument and has no name, no address and no size.
 *
 * A payload runs in the thread that makes the call, before the callee's first instruction or after its last one. All
 * registers and errno are as they were when the payload is over. Calls that a payload makes itself are not instrumented.
 */
#ifndef LTTNG_SPI_H
#define LTTNG_SPI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LTTNG_SPI_VERSION	1u	/* of this interface; the library knows all versions up to its own */

struct spi_agent;	/* what is instrumented, and what runs there */
struct spi_event;	/* when and where instrumentation begins */
struct spi_call;	/* one call of one function, while a payload of the call runs */
struct spi_point;	/* a place that was instrumented: a call site, or a function's entry */
struct spi_function;	/* a function of an object */
struct spi_object;	/* the executable, or a library */

/* ---- payloads ---- */

/*
 * Runs before the callee. The result is the call's user data, which the exit payload gets from spi_call_user_data().
 * `data` is what spi_agent_set_entry() was given.
 */
typedef void *spi_entry_payload(struct spi_call *call, void *data);

/* Runs after the callee has returned, or was left in another way: spi_call_ending(). */
typedef void spi_exit_payload(struct spi_call *call, void *data);

enum spi_payload_flags {
	/*
	 * The payloads may run anywhere, also within malloc(), stdio, the dynamic linker and the unwinder, and in a signal
	 * handler that has interrupted these or a payload. Without the flag such calls do not come to them, and each call of a
	 * function by name is looked at for that.
	 */
	SPI_PAYLOAD_SIGNAL_SAFE		= 1u << 0,
	/*
	 * The payloads use no vector and no floating-point register (-mgeneral-regs-only), and call nothing that does. They
	 * are entered faster, and cannot pop arguments that vector registers have.
	 */
	SPI_PAYLOAD_GENERAL_REGISTERS	= 1u << 1,
	/*
	 * The payloads need at most 1 KB of stack. Without the flag calls with less than 16 KB of stack left do not
	 * come to them.
	 */
	SPI_PAYLOAD_SMALL_STACK		= 1u << 8,
	/*
	 * Of the agent, not of its payloads: source lines, basic blocks and the text of instructions are known of each
	 * object that its call trees go into, or whose functions it instruments by name. That takes time and memory.
	 */
	SPI_AGENT_DETAIL		= 1u << 16,
	/*
	 * Likewise: where a session's channel says that its events wait for room (lttng enable-channel
	 * --blocking-timeout), events of this process do. That takes effect where lttng-ust is loaded for the agent.
	 */
	SPI_AGENT_RECORDS_WAIT		= 1u << 17,
};

/* ---- the agent ---- */

/* Set to zero what is not wanted. */
struct spi_agent_options {
	size_t size;		/* sizeof(struct spi_agent_options) */
	uint32_t version;	/* LTTNG_SPI_VERSION */
	uint32_t flags;		/* enum spi_payload_flags, of both payloads */
	const char *name;	/* in messages; NULL: the file's name */
	/*
	 * Microseconds for one call of one of the agent's functions; 0: no limit. When it takes longer the agent is
	 * switched off and named, and the program goes on, also where the function waits for ever. What the function
	 * had locked stays locked.
	 */
	uint32_t limit_us;
	uint32_t reserved;
};

/*
 * spi_agent_create() - make an agent. [configure]
 * Returns NULL when there is no memory, or `options` are of a newer version than the library's. The agent is never freed.
 */
struct spi_agent *spi_agent_create(const struct spi_agent_options *options);

/* spi_agent_set_entry(), spi_agent_set_exit() - the payloads; NULL: none. [configure] */
int spi_agent_set_entry(struct spi_agent *agent, spi_entry_payload *entry, void *data);
int spi_agent_set_exit(struct spi_agent *agent, spi_exit_payload *exit, void *data);

/*
 * spi_agent_set_entry_name(), spi_agent_set_exit_name() - the same by the name of an exported function of the payload
 * file, or of a library that is loaded. [configure]
 * -ENOENT: nothing exports the name.
 */
int spi_agent_set_entry_name(struct spi_agent *agent, const char *name, void *data);
int spi_agent_set_exit_name(struct spi_agent *agent, const char *name, void *data);

/*
 * spi_agent_set_libraries_not_to_instrument(), spi_agent_set_functions_not_to_instrument() - `count` globs of file names,
 * or of functions (linkage names, or qualified names as spi_function_name() has them). [configure]
 * At most 16 each; -E2BIG: there are more.
 */
int spi_agent_set_libraries_not_to_instrument(struct spi_agent *agent, const char *const *globs, size_t count);
int spi_agent_set_functions_not_to_instrument(struct spi_agent *agent, const char *const *globs, size_t count);

/* spi_agent_use_default_libraries_not_to_instrument() - leave the C and C++ runtime libraries out. [configure] */
int spi_agent_use_default_libraries_not_to_instrument(struct spi_agent *agent);

/*
 * What the agent follows, and what else is different. All are switched on by default but parse_only. [configure]
 * parse_only: analyse the program, and instrument nothing.
 */
int spi_agent_enable_parse_only(struct spi_agent *agent, int is_on);
int spi_agent_enable_threads(struct spi_agent *agent, int is_on);
int spi_agent_enable_dlopen(struct spi_agent *agent, int is_on);
int spi_agent_enable_fork(struct spi_agent *agent, int is_on);

/* spi_agent_set_init_event() - when and where it begins; default: spi_event_sync(). [configure] */
int spi_agent_set_init_event(struct spi_agent *agent, struct spi_event *event);

/*
 * spi_agent_set_fini() - what runs once at the end: when the process ends, or when the last rule that names the payload
 * goes. No payload of the agent's begins any more then; for those that run it waits, but 50 ms at most. It runs before
 * the process executes another program, too; if that fails the agent begins again. It does not run where a signal ends
 * the process, nor in a child of vfork(), but in a forked child, also without a call there. [configure]
 */
int spi_agent_set_fini(struct spi_agent *agent, void (*fini)(struct spi_agent *agent, void *data), void *data);

/*
 * spi_agent_write() - text for the user: to where `lttng trace` prints, or without it to the standard error of the
 * process. [any]
 * Returns how many bytes were written, or a negative errno.
 */
long spi_agent_write(struct spi_agent *agent, const char *text, size_t size);

/*
 * spi_agent_argument() - the value of `--payload-arg NAME=VALUE`, or of NAME=VALUE in the environment variable
 * LTTNG_SPI_PAYLOAD_ARGS, a list with `;`. [configure]
 * NULL: it was not given. The text belongs to the agent. Arguments that no agent asks for are named to the user.
 */
const char *spi_agent_argument(struct spi_agent *agent, const char *name);

/*
 * spi_agent_go() - begin. [configure], at most once an agent.
 * Returns 0, or a negative errno; spi_agent_error() says why. An agent that could not begin leaves the program as it was.
 */
int spi_agent_go(struct spi_agent *agent);

/* spi_agent_stop() - instrument no more; payloads of calls under way are dropped. In a thread that may wait, never in a payload. */
int spi_agent_stop(struct spi_agent *agent);

/* spi_agent_error() - why the latest function of the agent failed; "" when none did. */
const char *spi_agent_error(const struct spi_agent *agent);

/* ---- which functions, and what runs beside the calls ---- */

/*
 * spi_agent_set_filter() - `filter` is asked of each function that a rule by name reaches, before its calls come to the
 * payloads. NULL: they come. "": they do not, as if the rule had not named the function. Another text, which lives for
 * ever: they do not, and the user is told the text as the reason. [configure]
 * The filter runs in a thread that may allocate memory, once each time that a rule comes into force. The functions of a
 * call tree are not asked for.
 */
typedef const char *spi_filter(struct spi_agent *agent, struct spi_function *function, void *data);
int spi_agent_set_filter(struct spi_agent *agent, spi_filter *filter, void *data);

/*
 * spi_agent_pause() - while `is_paused` is not 0, calls of the function that a rule by name reaches go past the agent's
 * payloads, for some 2 ns each. Exit payloads of calls under way still run. [any]
 * -ENOTSUP: the point is one of a call tree. -EBUSY: LTTng or another payload has the calls, too: they go on.
 */
int spi_agent_pause(struct spi_agent *agent, struct spi_point *point, int is_paused);

/*
 * spi_agent_set_flush() - what writes down what was gathered so far, while the process goes on, when it
 * gets `signal`. [configure]
 * It runs in a signal handler, and may do what a signal handler may. A
 * handler that the program has for the signal runs behind it; the signal's default action does not happen.
 * -EINVAL: no such signal, or one that the agent or the kernel keeps (KILL, STOP, SEGV, BUS, ILL, FPE, ABRT, TRAP).
 */
int spi_agent_set_flush(struct spi_agent *agent, void (*flush)(struct spi_agent *agent, void *data), void *data,
	int signal);

/*
 * spi_agent_set_again() - what runs when a rule names the payload once more, with other arguments, after the end
 * (spi_agent_set_fini()): spi_agent_argument() has the new ones, and what is [configure] may be called. [configure]
 * Returns 0, or a negative errno: the rule is refused, with spi_agent_error() as the reason. Without such a function a
 * payload file has the arguments that it was loaded with, for as long as the process lives.
 */
int spi_agent_set_again(struct spi_agent *agent, int (*again)(struct spi_agent *agent, void *data), void *data);

/* Where a thread was when a sample was due. */
struct spi_sample {
	uint64_t address;	/* of the instruction that is about to run */
	int32_t thread;		/* its id, as gettid() has it */
	uint32_t weight;	/* so many intervals have passed in the thread since its last sample; 1 as a rule */
	uint32_t is_tracing;	/* not 0: the thread was in a payload, or in other code that tracing has brought */
	uint32_t reserved;
};

/*
 * spi_agent_set_sampler() - `take` gets a sample of each thread of the program each `interval_us` microseconds of CPU
 * time (user and system) of that thread, from spi_agent_go(), or the first rule that names the payload, until the end.
 * [configure]
 * `take` runs in the thread, in a signal handler that blocks all signals, and may do what a signal handler may. Timers
 * and signals of the program's are left alone: a sample comes as a SIGTRAP, which the agent shares with the program.
 * -EINVAL: less than 100 us, or more than 10 s.
 */
typedef void spi_sampler(const struct spi_sample *sample, void *data);
int spi_agent_set_sampler(struct spi_agent *agent, uint32_t interval_us, spi_sampler *take, void *data);

/*
 * spi_agent_sampler_reason() - why no samples come, or not of all threads; NULL: they come. The text lives for ever.
 * [any]
 */
const char *spi_agent_sampler_reason(const struct spi_agent *agent);

/*
 * spi_clock_ns() - nanoseconds of CLOCK_MONOTONIC, without a system call where the machine has a clock for that.
 * [any]
 */
uint64_t spi_clock_ns(void);

/* ---- parameters and results by name and type ---- */

/*
 * A function's parameters as debug info has them, by number from 0 on: leftmost first, a struct as its members, which
 * are named PARAMETER_MEMBER. They are known of functions that rules name, not of those of a call tree. [any]
 */
size_t spi_function_parameter_count(const struct spi_function *function);	/* 0: none, or nothing is known */
const char *spi_function_parameter_name(const struct spi_function *function, size_t number);	/* "": there is none */
const char *spi_function_parameter_type(const struct spi_function *function, size_t number);	/* as C writes it */
/* The number of the parameter with this name; -ENOENT: there is none; -ENODATA: nothing is known of the function's. */
int spi_function_parameter_find(const struct spi_function *function, const char *name);
/* The type of the result; "": there is none, or nothing is known. */
const char *spi_function_result_type(const struct spi_function *function);

enum spi_scalar_kind {
	SPI_SCALAR_SIGNED = 1,
	SPI_SCALAR_UNSIGNED,	/* pointers, too */
	SPI_SCALAR_REAL,
};

struct spi_scalar {
	uint32_t kind;		/* enum spi_scalar_kind */
	uint32_t size;		/* bytes that it has in the program */
	int64_t integer;	/* extended to 64 bits by its kind; of a REAL: rounded towards zero */
	double real;		/* of a REAL; else 0 */
};

/*
 * spi_call_argument(), spi_call_argument_by_name() - in entry payloads: the value of a parameter. [payload]
 * spi_call_result() - in exit payloads: the result; without debug info the signed 64 bits that an integer is in.
 * [payload]
 * 0; -ENOENT: no such parameter, or no result; -ENODATA: it is not known where the value is, or nothing is known of the
 * function's; -ENOTSUP: it is no number and no pointer; -EFAULT: it is in memory that cannot be read; -EINVAL: at the
 * wrong end of the call.
 */
int spi_call_argument(const struct spi_call *call, size_t number, struct spi_scalar *value);
int spi_call_argument_by_name(const struct spi_call *call, const char *name, struct spi_scalar *value);
int spi_call_result(const struct spi_call *call, struct spi_scalar *value);

/* ---- events ---- */

/* An event belongs to the agent that it is given to. NULL: there is no memory. [configure] */
struct spi_event *spi_event_none(void);
/* Right away: main(), and all that main() calls; in a process that runs already, all that functions on the threads' stacks call. */
struct spi_event *spi_event_sync(void);
/* As spi_event_sync(), `milliseconds` later; or once the signal comes (0: no signal). */
struct spi_event *spi_event_async(int signal, uint32_t milliseconds);
/* Right away: these functions, and all that these functions call, by the functions' names or globs. */
struct spi_event *spi_event_functions(const char *const *names, size_t count);
/* Right away: all calls of these functions, whoever makes them, and no others. */
struct spi_event *spi_event_calls(const char *const *names, size_t count);
/* All of these. */
struct spi_event *spi_event_combined(struct spi_event *const *events, size_t count);
/* One of the user's own: spi_agent_go() calls `begin`, which calls spi_agent_begin() when the time has come, in any thread. */
struct spi_event *spi_event_custom(int (*begin)(struct spi_agent *agent, void *data), void *data);
/* What a custom event calls: the same as if `event` had been the agent's. Not in a payload. */
int spi_agent_begin(struct spi_agent *agent, struct spi_event *event);

/* ---- a call ---- */

enum spi_call_ending {
	SPI_CALL_RETURNED = 0,
	SPI_CALL_UNWOUND,	/* by an exception, or by pthread_exit() or pthread_cancel() */
	SPI_CALL_JUMPED,	/* by longjmp() */
	SPI_CALL_THREAD_ENDED,
	SPI_CALL_PROCESS_ENDED,
	SPI_CALL_FOLDED,	/* one of an endless chain of tail calls */
	SPI_CALL_DETACHED,	/* instrumentation ended */
};

/* All of them: [payload]. */
struct spi_point *spi_call_point(const struct spi_call *call);
struct spi_function *spi_call_callee(const struct spi_call *call);	/* NULL: nothing is known of the code that is called */
struct spi_function *spi_call_caller(const struct spi_call *call);	/* NULL: nothing is known of the code that calls */
uint64_t spi_call_return_address(const struct spi_call *call);
int spi_call_is_tail_call(const struct spi_call *call);
int spi_call_is_exit(const struct spi_call *call);			/* does the exit payload run? */
void *spi_call_user_data(const struct spi_call *call);			/* what the entry payload has returned */
enum spi_call_ending spi_call_ending(const struct spi_call *call);		/* in exit payloads */

/*
 * spi_call_return_value() - in exit payloads: the integer or pointer that the callee returns (psABI: rax).
 * 0 when the callee has not returned.
 */
uint64_t spi_call_return_value(const struct spi_call *call);
/* In exit payloads: where the float or double is that the callee returns (psABI: xmm0). NULL: no vector registers were saved. */
const void *spi_call_return_float(const struct spi_call *call);

/* How the psABI passes an argument (3.2.3, "Classification"). */
enum spi_argument_class {
	SPI_ARGUMENT_INTEGER,	/* integers and pointers up to 8 bytes; a C++ object that is not trivially copied: its address */
	SPI_ARGUMENT_FLOAT,	/* float, double, vectors */
	SPI_ARGUMENT_MEMORY,	/* long double, and structs larger than 16 bytes: on the stack */
	SPI_ARGUMENT_X87,	/* long double as a result */
};

/* Where the next argument is. Set to zero before the first. */
struct spi_arguments {
	uint32_t integers, floats;	/* registers that were popped */
	uint64_t stack;			/* bytes of the stack that were popped */
	uint64_t reserved[2];
};

/*
 * spi_call_pop() - in entry payloads: the next argument, leftmost first, of `size` bytes.
 * An argument of two eightbytes, each with a class of its own: spi_call_pop_copy(). SPI_ARGUMENT_MEMORY of 16 bytes is
 * aligned to 16, as long double is.
 * Returns a pointer to the value, which is valid until the payload returns; writing there changes what the callee gets.
 * NULL: the stack or the registers do not have it.
 */
void *spi_call_pop(struct spi_call *call, struct spi_arguments *arguments, enum spi_argument_class kind, size_t size);

/* spi_call_pop_argument() - spi_call_pop() of an integer or pointer; larger sizes are on the stack. */
void *spi_call_pop_argument(struct spi_call *call, struct spi_arguments *arguments, size_t size);

/*
 * spi_call_pop_copy() - in entry payloads: the next argument as a whole, copied to value[size]. So also a struct, an
 * __int128 or a complex number of two eightbytes, each by its class: in registers, or on the stack where too few
 * registers are left for both. `second` counts for sizes above 8 alone. `alignment` is that of the argument's type,
 * 16 for long double, __int128 and structs with these.
 * spi_call_return_copy() - in exit payloads: the result likewise; of SPI_ARGUMENT_MEMORY what the result's address
 * leads to, of SPI_ARGUMENT_X87 the 10 bytes of a long double.
 * 0; -EINVAL: the wrong end of the call, or no such size; -ENODATA: the call did not return, or its vector registers
 * were not saved, or it has no long double; -EFAULT: the memory cannot be read. [payload]
 */
int spi_call_pop_copy(struct spi_call *call, struct spi_arguments *arguments, enum spi_argument_class first,
	enum spi_argument_class second, size_t size, size_t alignment, void *value);
int spi_call_return_copy(const struct spi_call *call, enum spi_argument_class first, enum spi_argument_class second,
	size_t size, void *value);

/*
 * spi_call_propel() - in entry payloads of a call tree: instrument what the callee calls, before it runs.
 * 0; -ENOTSUP when the callee cannot be instrumented; -EAGAIN while another thread forks; -EINVAL where functions are instrumented by name and not a tree.
 * Payloads that never call it see the calls of the tree's root only. Where there is no entry payload all is propelled.
 */
int spi_call_propel(struct spi_call *call);

/*
 * spi_call_backtrace() - the callers' return addresses, innermost first. addresses[0] is where the call returns to
 * (spi_call_return_address()), and then come its callers'. Behind a signal handler come the address of the code that
 * ends it, and that of the instruction which the signal has interrupted. [payload]
 * Fills at most `room` addresses, the caller's memory. Returns how many: 0 for a call that does not return. Fewer than
 * `room` are all, or as many as .eh_frame and frame pointers lead to. Needs neither memory nor a lock.
 */
int spi_call_backtrace(const struct spi_call *call, uint64_t *addresses, size_t room);

/* ---- points, functions, objects ---- [any] */

uint64_t spi_point_address(const struct spi_point *point);		/* of the call instruction's end, or of the function; 0 for NULL */
struct spi_object *spi_point_object(const struct spi_point *point);
/* Why calls of the function are never instrumented; NULL: they are. */
const char *spi_function_reason(const struct spi_function *function);

/* The qualified name without parameters, the linkage name; "" when there is none. */
const char *spi_function_name(const struct spi_function *function);
const char *spi_function_mangled_name(const struct spi_function *function);
uint64_t spi_function_address(const struct spi_function *function);
uint64_t spi_function_size(const struct spi_function *function);	/* bytes; 0: not known */
struct spi_object *spi_function_object(const struct spi_function *function);

const char *spi_object_name(const struct spi_object *object);		/* the file's name, without directories */
const char *spi_object_path(const struct spi_object *object);
uint64_t spi_object_base(const struct spi_object *object);		/* what is added to addresses in the file */
struct spi_object *spi_object_executable(void);
/* Where the object's code is in the process: its executable segments, and what is between them. 0 or -ENOENT. */
int spi_object_text(const struct spi_object *object, uint64_t *low, uint64_t *high);

/* spi_function_at() - the function that has this address, in an object whose functions are known. NULL: none. [any] */
struct spi_function *spi_function_at(uint64_t address);

/* ---- the agent: what was configured, and how it came here ---- */

/* What spi_agent_set_*() and spi_agent_enable_*() have set, or what is set by default. */
struct spi_agent_configuration {
	size_t size;		/* sizeof(struct spi_agent_configuration), set by the caller */
	const char *name;	/* in messages */
	const char *path;	/* spi_agent_path() */
	uint32_t flags;		/* of struct spi_agent_options */
	uint32_t has_gone;	/* spi_agent_go() was called */
	spi_entry_payload *entry;	/* NULL: none */
	spi_exit_payload *exit;
	void *entry_data, *exit_data;
	struct spi_event *event;	/* NULL: the default */
	uint32_t is_parse_only, is_threads, is_dlopen, is_fork;
};

/* spi_agent_configuration() - fill *configuration, as much of it as configuration->size says. [any] */
int spi_agent_configuration(const struct spi_agent *agent, struct spi_agent_configuration *configuration);

/* spi_agent_path() - the full path of the file that has made the agent; "": not known. [any] */
const char *spi_agent_path(const struct spi_agent *agent);

/* spi_agent_is_injected() - 1: the agent was made in a process that ran already; 0: before main(). [any] */
int spi_agent_is_injected(const struct spi_agent *agent);

/*
 * spi_agent_call_stack() - the functions that were on the stacks of the process's threads as the agent went: those that
 * spi_event_sync() begins with in a process that runs already. [any]
 * The first `room` of them are put into `functions`. Returns how many there are. A word that an earlier call has left
 * on a stack may look like one of a call under way.
 */
long spi_agent_call_stack(const struct spi_agent *agent, struct spi_function **functions, size_t room);

/*
 * spi_agent_injection_frame() - where the thread stood that was made to load the agent's file: its instruction, stack
 * pointer and frame pointer. [any]
 * -ENODATA: the agent was not injected, or a thread of lttng-spi's has loaded the file (lttng trace -p).
 */
int spi_agent_injection_frame(const struct spi_agent *agent, uint64_t *pc, uint64_t *sp, uint64_t *fp);

#ifdef __cplusplus
}
#endif

#include "spi-code.h"
#include "spi-extend.h"	/* observers, propellers, workers, other processes */

#endif /* LTTNG_SPI_H */
