/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room payload: payloads of a user's own (include/lttng/spi.h), and how the calls of a point come to them.
 *
 * A client is a pair of such payloads, and stands beside the event module's recorder: a call that both want has a return
 * slot of each, the recorder's first. So the recorder's entry comes before the clients', and its exit after theirs;
 * clients run in the order of their numbers, and their exits in the opposite order.
 *
 * Threads: clients are made and named on the control side, or by a thread that may allocate memory. A call's way may run
 * in any thread and any state. A client is never freed.
 */
#ifndef SPI_PAYLOAD_ROOM_H
#define SPI_PAYLOAD_ROOM_H

#include <stddef.h>
#include <stdint.h>
#include "include/lttng/spi.h"
#include "liblttng-spi/arch/arch.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"

#define SPI_CLIENT_NAME_SIZE	64u	/* bytes, with NUL */
#define SPI_CLIENTS_MAX		8u	/* payloads in force at the same time */

#define SPI_CLIENT_RECORDS	(1u << 30)	/* in spi_client.flags: it has events of its own */

enum spi_client_state {
	SPI_CLIENT_ON,
	SPI_CLIENT_STOPPED,	/* no payload is called any more */
	SPI_CLIENT_FAILED,	/* likewise, and for ever */
};

struct spi_client {
	char name[SPI_CLIENT_NAME_SIZE];
	/* What a call looks at is one cache line. The first two are 0 of a client that is on and has no limit. */
	uint32_t state;			/* enum spi_client_state */
	uint32_t limit_us;		/* for one call of a payload; 0: none. limit.c */
	spi_entry_payload *entry;	/* NULL: none */
	spi_exit_payload *exit;
	void *entry_data, *exit_data;
	uint32_t flags;			/* enum spi_payload_flags */

	const char *file;		/* as the rule names it that has the file loaded; NULL: no rule does */
	const char *arguments;		/* NAME=VALUE, one a line; or NULL */
	char asked[200];		/* names of arguments that it has asked for, with commas between; */
	uint32_t asks_more;		/* and of others, for which there was no room */
	uint64_t device, inode, changed;	/* of the file; changed: ns */
	uint32_t is_old;		/* another file has taken its file's name: no rule names it any more */
	uint32_t number;		/* the place in spi_clients[] */
	uint32_t trees;			/* call trees that are for it */
	uint32_t rules;			/* in force that name it */
	void (*fini)(struct spi_client *client);	/* NULL: none */
	/* takes other arguments, or not: why[200]; NULL: never */
	int (*again)(struct spi_client *client, char *why);
	/* NULL: none. spi_clients_refuse() */
	const char *(*refuse)(struct spi_client *client, struct spi_point *point);
	void (*flush)(struct spi_client *client);	/* NULL: none; flush.c */
	int flush_signal;		/* 0: none */
	spi_sampler *sampler;		/* NULL: none; samples.c */
	void *sampler_data;
	uint32_t sample_us;
	void *owner;			/* the api's: its agent */
	const char *failure;		/* still to be told */
	spi_propeller *decide;		/* which call sites its trees take; NULL: all */
	void *decide_data;
	uint32_t left_out;		/* call sites of these kinds: 1 << enum spi_call_site_kind */
	spi_fault *fault;		/* faults come to it first; NULL: not. guard.c */
	void *fault_data;
	const struct spi_observer *observer;	/* NULL: none */
	uint32_t is_observing;
	uint32_t has_begun;		/* a rule that names it is in force, and its observer knows */
	uint32_t leaves_children;	/* its payloads do not run in a forked child */
	uint32_t follows;		/* its trees follow all kinds of channels: spi_agent_enable_ipc() */
	uint32_t is_at_exec;		/* it has ended for a program that is about to be executed */
	/* The api's, for the function at this address of an object that comes: 0: it is left alone. NULL: none is. */
	int (*watches)(struct spi_client *client, uint64_t function);
	struct spi_record *records;	/* its own events; records.c */
	uint64_t unsafe;		/* calls that it was not given, as their thread may have been within critical code (calls/calls.h) or the like */
};

