/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Messages between processes, from spi_ipc:*: which receive got the bytes of which send. events.c reads the events,
 * match.c finds the ends of messages, edges.c and chains.c count them: which process sent to which, and what was sent
 * because of what.
 *
 * Nothing is guessed. A send is one message. Where several receives may have had its bytes, or several sends may be
 * what a receive returned, the message keeps all of these as candidates.
 */
#ifndef SPI_READER_FLOW_H
#define SPI_READER_FLOW_H

#include "reader/base/times.h"
#include "reader/calls/calls.h"
#include "reader/views/views.h"

enum flow_way { FLOW_SEND, FLOW_RECEIVE };

/* One direction of a pipe or connection. */
struct flow_channel {
	struct spi_hash_link link;	/* by id and host */
	struct flow_channel *next;
	uint64_t id, host;		/* host: 0: the id is one everywhere */
	uint64_t met_on;		/* the host that has told of it first */
	uint64_t inodes[2];		/* of the ends, by enum flow_way; 0: not known */
	char *kind, *from, *to;		/* "": not known; none has control characters */
	struct flow_stream *stream;	/* NULL: it has no bytes in order yet */
	struct flow_use *uses;		/* edges that have its messages */
	uint64_t calls, answers;	/* messages that were one or the other */
};

/* One send or receive. */
struct flow_op {
	struct flow_op *next;		/* in the queue of chains.c, later ones; or free */
	struct flow_op *before;
	struct call_thread *thread;
	struct flow_channel *channel;
	int64_t begin, end;		/* ns from origin */
	uint64_t position, units;	/* units: of the position; 1 of a datagram, else the bytes */
	uint64_t low, high;		/* where the bytes may be: all within */
	uint64_t bytes;
	struct flow_op *last;		/* of a send: the receive that has its last byte */
	struct flow_op *completes, *complete_next;	/* of a receive: sends whose last byte it has; of these, the next */
	struct flow_span *span;		/* of a send: what it is a consequence of */
	uint32_t refs, parts;		/* parts: of a send, receives */
	uint8_t is_send, is_past;	/* is_past: chains.c is done with it */
	uint8_t is_unclear;		/* a receive that may have bytes of several sends, and it is not known which */
	uint8_t flags;
};

/* A call that is known to a thread, or to another span. */
struct flow_span {
	struct flow_span *parent;
	struct flow_node *node;
	const struct call_process *client, *server;
	const struct call_thread *at;	/* of the server: that got the call */
	const struct flow_channel *channel;
	int64_t begin;
	uint32_t refs, depth;
	int is_answered;
};

/* A message of which all is known that there will be. */
struct flow_message {
	const struct flow_op *send;
	const struct flow_op *receive;	/* that has its last byte; NULL: one of candidates */
	struct flow_op *const *candidates;
	uint32_t candidate_count;
	const struct call_process *to;	/* NULL: the candidates are of several */
	int64_t latency, queue;		/* ns; of a receive that is known */
};

struct flow_edge {
	struct spi_hash_link link;
	const struct call_process *from, *to;
	char *kind, *from_text, *to_text;	/* ends; with '*' for what differs between its channels */
	char *key;
	uint64_t channels, messages, bytes;
	uint64_t unsure;		/* of the messages: it is not known which receive, so there is no latency */
	uint64_t ambiguous;		/* not among them: this process or another one */
	uint64_t late;			/* went out before the peer recorded */
	struct times latency, queue;
};

/* Who called whom, because of what: a tree, of processes by name. */
struct flow_node {
	struct spi_hash_link link;
	struct flow_node *parent, *child, *next;	/* next: of the same parent */
	const char *from, *to, *kind;
	int64_t from_pid, to_pid;	/* -1: several */
	uint64_t calls, messages, bytes, answers, answer_bytes;
	struct times times;		/* from the request to its answer */
	uint32_t depth;
	uint8_t shown;			/* 1: by itself or below such a one; 2: above one */
};

/* By number of struct call_process. */
struct flow_process {
	uint64_t host;			/* 0: not asked for yet */
};

struct flow_peer {
	struct flow_peer *next;
	const struct call_thread *by;
	const struct flow_channel *channel;	/* at the end */
	uint64_t id;			/* of the channel, which is told of later */
	int64_t ns, pid;
	int status;
	uint64_t took;
	char *name, *reason;
};

