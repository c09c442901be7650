/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the files of the agent's core share: one prototype list a file, in the
 * order in which they build on each other. Everything here is hidden outside the
 * library but what calls/point.h declares for payload modules.
 *
 * Threads. The "control side" (rules, maps, patching, loading the payload
 * module) is one thread at a time under spi_control_lock: the thread that runs
 * the constructor before main(), afterwards the control thread. The "call side"
 * (calls/threads.c, unwind/unwind.c, thunks) is every thread of the program, in any state.
 */
#ifndef SPI_CORE_H
#define SPI_CORE_H

#include <stdarg.h>
#include <stdint.h>
#include "liblttng-spi/base/agent-proto.h"
#include "liblttng-spi/base/control-lock.h"
#include "liblttng-spi/base/lend.h"
#include "liblttng-spi/base/mode.h"
#include "liblttng-spi/base/participants.h"
#include "liblttng-spi/base/trees.h"
#include "liblttng-spi/base/wakeup.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/base/payload.h"
#include "liblttng-spi/calls/point.h"
#include "rules/rule.h"

/* ---- sys.c: system calls that leave errno alone; small string work without libc state ---- */
long spi_sys(long number, ...);			/* up to 6 arguments; -errno on failure */
uint64_t spi_now_ns(void);			/* CLOCK_MONOTONIC */
uint64_t spi_parse_number(const char *s, const char **end);
/* Around what opens files in a thread of ours: it gets no number that the program may count on (low-fds.c). Control lock. */
void spi_low_fds_hold(void);
void spi_low_fds_release(void);
void spi_low_fds_keep(void);		/* from now on until keep_end(); both may come twice */
void spi_low_fds_keep_end(void);
void spi_low_fds_wait(void);		/* who holds them waits for his controller */
void spi_low_fds_wait_end(void);
int spi_low_fds_are_held(void);
int spi_low_fds_are_kept(void);
void spi_low_fds_fork_child(void);
long spi_fd_table_size(void);		/* how many descriptors this process has a table for; 0: unknown */
void spi_fd_table_size_keep(int is_kept);	/* once read it is kept, for spi_fd_high() to take no time; or no more */
int spi_fd_high(int fd);			/* move a descriptor out of the program's usual range; closes fd */
void spi_child_signals_block(uint64_t *old);	/* around a child process of our own, before main() */
void spi_child_signals_restore(const uint64_t *old);
void *spi_map_pages(size_t size);		/* anonymous, zeroed; NULL when there are none */

/* ---- proc.c: this process in /proc ---- */
#define SPI_PROC_PATH	64
const char *spi_proc_path(char path[SPI_PROC_PATH], const char *name);	/* of a file in its directory, also when its first thread has ended */
int spi_proc_text(const char *path, char *text, size_t size);	/* its beginning, ended by 0; -1: none */
int spi_path_is_descriptor(const char *path);	/* what was loaded by its descriptor: the tracer's own in another root */

uint64_t spi_process_start_time(void);	/* in clock ticks since boot: proc(5), stat, field 22; 0: not known */

/* ---- env.c: the one table of environment variables ---- */
struct spi_env {
	const char *socket;		/* LTTNG_SPI_SOCKET: the controller's socket */
	const char *rules;		/* LTTNG_SPI_RULES: rules when there is no controller */
	const char *follow;		/* LTTNG_SPI_FOLLOW: the trees that came here from who executed this program */
	const char *tp;			/* LTTNG_SPI_TP: the event module's path */
	const char *codemap;		/* LTTNG_SPI_CODEMAP: spi-codemap's path */
	const char *debug;		/* LTTNG_SPI_DEBUG: file that notes are appended to */
	const char *string_max;		/* LTTNG_SPI_STRING_MAX: bytes kept of a string */
	const char *register_ms;	/* LTTNG_UST_REGISTER_TIMEOUT: lttng-ust waits so long for the session daemon, -1: for ever */
	const char *test_worker;	/* LTTNG_SPI_TEST_WORKER: the only way to redirect the calls of a tree */
	const char *test_steps;		/* LTTNG_SPI_TEST_STEPS: a program that steps sees our code's steps, too */
	const char *test_no_tsc;	/* LTTNG_SPI_TEST_NO_TSC: clocks are read as on a machine whose clock is not the TSC */
	const char *home, *cache_home, *cache;	/* HOME, XDG_CACHE_HOME, LTTNG_SPI_CACHE (may be ""): where spi-codemap keeps maps */
	const char *agent;		/* LD_PRELOAD's word for this library */
	int preloaded;			/* LD_PRELOAD names this library */
};
extern struct spi_env spi_env;
void spi_env_read(char **envp);
uint32_t spi_env_string_max(void);	/* 0: none is given */
void spi_env_clean(char **envp);	/* give the program the environment that it would have had */