/* What one point has for clients; made once, and never freed. */
struct spi_clients {
	struct spi_point point;		/* first; of their slots */
	/* of a function's point: the one client in force, where its calls go straight to it; NULL: they do not */
	struct spi_client *one;
	struct spi_point *of;		/* whose clients these are */
	uint64_t outside;		/* a caller outside of critical code: spi_client_caller_is_critical() */
	uint32_t may_be_critical;	/* critical code may make the point's calls (calls/calls.h) */
	struct spi_function *callee;	/* as the api has it; NULL: not asked for yet */
	uint32_t propelled;		/* trees whose sites in the callee are there, as asked for */
	uint32_t propelled_epoch;	/* while spi_tree_epoch is that */
	uint32_t in_force;		/* of a function's point: the clients, by their numbers' bits */
	uint32_t are_general;		/* likewise: all that have been in force do with general registers */
	uint16_t uses[SPI_CLIENTS_MAX];	/* of a function's point: rules in force, by client */
	struct spi_point *recorder;	/* of a function's point: the event module's, behind this one; NULL: none */
	int *gate;			/* of a function's point: its gate; NULL: the point is another's, or the object is gone */
	uint32_t is_paused;		/* of a function's point: its only client wants no calls now */
};

/* One call, while a payload runs. */
struct spi_call {
	struct spi_client *client;
	struct spi_point *point;
	struct spi_frame *frame;	/* NULL: the call did not return */
	const uint8_t *vectors;
	uint64_t stride;
	const struct spi_slot *slot;	/* has the return address and the user data; NULL: an entry payload runs */
	uint32_t trees;			/* of the client's, that the call is in; 0: the function was instrumented by name */
	enum spi_call_ending ending;
};

/* ---- failed.c ---- */
extern struct spi_client *spi_clients[SPI_CLIENTS_MAX] SPI_HIDDEN;	/* by number; NULL: none yet */
void spi_clients_tell(void) SPI_HIDDEN;		/* which have failed since */

/* ---- client.c ---- */
/* A client with this name: it takes a number. NULL: there are too many, or there is no memory. */
struct spi_client *spi_client_make(const char *name, uint32_t flags) SPI_HIDDEN;
/*
 * The client that a rule names: by the name of one that was made, or by the path of a payload file, which is loaded then.
 * Its number, or a negative errno and `why`. Control side, where the dynamic linker may be called.
 */
int spi_client_for(const char *name, const char *arguments, char *why, size_t size) SPI_HIDDEN;
struct spi_rule_names;
/* All that a rule names, as bits of their numbers. 0, or a negative errno and `why`. Control side, likewise. */
int spi_clients_named(const struct spi_rule_names *names, const struct spi_rule_names *arguments, uint32_t *which, char *why, size_t size)
	SPI_HIDDEN;
int spi_clients_have_flag(uint32_t which, uint32_t flag) SPI_HIDDEN;	/* one of them, of spi_agent_options.flags */
int spi_clients_ask(uint32_t which) SPI_HIDDEN;	/* does one of them say itself which callees to go into? */

/* No payload of theirs is called any more; what is to run at the end has run. Where payloads may run, busy or not. */
void spi_clients_end(uint32_t which) SPI_HIDDEN;
void spi_clients_process_end(void) SPI_HIDDEN;
/* The process is about to execute a program. And it could not. */
void spi_clients_program_begins(const char *path) SPI_HIDDEN;
void spi_clients_program_fails(void) SPI_HIDDEN;
/* One more, or one less, rule names them. With the last one they end; with the next one they begin again. Control side. */
void spi_clients_rule_begins(uint32_t which) SPI_HIDDEN;
void spi_clients_rule_ends(uint32_t which) SPI_HIDDEN;
void spi_clients_rule_fails(uint32_t which) SPI_HIDDEN;
void spi_clients_removal(void) SPI_HIDDEN;	/* the controller goes. Control side */
void spi_client_say(const char *line) SPI_HIDDEN;	/* a note, which the user sees also without a controller */
long spi_client_write(const char *text, size_t size) SPI_HIDDEN;	/* to the user; any thread */
void spi_client_tree_set(uint32_t tree, uint32_t which) SPI_HIDDEN;	/* the tree is for the clients with these numbers' bits */
uint32_t spi_clients_of_trees(uint32_t trees) SPI_HIDDEN;		/* which clients any of the trees is for */
int spi_clients_follow(uint32_t which) SPI_HIDDEN;		/* does one of them follow channels, whatever its rules say? */
/* By the tree's bit: the one client that it is for; NULL: none, or several. */
extern struct spi_client *spi_client_of_tree[32] SPI_HIDDEN;

/*
 * Rules by name: does one of the clients leave the point's function out? NULL: no; "": without a word; else the reason.
 * Control side.
 */