/* What is missing or not sure, each a line of the summary. */
enum flow_count {
	COUNT_SENDS, COUNT_RECEIVES,	/* events */
	COUNT_MESSAGES,			/* whose receive is known, or at least the process */
	COUNT_UNSURE,			/* of them: one of several receives of one process */
	COUNT_AMBIGUOUS,		/* several processes may have received it */
	COUNT_UNRECEIVED, COUNT_UNRECEIVED_BYTES, COUNT_UNSENT, COUNT_UNSENT_BYTES,
	COUNT_UNKNOWN_SENDS, COUNT_UNKNOWN_RECEIVES, COUNT_CUT, COUNT_LATE, COUNT_REUSED, COUNT_NEGATIVE,
	COUNT_OVERTAKEN,		/* operations that began before others which were matched already */
	COUNT_DROPPED,			/* waited while too many did */
	COUNT_PEERS_MORE, COUNT_CHAIN_UNCLEAR, COUNT_CHAIN_UNKNOWN, COUNT_CHAIN_DEEP,
	COUNT_LOST,			/* events that LTTng discarded; UINT64_MAX: nobody knows how many */
	COUNTS
};

struct flow {
	struct calls *calls;		/* whose processes and threads they are */
	/* Each message, where it is complete: 0 or a negative errno. NULL: nobody wants them. */
	int (*take)(void *data, const struct flow_message *message);
	void *data;
	uint64_t counts[COUNTS];
	int64_t now;			/* ns: of the latest event */
	int64_t longer;			/* ns: messages that count took at least so long; the other filters are the calls' */
	struct flow_class *classes[1024];
	struct flow_process *processes;
	uint32_t process_room;
	struct spi_hash channels;
	struct spi_hash_link *channel_buckets[16384];
	struct flow_channel *channel_list;
	uint64_t channel_count;
	struct flow_peer *peers, **peer_end;
	uint32_t peer_count;
	struct flow_op *free_ops;
	struct flow_matching *matching;
	struct spi_hash edges;
	struct spi_hash_link *edge_buckets[4096];
	struct flow_chains *chains;
};

/* ---- events.c ---- */
struct flow *flow_make(struct calls *calls);	/* NULL: no memory */
/* A message of the trace, before the calls get it: 0 or a negative errno. The reference stays the caller's. */
int flow_see(void *flow, const bt_message *message);
/* Nothing more comes. */
int flow_end(struct flow *flow);
void flow_free(struct flow *flow);

/* ---- ops.c ---- */
struct flow_op *flow_op_make(struct flow *flow);	/* not initialised; NULL: no memory */
struct flow_op *flow_hold(struct flow_op *op);
void flow_release(struct flow *flow, struct flow_op *op);
void flow_span_release(struct flow_span *span);	/* NULL: nothing */
uint64_t flow_host(const struct flow *flow, const struct flow_op *op);
/* NAME (PID) */
void flow_process_text(const struct call_process *process, char *text, size_t size);

/* ---- match.c: 0 or a negative errno ---- */
struct flow_matching *flow_matching_make(void);
int flow_match(struct flow *flow, struct flow_op *op);
/* The channel begins anew: what waits in it stays without a counterpart. */
int flow_channel_again(struct flow *flow, struct flow_channel *channel);
/* Time goes on: what overlapped is put in order. */
int flow_match_advance(struct flow *flow);
int flow_match_end(struct flow *flow);
void flow_matching_free(struct flow *flow);

/* ---- edges.c ---- */
int flow_edges_take(struct flow *flow, const struct flow_message *message);
/* In order: the most messages first. NULL: no memory. The caller frees it. */
struct flow_edge **flow_edges_list(const struct flow *flow, uint32_t *count);
void flow_edges_free(struct flow *flow);

/* ---- chains.c ---- */
struct flow_chains *flow_chains_make(void);
int flow_chains_add(struct flow *flow, struct flow_op *op);
/* The receive has the last byte of what was sent. */
int flow_chains_link(struct flow *flow, struct flow_op *send, struct flow_op *receive);
int flow_chains_advance(struct flow *flow, int64_t until);
void flow_chains_free(struct flow *flow);
/* The top, whose children nobody's message made. Those that are shown are marked, and stand in order. */
struct flow_node *flow_chains_tree(struct flow *flow, uint32_t depth);
/* The node after this one, parents before their children; NULL: it was the last. */
const struct flow_node *flow_node_next(const struct flow_node *node);

/* ---- write.c, json.c ---- */
int flow_write(struct flow *flow, uint32_t depth, FILE *out);
int flow_dot_write(const struct flow *flow, FILE *out);
int flow_json_write(struct flow *flow, uint32_t depth, FILE *out);
/* Edges, nodes, peers, counts alone: members of an object. */
int flow_json_members(struct flow *flow, uint32_t depth, FILE *out);
int flow_message_write(const struct flow_message *message, enum format format, FILE *out);
/* What is missing: a line each on stderr; the summary of text. */
void flow_missing_write(const struct flow *flow, FILE *out);
extern const char *const flow_count_names[COUNTS];

#endif /* SPI_READER_FLOW_H */