/* ---- log.c ---- */
void spi_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern void (*spi_note_sink)(const char *line, size_t size);	/* where notes go beside the debug file; NULL: nowhere */
/* snprintf for the little that is needed: %s %d %u %lx %lu %c %%; no locale, no malloc */
int spi_format(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int spi_vformat(char *buffer, size_t size, const char *format, va_list args);

/* ---- status.c ---- */
extern struct spi_status_page *spi_status;
int spi_status_init(void);
int spi_status_fd(void);			/* a new descriptor of the memory's memfd; -errno */
int spi_status_record_get(struct spi_thread_own *own);	/* a record for own->record; signals blocked. -1: no memory */
int spi_status_child_thread(struct spi_thread *t);	/* the same for the thread that has forked, in the child that begins */
void spi_status_fold(struct spi_thread_own *own);	/* into the page, if the record lies outside of the status memory */
void spi_status_fold_all(void);
void spi_status_fork_child(void);	/* every record is the parent's; the calling thread gets another */

/* ---- module/floor.c ---- */

/* Who takes WELCOME or loads the payload: the control thread, or before there are other threads. */
void spi_floor_take(int fd);		/* what WELCOME brought, or -1; closes it */
void spi_floor_tell(void);		/* to the payload, if there are both */

/* ---- process/last-thread.c: the end of a process whose first thread has ended ---- */
extern int spi_last_thread_ended;
void spi_last_thread_init(void);
void spi_last_thread_look(void);		/* from any thread */
void spi_last_thread_fork_child(void);
void spi_last_thread_watch(void);		/* whatever way the first thread will end */
void spi_last_thread_first_ended(void);		/* it may have, without libc */
int spi_last_thread_is_one(void);		/* the program has no thread but the calling one */

/* ---- calls/threads.c ---- */
int spi_threads_init(void);
/* May a forked child that waits be begun by the call at stack position p? Signals are held. Set by process/child.c; NULL: there are no such children. */
extern int (*spi_child_first_call)(struct spi_thread *t, uint64_t p);
/* On a thread that libc made for us, with its start routine: what libc's descriptor of a thread says and where. */
void spi_threads_learn(void *(*start)(void *));

struct spi_thread_own *spi_threads_first(void);	/* base/thread.c */
struct spi_thread_own *spi_thread_own_get(void);	/* one that no living thread has; NULL: no memory */
void spi_threads_fork_child(void);
/* For unwind/unwind.c: the call whose frame is left, by the stack (0: that does not tell), or the one that the unwinder names. calls/slots.c */
int spi_thread_unwound(uint64_t sp);
void spi_slot_unwound(struct spi_slot *slot);
void *spi_find_in_libc(const char *name);	/* libc's own, whoever else has one; NULL: none. Any thread. objects/symbols.c */
/* What the object around an address defines by this name. objects/symbols.c */
void *spi_symbol_beside(const char *name, uint64_t address);
/* Functions that the object exports; control side. */
int spi_symbol_is_shadowed(const char *name);		/* another library than libc and the tracer's defines it, too */
struct dl_phdr_info;
int spi_object_defines(const struct dl_phdr_info *info, const char *name);
int spi_program_loads(void);	/* does anything but libc ask for dlopen()? */
void spi_unwind_init(void);			/* before the first slot is used; unwind/unwind.c */
void spi_unwind_look(const struct dl_phdr_info *info);	/* an object that was not known; unwind/unwind.c */
extern int spi_unwind_exact SPI_HIDDEN;	/* unwinders see the address behind a slot as it is, not one less */
void spi_slot_left(struct spi_thread *t, struct spi_slot *slot, enum spi_left how);
void spi_thread_thunks(struct spi_point *point, int uses_ymm, int uses_zmm);	/* after spi_threads_init() */
/* Then: its payload knows SPI_ANSWER_FULL and struct spi_words. What it is in words.S, where that has something for it: */
enum spi_words_thunk {
	SPI_WORDS_NO,
	SPI_WORDS_ONE,		/* a site whose callee is always the same */
	SPI_WORDS_ANY,		/* a site with changing callees, none of it mixed (tree/tree.h) */
};
void spi_thread_thunks_words(struct spi_point *point, enum spi_words_thunk which);

/* ---- objects/objects.c ---- */
/* The object's file, whatever the name that it has by now. */
const char *spi_object_file(const struct spi_object *object, char room[SPI_PROC_PATH]);
struct spi_object *spi_objects_scan(void);	/* refresh the list of loaded objects; first one is the executable */
struct spi_object *spi_objects_list(void);	/* as the latest scan left it; unloaded ones stay in it */
extern uint64_t spi_objects_unloads;		/* how often the process has unloaded one, at the latest scan */
extern uint64_t spi_objects_scans;		/* there were so many */
struct dl_phdr_info;
uint64_t spi_objects_unloads_of(const struct dl_phdr_info *info, size_t size);
extern int spi_leaks_are_checked;		/* LeakSanitizer is there. objects/phdr.c */
int spi_object_is_sanitizer(const struct spi_object *object);	/* the runtime of one, as a library */
int spi_object_is_own(const struct spi_object *object);	/* the agent, lttng-ust, ld.so...: never instrumented */

/* ---- rules/rule.c: which objects a rule means ---- */
int spi_rule_covers(const struct spi_rule *rule, const struct spi_object *object);

/* ---- objects/map-read.c ---- */
struct spi_link;
int spi_map_fetch(struct spi_link *link, struct spi_object *object, const char *patterns, uint32_t limit, struct spi_map *map,
	char *error, size_t error_size);
void spi_map_turn_ends(void);	/* no rule is left that was sent together with the last one */
/* The whole object's, for call trees. */
int spi_map_fetch_tree(struct spi_link *link, struct spi_object *object, struct spi_map *map, char *error, size_t error_size);
void spi_map_note(const struct spi_map *map);		/* it is good: what it says of the whole process */
void spi_map_release(struct spi_map *map);
int64_t spi_map_func_at(const struct spi_map *map, uint64_t vaddr);	/* the function that begins there; -1: none */

/* ---- objects/map-cache.c ---- */
/* A tree's map from spi-codemap's cache. 0, or -ENOENT: ask spi-codemap. */
int spi_map_from_cache(const struct spi_object *object, struct spi_map *map);
int spi_map_func_is_good(const struct spi_map *map, uint64_t index);	/* what its record leads to may be followed */

/* ---- module/module.c: the event module ---- */
extern const struct spi_payload_ops *spi_payload;	/* base/payload.c; NULL: it is not loaded */
extern struct spi_core_ops spi_core_ops;	/* what it may call; what rooms above module/module.c offer, control/participants.c sets */
extern uint32_t spi_string_max;			/* bytes kept of a string; 0: the module's default */
int spi_module_is_run(void);
void spi_module_run(uint32_t run);		/* the run that this process belongs to, as WELCOME says */
int spi_proc_name(char name[16]);		/* the process's; 0 or -1 */
int spi_module_load(struct spi_link *link, char *error, size_t error_size);
void spi_tracer_code_find(void);	/* threads that start in the code of ours that is there now are the tracer's */

/* ---- rules/tags.c ---- */
/* One more, or one less, rule with this tag asks for each of these points. */
void spi_tags_change(struct spi_point **points, uint32_t count, const char *tag, int add);
void spi_tags_clear(struct spi_point *point);		/* a point that no rule uses */
const char *spi_tree_tags(uint32_t trees);	/* for a call that these trees record; any thread. tree/told.c */

/* ---- rules/instrument.c ---- */
struct spi_rule_result {
	uint32_t matched, instrumented, declined, flags;	/* SPI_DONE_* */
	int status;
	char text[512];
};
void spi_rule_add(struct spi_link *link, uint32_t id, uint32_t flags, const char *text, struct spi_rule_result *result);
void spi_rule_set(uint32_t id, int enabled, struct spi_rule_result *result);
void spi_rule_remove(uint32_t id, struct spi_rule_result *result);
void spi_rules_keep(const struct spi_msg_rule_kept *kept, uint32_t n, int is_last);	/* the others are removed with the last */
void spi_rules_remove_all(void);
/*
 * Calls of functions that rules name come to be recorded also while LTTng has none of their events enabled: it disables all events of a child
 * until it is registered anew, and calls that come meanwhile wait for that.
 */
void spi_rules_open(void);
void spi_rules_close(void);
int spi_rules_may_gain(void);		/* may a library that is loaded have something that a rule names? */

/* ---- control/: the agent's end of the conversation ---- */
int spi_link_open(struct spi_link *link, int fd, uint32_t hello_flags);
int spi_link_serve_until_go(struct spi_link *link);
int spi_link_serve_thread(struct spi_link *link);	/* start the control thread; it owns link from then on */
int spi_attach_thread(int fd, int is_waited);	/* the same for an injected agent: HELLO is said on the new thread; does the program wait? */
void spi_link_wait(void);	/* until then */
void spi_link_goes(void);	/* rules are what they are to be: the program goes on */
int spi_attach_child(int fd, int how);	/* SPI_LINK_CHILD*: the same in a forked child that begins; fd -1: it finds its controller itself, if it had one */

/* ---- process/child.c: a forked child, until it begins ---- */
/* Set as the agent begins: to start a control thread (spi_attach_child()); may a library that is loaded have something that a rule names? */
extern int (*spi_child_thread)(int fd, int how);
extern int (*spi_child_rules_may_gain)(void);
void spi_child_forked(int had_link, const char *socket);	/* in the child, within fork() */
int spi_child_begin(int fd);		/* any thread that may allocate; fd: as for spi_attach_child(). 0 or a negative errno */
int spi_child_end(void);		/* the process ends: 1: it has not begun, and does not any more */
int spi_child_begin_now(void);		/* in the calling thread, of the program's: process/single.c. 1: it has begun */
int spi_child_confined(void);		/* a sandbox comes: 1: it had not begun, and does not any more; its calls make no system calls */
int spi_child_loads(void);		/* a library was loaded: 1: the child begins, and looks for itself when it has */
void spi_child_sockets_look(void);	/* process/child-sockets.c: before the fork */
void spi_child_sockets_drop(void);	/* in the child */
/* On its control thread: */
int spi_child_later(void);		/* when a moment is over. 0: the child begins here; negative: it does not, or somebody else is at it */
int spi_child_connection(int may_wait);	/* to its parent's controller. -1: there is none, or it takes none at once; -EPIPE: the trace is over */
void spi_child_is_late(void);
void spi_child_begins(int by_caller);	/* 1: waits until the caller has done so */
void spi_child_go(void);		/* it records from now on */
int spi_child_has_loads(void);		/* once */
void spi_link_fork_child(void);

/* ---- process/descriptors.c: close() and its like for a preloaded program ---- */
void spi_descriptor_close(int fd);	/* unless it is lttng-ust's */
/* process/close-late.c */
int spi_close_begin(void);	/* signals are held. 0: spi_close_end() follows; -1: a fork takes long */
void spi_close_end(void);
int spi_close_note(int fd);	/* for who cannot close it now. 0, or -EBADF */
void spi_close_noted(void);	/* unless a fork is under way, which does that when it is over */
extern uint32_t spi_closes_noted;
void spi_close_fork_begin(void);
void spi_close_fork_end(int is_child);
/* calls/first-call.c: is what has called an agent's function, whose frame __builtin_frame_address(0) is, malloc(), or a handler within it? */
int spi_is_in_malloc(const uint64_t *frame);
int spi_first_close_is_in_malloc(const uint64_t *frame);	/* the same, where that matters */
/* Who is asked before a number is closed: what lttng-ust's tracker has for it. NULL changes nothing. */
void spi_descriptors_guard(int (*close_fd)(int fd, int (*real_close)(int fd)));
/* A rule traces the function at this address. NULL: it may; else why the program's calls never come to it. Control side. */
const char *spi_descriptors_trace(uint64_t address);
void spi_descriptors_copy_child(void);	/* in a child on a copy of the memory, over whose making nobody held locks */
/* ---- signals/tracer-signal.c: something done in the tracer's threads, one at a time ---- */
#define SPI_TRACER_THREADS	16u
int spi_tracer_ask(const int32_t *tids, unsigned int n, void (*what)(void));	/* raw system calls only. 0 or -1 */
int spi_tracer_wait(unsigned int tenths_ms);	/* 0: all have done it; -1: some have not yet, and will */
void spi_tracer_done(void);			/* where they end by it: all have */

/* ---- process/tasks.c: the tracer's threads are not in what a program sees of /proc/self/task ---- */
int spi_task_is_hidden(int directory, const char *name);	/* an entry of any directory */

/* ---- process/rights.c: setuid() and the like, for a preloaded program, and for the others from then on ---- */
void spi_rights_fork_child(void);
void spi_altstack_fork_child(void);

/* ---- process/exec-watch.c: programs that this one executes. Control side ---- */
extern uint32_t spi_tree_execs;			/* trees that follow executed programs */
void spi_exec_start(struct spi_link *link);
void spi_exec_stop(void);
void spi_exec_start_always(struct spi_link *link);	/* follow them whatever the rules say */
void spi_exec_stop_always(void);
void spi_exec_tell_held(void);			/* under the control lock */
void spi_exec_tell(void);			/* which could not be followed, to the controller; any thread */
void spi_exec_fork_child(void);
/* ---- limits.c ---- */
/* What a resource limit leaves too little of for the tracer in a child (0) or in a program that is executed (1). NULL: nothing. Anywhere. */
const char *spi_limits_because(int is_program);
const char *spi_files_because(void);	/* of these, of open files */
int spi_processes_are_few(void);	/* 0: their limit may be near, or cannot be told */
/* ---- process/clones.c ---- */
void spi_give_up(const char *reason);	/* a thread of the program, which may wait; `reason` stays */
void spi_give_up_take(void);		/* control side, when one comes */

/* ---- dispositions/actions.c ---- */
struct spi_sigaction;
/* The program's action, where `handler` is another room's in its place; else NULL. Set by that room, once; NULL: there is none. */
extern const struct spi_sigaction *(*spi_signal_hidden)(int number, uint64_t handler);

void spi_own_exit(int status) SPI_HIDDEN __attribute__((noreturn));
/* ---- objects/phdr.c: over fork(), with signals blocked ---- */
void spi_phdr_lock_fork(void);		/* not for ever: spi_phdr_inside() */
void spi_phdr_unlock_fork(void);
void spi_phdr_fork_child(void);		/* before it is given back there */
struct dl_phdr_info;
int spi_phdr_inside(void);		/* is somebody in there whom a fork did not wait for, or the other way round? In its child: when it was made */

/* ---- process/fork.c ---- */
int spi_fork_init(void);
struct spi_fork_handlers {
	void (*before)(void), (*in_parent)(void), (*in_child)(void);
	void (*last_before)(void), (*last_parent)(void), (*last_child)(void);	/* as they were registered, a moment ago */
};
void spi_fork_come_first(const struct spi_fork_handlers *ours);	/* process/fork-order.c */
int spi_fork_is_first(void);
void spi_fork_before(void);			/* its handlers, for who ends the other threads and goes on as a child would: */
void spi_fork_after(int is_single);		/* 0: they did not end */

/* ---- unwind/backtrace.c ---- */
void spi_backtrace_init(void);		/* after spi_hooks_begin() */

/* ---- control/init.c ---- */
void spi_control_fork_child(void);
void spi_participants_begin(void);
void spi_agent_end(void);			/* the process ends: once, from whichever destructor or _exit() comes first */

/* ---- tree/functions.c: what the trace is told of functions ---- */
struct spi_function;
int spi_function_of(const struct spi_point *point, struct spi_function *function);
void spi_functions_ask(void);
void spi_functions_say(void);		/* what was asked for; under the control lock */
void spi_functions_fork_child(void);

#endif /* SPI_CORE_H */