const char *spi_clients_refuse(struct spi_point *point, uint32_t which) SPI_HIDDEN;

/* ---- arguments.c ---- */
void spi_client_asks(struct spi_client *client, const char *name) SPI_HIDDEN;	/* while it is configured */
/* Which of these (NAME=VALUE, one a line) none of the clients has asked for is told to the user, once. */
void spi_arguments_tell(const char *arguments, uint32_t which) SPI_HIDDEN;

/* ---- records.c: events of their own. Control side ---- */
/* The module is there: these clients' events can be recorded from now on. 0, or a negative errno and `why`. */
int spi_clients_records_ready(uint32_t which, char *why, size_t size) SPI_HIDDEN;

/* ---- samples.c ---- */
/* The control thread, under the control lock: new threads are looked for. In how many ms that is due; -1: never. */
int64_t spi_samples_wait(void) SPI_HIDDEN;
void spi_samples_step(void) SPI_HIDDEN;
void spi_samples_thread_found(void) SPI_HIDDEN;	/* participant */
void spi_samples_fork_child(void) SPI_HIDDEN;	/* participant */
void spi_samples_fork_left(void) SPI_HIDDEN;	/* participant */
/* Why there are none, or not all. Any thread. */
const char *spi_samples_reason(const struct spi_client *client) SPI_HIDDEN;
/* ---- observer.c: what struct spi_observer is told of, when base/participants.h says ---- */
/*
 * Code of the client's that is no payload of a call: function(first, second), in any thread and state. What it returns;
 * 0: it did not, or the client has failed.
 */
uint64_t spi_client_run(struct spi_client *client, void *function, void *first, void *second) SPI_HIDDEN;
/* The same where that is often: in a thread of the program's no system call is made, and a fault whose signal the thread blocks is its end. */
uint64_t spi_client_run_often(struct spi_client *client, void *function, void *first, void *second) SPI_HIDDEN;
void spi_observe_begin(struct spi_client *client) SPI_HIDDEN;	/* control side */
void spi_observe_rule(uint32_t which) SPI_HIDDEN;		/* one that names these clients is in force. Control side */
void spi_observe_child(int32_t child) SPI_HIDDEN;
void spi_observe_program(const char *path) SPI_HIDDEN;
void spi_observe_signal(int number, int is_fatal, const void *info) SPI_HIDDEN;
void spi_observe_end(void) SPI_HIDDEN;
void spi_observe_detach(struct spi_client *client) SPI_HIDDEN;	/* the tracer leaves, for this client */
void spi_observe_removal(void) SPI_HIDDEN;	/* the controller has left. Control side */
void spi_observe_objects(void) SPI_HIDDEN;
/* A tree for these clients is about to go into an object: is this function of it left alone? Control side. */
int spi_clients_leave(uint32_t which, uint64_t function) SPI_HIDDEN;
int spi_clients_watch(uint32_t which) SPI_HIDDEN;		/* does one of them want to be asked that? */

/* ---- propeller.c: under the patch lock, but for the first and the last ---- */
/* is the calling thread in code of a user's own that runs under the patch lock? */
int spi_clients_hold_patch(void) SPI_HIDDEN;
uint64_t spi_client_run_locked(struct spi_client *client, void *function, void *first, void *second) SPI_HIDDEN;
/* Those of `trees` that take the site. */
uint32_t spi_clients_decide(uint32_t trees, const struct spi_call_site *site) SPI_HIDDEN;
/* Until the next call these trees take only sites with these addresses. 0: none does. */
void spi_clients_choose(uint32_t trees, const uint64_t *addresses, size_t count) SPI_HIDDEN;
/* does one of them decide, or leave kinds out? Control side */
int spi_clients_have_decision(uint32_t which) SPI_HIDDEN;

/* ---- limit.c ---- */
void spi_limit_begin(struct spi_client *client) SPI_HIDDEN;	/* control side: from now on its calls are looked at */
void spi_limit_fork_child(void) SPI_HIDDEN;
void spi_limit_here(void) SPI_HIDDEN;	/* in a call that is outside of malloc(): there is a thread that looks */
void spi_clients_fork_child(void) SPI_HIDDEN;	/* client.c */
void spi_limit_child_begins(void) SPI_HIDDEN;

/* ---- guard.c ---- */
/* control side: faults come to the clients' spi_fault first. 0, or -EPERM and *why */
int spi_clients_take_faults(const char **why) SPI_HIDDEN;

