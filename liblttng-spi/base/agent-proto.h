/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The agent socket: how an agent inside a traced process and its controller
 * outside (the front end, the injector, later the session daemon's plugin) talk.
 *
 * An AF_UNIX SOCK_SEQPACKET connection; one packet is one message: this header
 * and `size` bytes of body, and at most one file descriptor (SCM_RIGHTS).
 * A preloaded agent connects to the path in LTTNG_SPI_SOCKET; an injected one is
 * handed one end of a socketpair that the injector made in the target, and then
 * another one that the controller made (SPI_MSG_SOCKET). The
 * controller checks SO_PEERCRED of a connection, which speaks for its process as long as that
 * has this user in all its ids; an agent talks only to a peer that is root or has its own uid.
 *
 * The agent speaks first (HELLO). Rules are then sent with RULE_ADD, each
 * answered by RULE_DONE once it is in force. While it carries a rule out, the
 * agent asks for code maps (MAP_REQUEST) and files (FILE_REQUEST); the
 * controller answers each with the same `id`. Either side may close at any time:
 * an agent whose controller is gone removes its instrumentation unless the
 * connection was marked SPI_WELCOME_KEEP.
 */
#ifndef SPI_AGENT_PROTO_H
#define SPI_AGENT_PROTO_H

#include <stdint.h>
#include "liblttng-spi/base/hash.h"

#define SPI_PROTO_MAGIC		0x31495053u	/* "SPI1" */
#define SPI_PROTO_VERSION	3u
#define SPI_PROTO_BODY_MAX	60000u		/* bytes */
#define SPI_PROTO_LINES_MAX	1500u		/* in a message of text lines: each costs the controller something, be it empty */

enum spi_msg_type {
	/* agent to controller */
	SPI_MSG_HELLO = 1,	/* struct spi_msg_hello + exe path, NUL, perhaps + rules' numbers (SPI_FOLLOW_MAX); fd: the status page (memfd, struct spi_status_page) */
	SPI_MSG_MAP_REQUEST,	/* struct spi_msg_map_request + object path NUL + patterns, one a line, NUL, perhaps + struct spi_msg_map_file */
	SPI_MSG_FILE_REQUEST,	/* file name (no slash): a library, or "daemon-home" */
	SPI_MSG_RULE_DONE,	/* struct spi_msg_rule_done + message text */
	SPI_MSG_DECLINED,	/* text lines "OBJECT\tFUNCTION\tREASON\n": asked for, not instrumented */
	SPI_MSG_NOTE,		/* one line of text for the user: warnings, generic mode */
	SPI_MSG_DETACHED,	/* answer to DETACH: everything is removed; the agent closes next */
	SPI_MSG_HOT,		/* text lines "COUNT\tOBJECT\tFUNCTION\n": calls recorded since the last such message, busiest first */
	SPI_MSG_FLUSHED,	/* answer to FLUSH */
	/*
	 * Text lines, the state of trees with a budget, whole each time: "BUDGET\tOWN\tSPENT\tRECORDS\n", the budget in
	 * 1/1000 of the program's own CPU time, that, what tracing has cost so far, and what of that the records, in us
	 * (budget 0: of trees without one, or when the last one with one has ended); then for each function
	 * "out|back\tCALLS\tSHARE\tOBJECT\tFUNCTION\n": left out now, or recorded again; calls recorded before, and its
	 * share of what the tree's records took then in 1/1000.
	 */
	SPI_MSG_BUDGET,
	SPI_MSG_RULE_CLOSED,	/* answer to RULE_CLOSE */
	SPI_MSG_RULE_MORE,	/* struct spi_msg_rule_done: what a library that has been loaded since adds to a rule's numbers */
	SPI_MSG_CHILD,		/* over a nursery; fd: the connection of a forked child that begins, whose user and directories may hide the controller's
				 * socket. Its SO_PASSCRED is set: HELLO's sender is the child. No answer */
	SPI_MSG_PEER_REQUEST,	/* struct spi_msg_peer_request: a message is about to go out, and its thread waits. Answered by PEERS */
	SPI_MSG_CHANNEL_DONE,	/* answer to CHANNEL: struct spi_msg_channel_done */
	SPI_MSG_NURSERY,	/* fd: where this process's children send CHILD, and NOTE; they have the other end until they begin, execute or end. No answer */
	/* controller to agent */
	SPI_MSG_WELCOME = 64,	/* struct spi_msg_welcome, perhaps + path where programs that are executed find the controller: answer to HELLO;
				 * perhaps fd: SPI_FLOOR_SIZE bytes that the clocks of this user's programs share, sealed */
	SPI_MSG_MAP,		/* struct spi_msg_map + error text + hashes of patterns; fd: the sealed code map */
	SPI_MSG_FILE,		/* struct spi_msg_file + error text; fd: the file or an O_PATH directory */
	SPI_MSG_RULE_ADD,	/* struct spi_msg_rule + rule text (rule grammar: doc/rules.md) */
	SPI_MSG_RULE_REMOVE,	/* struct spi_msg_rule: by id */
	SPI_MSG_RULE_DISABLE,	/* struct spi_msg_rule: by id; code bytes go back, the rule stays known */
	SPI_MSG_RULE_ENABLE,	/* struct spi_msg_rule: by id */
	SPI_MSG_DETACH,		/* remove everything, answer DETACHED, close */
	SPI_MSG_GO,		/* a preloaded program may go on to main(): all first rules were sent */
	SPI_MSG_FLUSH,		/* write what threads keep back (compact records), answer FLUSHED */
	SPI_MSG_FIRST_ENDED,	/* the process's first thread is a zombie: see to it that the process ends with the last one. No answer */
	SPI_MSG_RULE_CLOSE,	/* struct spi_msg_rule: of a rule that is switched off: once its calls have returned, answer RULE_CLOSED. flags: SPI_CLOSE_* */
	SPI_MSG_RULES_KEEP,	/* struct spi_msg_rule + any number of struct spi_msg_rule_kept: all other rules are removed. For who has rules of a
				 * parent's, or of a former controller's. RULE_DONE with number 0 is the answer. flags: SPI_KEEP_MORE */
	SPI_MSG_SOCKET,		/* before WELCOME, to who said SPI_HELLO_SOCKET; fd: the connection for all that follows. No answer */
	SPI_MSG_PEERS,		/* struct spi_msg_peers + text lines "PID\tNAME\tSTATUS\tREASON\n": answer to PEER_REQUEST */
	SPI_MSG_CHANNEL,	/* struct spi_msg_channel_told: what comes from here on begins trees that wait for a message */
	SPI_MSG_RENEW,		/* the process is another user than who made this connection: see SPI_HELLO_RENEWS. No answer */
};

struct spi_msg {
	uint32_t magic;
	uint16_t version;
	uint16_t type;		/* enum spi_msg_type */
	uint32_t id;		/* chosen by who asks, repeated in the answer */
	uint32_t size;		/* of the body, bytes */
};
_Static_assert(sizeof(struct spi_msg) == 16, "wire format");

struct spi_msg_hello {
	int32_t pid;		/* in the agent's pid namespace */
	uint32_t flags;		/* SPI_HELLO_* */
	uint64_t start_time;	/* field 22 of /proc/self/stat; 0 when unreadable */
};
#define SPI_HELLO_PRELOADED	1u	/* main() has not begun and waits for GO */
#define SPI_HELLO_FORKED	2u	/* child of a process that had the agent */
#define SPI_HELLO_WAITS		8u	/* brought in before the program has begun, which waits for GO, as where it is preloaded */
#define SPI_HELLO_RENEWS	16u	/* no new agent: its process has become another user, and goes on by this connection, which came as CHILD. Nothing
				 * more is said by the former one, whose end is the answer */
#define SPI_HELLO_SOCKET	4u	/* the target made this connection; it takes another one, whose other end the controller alone has */

/*
 * A program that a traced one executes comes under the call trees that follow it there, whomever else they mean: the
 * numbers of their rules pass through the environment, "1+2", and stand in HELLO. With its NUL at most
 */
#define SPI_FOLLOW_MAX	256u

struct spi_msg_welcome {
	uint32_t flags;		/* SPI_WELCOME_* */
	uint32_t string_max;	/* bytes kept of a string, 0: 256 */
};
/*
 * Of these bytes the first page is the clocks' own. Behind it, what the user's programs have sent and received: SPI_PLACES
 * of SPI_PLACE_SIZE bytes (liblttng-spi/ipc/). What nobody wrote to takes no memory.
 */
#define SPI_PLACES	65536u
#define SPI_PLACE_SIZE	64u
#define SPI_FLOOR_SIZE	(4096 + SPI_PLACES * SPI_PLACE_SIZE)
#define SPI_WELCOME_KEEP	1u	/* stay instrumented when the controller goes away */
#define SPI_WELCOME_EXEC	2u	/* programs that this one executes come to this controller, too, whatever its rules say */
#define SPI_WELCOME_CHILDREN	4u	/* it takes children's connections (SPI_MSG_CHILD), and tells them when to GO; who has a run's number takes them, too */
/*
 * From this bit on the number of a run of the front end's, 0: none. Sessions of other runs record nothing of this
 * process (tp/ust/runs.c); a run's own are known by the rules spi_run:any and spi_run:rNUMBER, six hex digits.
 */
#define SPI_WELCOME_RUN_SHIFT	8

struct spi_msg_map_request {
	uint64_t device, inode;	/* of the mapped file, from /proc/self/maps; 0 when unknown */
	uint8_t build_id[32];	/* as mapped in the process */
	uint32_t build_id_size;
	uint32_t limit;		/* functions at most; 0: no limit */
	uint32_t flags;		/* SPI_MAP_REQUEST_* */
	uint32_t reserved;
};
/* The file as the agent sees it: an agent that asks for the same file again is given the same map, while that is its user's. */
struct spi_msg_map_file {
	uint64_t size;
	int64_t modified_s, modified_ns, changed_s, changed_ns;
};
#define SPI_MAP_REQUEST_EXE	1u	/* the object is the process's executable (/proc/PID/exe) */
#define SPI_MAP_REQUEST_TREE	2u	/* all functions and call sites: no patterns, no limit */
#define SPI_MAP_REQUEST_DETAIL	4u	/* with SPI_MAP_REQUEST_TREE: struct spi_map_detail, and source lines */
#define SPI_MAP_REQUEST_SOON	8u	/* not answered: it is asked for in a moment, and may be made until then */

struct spi_msg_map {
	int32_t status;		/* 0 or a negative errno; text follows, with its NUL: empty when 0 */
	uint32_t lacks;		/* behind the text: so many uint64_t, spi_pattern_hash() of what rules that were sent and not answered yet name, and this object has not */
};
#define SPI_MAP_LACKS_MAX	100u

static inline uint64_t spi_pattern_hash(const char *pattern)
{
	return spi_hash_text(SPI_HASH_SEED, pattern);
}

struct spi_msg_file {
	int32_t status;
	uint32_t reserved;
};

struct spi_msg_rule {
	uint32_t rule;		/* id, unique in the connection */
	uint32_t flags;		/* SPI_RULE_* */
};
#define SPI_RULE_ONE_EVENT	1u
#define SPI_RULE_COMPACT	2u
#define SPI_CLOSE_MS		0xffffu		/* how long is waited for that; then it is answered all the same, */
#define SPI_CLOSE_ALL		0x10000u	/* a tree's: after exits were written for the calls that are open */
#define SPI_CLOSE_FUNCTIONS	0x40000u	/* of all functions that no rule asks for any more, or one less; what is open after that time has its exit then */
#define SPI_KEEP_MORE		1u	/* others that are to be kept are named by the next such message */
#define SPI_CLOSE_EVERY		0x20000u	/* of all rules for functions that are off, and all trees that are, and have a tag */

/* A number may have been another rule's before: of which this is the one, its text and flags tell. */
struct spi_msg_rule_kept {
	uint32_t rule;
	uint32_t reserved;
	uint64_t sum;		/* spi_rule_sum() */
};
_Static_assert(sizeof(struct spi_msg_rule_kept) == 16, "wire format");

static inline uint64_t spi_rule_sum(uint32_t flags, const char *text)
{
	return spi_hash_text(SPI_HASH_SEED ^ flags, text);
}

/* The event that tells a trace of the rule. A session that has enabled the event has asked for the rule. */
#define SPI_RULE_PROVIDER	"spi_rule"
#define SPI_RULE_EVENT_SIZE	(sizeof(SPI_RULE_PROVIDER) + 17)	/* "spi_rule:", 16 hexadecimal digits, NUL */

static inline void spi_rule_event(uint64_t sum, char name[SPI_RULE_EVENT_SIZE])
{
	const char *from = SPI_RULE_PROVIDER ":";

	while (*from)
		*name++ = *from++;
	for (int i = 60; i >= 0; i -= 4)
		*name++ = "0123456789abcdef"[sum >> i & 15];
	*name = 0;
}

struct spi_msg_rule_done {
	uint32_t rule;
	int32_t status;		/* 0, or a negative errno when nothing at all matched or could be done; RULE_MORE: how many functions are instrumented now */
	uint32_t matched;	/* functions */
	uint32_t instrumented;
	uint32_t declined;
	uint32_t flags;		/* SPI_DONE_* */
};
#define SPI_DONE_GENERIC	1u	/* recorded as generic address events (over the typed limit) */
#define SPI_DONE_WAITS		2u	/* -ENOENT, but the rule stays, and waits for a library that has such a function */

/*
 * One direction of a channel between processes. A stream's bytes are counted from the channel's beginning, or from where the
 * two ends have agreed (SPI_MSG_CHANNEL); of a datagram the hash of its bytes takes the position's place.
 */
enum spi_channel_kind {
	SPI_CHANNEL_NONE,		/* no channel: a file, a terminal, a device */
	SPI_CHANNEL_PIPE,		/* and FIFOs */
	SPI_CHANNEL_UNIX_STREAM,	/* and seqpacket sockets, whose bytes come in order as well */
	SPI_CHANNEL_UNIX_DATAGRAM,
	SPI_CHANNEL_TCP,
	SPI_CHANNEL_UDP,
	SPI_CHANNEL_OTHER,		/* an IPC worker's of a payload */
	SPI_CHANNEL_KINDS
};

struct spi_msg_address {
	uint8_t bytes[16];		/* network order; of IPv4 the first four */
	uint16_t port;			/* host order */
	uint16_t family;		/* AF_INET, AF_INET6; 0: none */
	uint32_t reserved;
};

#define SPI_PEER_PIDS_MAX	8u
struct spi_msg_channel {
	uint32_t kind;			/* enum spi_channel_kind */
	uint32_t reserved;
	uint64_t sender, receiver;	/* inodes of the two ends (fstat()), a pipe's twice; 0: not known, as of a connection that is not accepted yet */
	uint64_t position;		/* of the next byte that is sent; datagrams: the hash of the one that is about to go */
	uint64_t length;		/* of that datagram */
	struct spi_msg_address from, to;	/* TCP, UDP: the sender's and the receiver's */
	char path[112];			/* a UNIX socket that the datagram goes to, as the sender says it: NUL-terminated; abstract: '@' first; "": connected */
	/*
	 * Of SPI_CHANNEL_OTHER alone, which is a stream: `sender` is the channel's id, the same at both ends; `receiver` and
	 * `device` are a file's that processes at the other end have open, 0: none; `path` is the worker's name, a space, and
	 * the channel's name for people.
	 */
	uint64_t device;
	int32_t pids[SPI_PEER_PIDS_MAX];	/* processes at the other end, as the worker says; 0 ends the list */
};
_Static_assert(sizeof(struct spi_msg_channel) == 240, "wire format");

#define SPI_PEER_RULES_MAX	16u
struct spi_msg_peer_request {
	uint32_t flags;			/* SPI_PEER_* */
	uint32_t nr_rules;
	uint32_t rules[SPI_PEER_RULES_MAX];	/* that the peer is brought under: ids of this connection */
	uint32_t deadline_ms;		/* how long the thread waits */
	uint32_t descriptor;		/* where the side that asks has the channel, and 1; 0: anywhere. A hint */
	struct spi_msg_channel channel;	/* of the side that asks one inode is 0 */
};
#define SPI_PEER_ASKED_BY_RECEIVER	1u	/* only the inode of the sending end is asked for: nobody is brought in */

struct spi_msg_peers {
	int32_t status;			/* 0, or a negative errno: no process is known at the other end. The text says why */
	uint32_t ready;			/* processes at the other end that are under the rules now */
	uint32_t refused, late;		/* that cannot be; that are still to come */
	uint64_t inode;			/* of the other end; 0: not known */
};

/* To a process at the receiving end that is under these rules: a tree of them that waits for a message begins with this one's first byte. */
struct spi_msg_channel_told {
	uint32_t nr_rules;
	uint32_t rules[SPI_PEER_RULES_MAX];	/* ids of this connection */
	uint32_t reserved;
	struct spi_msg_channel channel;
};

struct spi_msg_channel_done {
	int32_t status;
	uint32_t reserved;
};

/*
 * The status memory, shared by the agent and whoever has its descriptor: a page
 * of this structure, and SPI_STATUS_BLOCKS_AT bytes from its start `blocks` of
 * struct spi_status_block, one a thread. The agent alone writes. The first eight
 * counters are the sum, modulo 2^64, of the page's and all blocks': so a call
 * counts as soon as it is recorded, whatever becomes of the process, and a reader
 * may look at any time, also after it was killed or has executed another program.
 */
/*
 * Why calls were not recorded, as far as the agent knows. lost_by counts each call once. Those before SPI_LOST_KINDS are in
 * lost_entries as well, whose rest found no room in a ring. Those before SPI_APART_KINDS are in no other counter. The rest was
 * recorded without its exit, and is in slots_exhausted as well.
 */
enum spi_lost {
	SPI_LOST_THREAD,	/* the process got no memory for what the records of a thread need */
	SPI_LOST_MEMORY,	/* the process got no memory for what the record of the call needs */
	SPI_LOST_OPEN,		/* all return slots are those of calls that are open */
	SPI_LOST_STACK,		/* made within the last SPI_STACK_LEAST bytes of a stack */
	SPI_LOST_MALLOC,	/* within malloc(), and before any other of its thread */
	SPI_LOST_FORK,		/* a function's first one, while another thread forked */
	SPI_LOST_LEFT,		/* left by a signal's handler while it was recorded */
	SPI_LOST_CALLEES,	/* by a call site that has too many callees */
	SPI_LOST_CHILD,		/* by a forked child, before it had begun */
	SPI_LOST_KINDS,
	SPI_APART_END = SPI_LOST_KINDS,	/* after the process began to end */
	SPI_APART_EXEC,		/* after the process began to execute another program */
	SPI_APART_THREAD_END,	/* after the destructors of its thread's keys began to run */
	SPI_APART_TIMER,	/* by libc's own thread for timers, or one that blocks libc's signals as that does */
	SPI_APART_UNBOUND,	/* through a slot of the dynamic linker, whose function cannot be told yet */
	SPI_APART_HALF,		/* while sessions had the function's exits enabled, and its entries not */
	SPI_APART_KINDS,
	SPI_ALONE_OPEN = SPI_APART_KINDS,	/* as SPI_LOST_OPEN */
	SPI_ALONE_MEMORY,	/* as SPI_LOST_MEMORY */
	SPI_LOST_REASONS,
};
#define SPI_STATUS_MAGIC 0x54415453u
#define SPI_STATUS_BLOCKS_AT	4096u
#define SPI_STATUS_BLOCKS_MAX	4096u
#define SPI_STATUS_BYTES	(SPI_STATUS_BLOCKS_AT + SPI_STATUS_BLOCKS_MAX * sizeof(struct spi_status_block))	/* all of it */
struct spi_status_page {
	uint32_t magic;
	uint32_t version;
	uint64_t entries;	/* entry records written */
	uint64_t exits;
	uint64_t lost_entries;	/* calls not recorded at all: no room in the ring, or enum spi_lost */
	uint64_t lost_exits;	/* never made up for */
	uint64_t owed_exits;	/* made up for later than they happened */
	uint64_t nested_skipped;	/* calls made by the tracer itself or in a handler that interrupted it */
	uint64_t slots_exhausted;	/* calls recorded without exit: no return slot was free */
	uint64_t strings_unreadable;
	uint64_t points;	/* instrumented now */
	uint64_t declined;	/* functions asked for and not instrumented */
	uint64_t threads;	/* seen so far */
	uint64_t blocks;	/* begun ones; a reader trusts it no further than the memory's size goes */
	uint64_t lost_by[SPI_LOST_REASONS];
	uint64_t reserved[19 - SPI_LOST_REASONS];
};
_Static_assert(sizeof(struct spi_status_page) == 256, "wire format");
struct spi_status_block {
	uint64_t counter[8];	/* entries to strings_unreadable */
};
_Static_assert(sizeof(struct spi_status_block) == 64, "wire format");

/*
 * How an injector starts the agent that it has loaded: int lttng_spi_attach(int
 * fd, uint32_t flags), with the agent's end of the connection.
 */
#define SPI_ATTACH_CONSTRUCTOR	1u	/* the calling thread is in a constructor: load the event module at once */
#define SPI_ATTACH_WAITS	2u	/* the calling thread is the program's only one, and calls int lttng_spi_wait(void) next */

#endif /* SPI_AGENT_PROTO_H */