/* ---- file.c ---- */
/* What the payload file that is being loaded has made; and that an agent asks for. Under the control lock. */
extern struct spi_client *spi_client_loading SPI_HIDDEN;
extern const char *spi_client_loading_arguments SPI_HIDDEN;	/* NULL: no file is being loaded by a rule */
extern char spi_client_loading_why[200] SPI_HIDDEN;	/* why its agent could not be made */

/* ---- arch/<cpu>/payload/call.S ---- */
/* A call of a point for one client. Returns the code of the slot that it has; 0: none. */
uint64_t spi_client_call_fast(struct spi_point *point, struct spi_frame *frame, const uint8_t *vectors, uint64_t stride,
	struct spi_client *client, uint32_t trees) SPI_HIDDEN;
/* spi_entry_fn of a function's point */
uint64_t spi_clients_entry_fast(struct spi_point *point, struct spi_frame *frame, const uint8_t *vectors,
	uint64_t stride) SPI_HIDDEN;

/* ---- call.c ---- */
/*
 * The clients of `which`, by their numbers' bits, get a call of the point; `trees`: of a call tree. `code` is what the
 * recorder has answered. Returns what the thunk is to be answered.
 */
uint64_t spi_clients_call(struct spi_point *point, uint32_t which, uint32_t trees, uint64_t code, struct spi_frame *frame,
	const uint8_t *vectors, uint64_t stride) SPI_HIDDEN;
/* Exits of calls that longjmp() has left come to the clients: the call with the return address at p comes next. */
void spi_clients_end_left(struct spi_point *point, uint64_t p) SPI_HIDDEN;
/* A call tree's entry point was entered, with the return address at p: by a signal's handler? */
void spi_clients_handler(uint64_t p) SPI_HIDDEN;
/* The point has what clients need. 0 or -ENOMEM. Under the patch lock, or where nobody else has the point. */
int spi_clients_have(struct spi_point *point) SPI_HIDDEN;
/*
 * The client's function is called with `data`, as an entry payload is, for a call with the return address at p. 0;
 * -EAGAIN: no payload of the client's may run here now, which counts as a call that the client was not given;
 * -ENOENT: no payload of it runs any more.
 */
int spi_client_ask(struct spi_client *client, uint64_t p, void *function, void *data) SPI_HIDDEN;
/* Do all of them do with general registers? */
int spi_clients_are_general(uint32_t which) SPI_HIDDEN;

/* ---- function-point.c: control side ---- */
/* `which`: the client that wants no calls for a while. 0, or a negative errno: they go on. Any thread */
int spi_clients_point_pause(struct spi_point *point, uint32_t which, int is_paused) SPI_HIDDEN;
int spi_clients_point_make(struct spi_point *point) SPI_HIDDEN;	/* before the point's jump is there. 0 or -ENOMEM */
/* One more, or one less, rule has these clients get the function's calls. */
void spi_clients_point_use(struct spi_point *point, uint32_t which) SPI_HIDDEN;
/* The event module's point gets the calls, too; NULL: no longer. */
void spi_clients_point_record(struct spi_point *point, struct spi_point *recorder) SPI_HIDDEN;
void spi_clients_point_forget(struct spi_point *point) SPI_HIDDEN;	/* its object was unloaded */
void spi_clients_point_leave(struct spi_point *point, uint32_t which) SPI_HIDDEN;

SPI_INLINE int spi_is_exit(const struct spi_call *call)
{
	return call->slot != NULL;
}

/* The return address, or that of a slot which stands in its place. */
SPI_INLINE uint64_t spi_call_returns_to(const struct spi_call *call)
{
	return call->slot ? call->slot->ra : call->frame->ra;
}

/* Is it a client's slot? */
SPI_INLINE int spi_slot_is_clients(const struct spi_slot *slot)
{
	return slot->aux == SPI_SLOT_APART && slot->start;
}

/*
 * Before anything else is done for the call whose return address is at p: a slot of the recorder's for this very call,
 * which the return address does not lead to yet, would look like one of a call that was left.
 */
SPI_INLINE void spi_clients_before(struct spi_point *point, uint64_t p)
{
	const struct spi_thread *t = &spi_thread;

	if (spi_unlikely(t->cur && t->cur > t->base && t->cur[-1].p <= p && !spi_slot_is_chained(t->cur - 1, p)))
		spi_clients_end_left(point, p);
}

#endif /* SPI_PAYLOAD_ROOM_H */
