/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * How the plugin inside lttng-sessiond and its broker talk.
 *
 * The plugin does as little as can be inside the daemon: it holds registrations
 * of applications that a rule may concern, and plays them back. All else (asking
 * the daemon for its rules, injecting, talking to agents, running spi-codemap)
 * is the broker's, a process of its own that the plugin starts, watches, and
 * starts again. Between them lies one AF_UNIX SOCK_SEQPACKET pair; one packet is
 * one message, with at most one descriptor. The broker finds its end as
 * descriptor SPI_BROKER_FD. When either end is gone, the other behaves as if no
 * rule existed: the plugin plays everything back at once, the broker has every
 * agent remove its points, and ends.
 *
 * Whether a registration must be held is decided in the plugin without asking,
 * by the table the broker sent last. The table is stale from the moment a client
 * connects to the daemon's client socket until the broker has asked the daemon
 * after that client's command: registrations in that time are held, too, since
 * the command may have made a rule. They are told of as HELD like any other; a
 * table that accounts for their time (generation) and doesn't concern them plays
 * them back without RELEASE, and without one they wait 300 ms at most, or a second
 * while no client's command hangs that could be what keeps the table back. A
 * RELEASE for what was played back already means nothing. An application may be
 * told of twice (APP), and APP may follow HELD after a broker's restart.
 */
#ifndef SPI_SESSIOND_BROKER_PROTO_H
#define SPI_SESSIOND_BROKER_PROTO_H

#include <stdint.h>
#include <stdlib.h>

#include "liblttng-spi/base/agent-proto.h"

#define SPI_BROKER_FD		3
#define SPI_HOLD_MS		2000	/* of the 3 seconds that lttng-ust waits by default */

/* LTTNG_SPI_HOLD_MS: how long the plugin keeps a registration at most, ms. The broker, which has its environment, lets go before. */
static inline unsigned int spi_hold_ms(void)
{
	const char *text = secure_getenv("LTTNG_SPI_HOLD_MS");
	char *end = NULL;
	long n = text && *text ? strtol(text, &end, 10) : 0;

	return end && !*end && n > 0 && n <= 60000 ? (unsigned int) n : SPI_HOLD_MS;
}
#define SPI_BROKER_MAGIC	0x42495053u	/* "SPIB" */
#define SPI_BROKER_VERSION	6u
#define SPI_BROKER_TABLE_MAX	256u		/* entries; more: one entry that means everybody */
#define SPI_BROKER_MESSAGE_MAX	16384u		/* bytes */

enum spi_broker_type {
	/* plugin to broker */
	SPI_BROKER_DAEMON = 1,	/* struct spi_broker_daemon: first message */
	SPI_BROKER_APP,		/* struct spi_broker_app: registered, not held; fd: pidfd. Also for each one known, at start */
	SPI_BROKER_HELD,	/* struct spi_broker_app: registration held; answer RELEASE; fd: pidfd */
	SPI_BROKER_DIRTY,	/* struct spi_broker_generation: the client command of that number has ended */
	SPI_BROKER_RULE_SEEN,	/* struct spi_broker_rule + name: the daemon sent (or disabled) a rule of ours to an app; a hint */
	SPI_BROKER_EXPIRED,	/* struct spi_broker_release: played back by the plugin's own deadline */
	SPI_BROKER_CLIENT,	/* struct spi_broker_client: a user other than the daemon's own has used the client socket */
	SPI_BROKER_DISABLING,	/* struct spi_broker_disabling + name: the daemon is about to switch this rule off everywhere */
	SPI_BROKER_LATE,	/* struct spi_broker_late: the daemon has accepted one that is concerned, but main() may have begun before; a hint */
	SPI_BROKER_FLUSH,	/* struct spi_broker_release: a client's command is about to be read; compact records are to be written before */
	SPI_BROKER_FIND,	/* struct spi_broker_find + names: of a front end with a broker of its own; first */
	SPI_BROKER_HAS,		/* struct spi_broker_has: a process has an agent of the front end's, or no more */
	SPI_BROKER_ASKED,	/* struct spi_broker_asked: an agent of the front end's asks about the other end; answer PEERS */
	SPI_BROKER_TOLD,	/* struct spi_broker_told: answer to TELL */
	/* broker to plugin */
	SPI_BROKER_RELEASE = 64,	/* struct spi_broker_release: play this registration back now */
	SPI_BROKER_TABLE,	/* struct spi_broker_table + entries: who is to be held from now on */
	SPI_BROKER_QUERIER,	/* struct spi_broker_querier: this process's client connections are ours, and make nothing stale */
	SPI_BROKER_DISABLED,	/* struct spi_broker_release: what that rule alone asked for has been taken out, and calls ended */
	SPI_BROKER_FLUSHED,	/* struct spi_broker_release: they are written, as far as processes answered in time */
	/* broker to the front end that it finds processes for */
	SPI_BROKER_FOUND,	/* struct spi_broker_found: it has the agent now; fd: the connection to the agent */
	SPI_BROKER_LACKS,	/* struct spi_broker_lacks */
	SPI_BROKER_LOOKED,	/* no more: all that ran at the start have been told of */
	SPI_BROKER_TELL,	/* struct spi_broker_tell: of a process that has an agent: SPI_MSG_CHANNEL is for it; answer TOLD */
	SPI_BROKER_PEERS,	/* struct spi_broker_peers + text, with its NUL: answer to ASKED */
};

struct spi_broker_msg {
	uint32_t magic;
	uint16_t version;
	uint16_t type;		/* enum spi_broker_type */
	uint32_t size;		/* bytes that follow */
	uint32_t reserved;
};
_Static_assert(sizeof(struct spi_broker_msg) == 16, "wire format");

struct spi_broker_daemon {
	int32_t pid;		/* the session daemon */
	uint32_t uid;		/* its effective uid */
	uint64_t generation;	/* client commands that have ended so far; what the first table accounts for */
	char client_socket[108];	/* paths, NUL-terminated; "" when not known */
	char app_socket[108];
	uint32_t flags;		/* SPI_BROKER_DAEMON_* */
	uint32_t reserved;
};
#define SPI_BROKER_DAEMON_ATTACHED	1u	/* there may have been clients that are not told of */
_Static_assert(sizeof(struct spi_broker_daemon) == 240, "wire format");

struct spi_broker_app {
	uint64_t id;		/* of the registration; 0 in SPI_BROKER_APP */
	int32_t pid;		/* in the daemon's pid namespace, from SO_PEERCRED */
	uint32_t uid, gid;	/* from SO_PEERCRED */
	uint32_t bits;		/* 32 or 64: width of the application's long */
	uint32_t deadline_ms;	/* the plugin plays it back by itself after that */
	char name[20];		/* process name as it registered, NUL-terminated; the application's own word */
	uint64_t generation;	/* client commands that had begun when it registered; what they made is to be in force */
};
_Static_assert(sizeof(struct spi_broker_app) == 56, "wire format");

struct spi_broker_late {
	int32_t pid;
	uint32_t uid;
	uint32_t ms;		/* since it was started */
	char name[20];		/* as in spi_broker_app */
};
_Static_assert(sizeof(struct spi_broker_late) == 32, "wire format");

struct spi_broker_generation {
	uint64_t generation;
};

/*
 * Who may own sessions: nothing else tells. Sent once for each user, when the
 * connection is accepted, and for all of them to each new broker.
 */
struct spi_broker_client {
	uint32_t uid;
	uint32_t reserved;
};
_Static_assert(sizeof(struct spi_broker_client) == 8, "wire format");

struct spi_broker_rule {
	int32_t pid;		/* the application */
	uint32_t enabled;
};

struct spi_broker_release {
	uint64_t id;
};

struct spi_broker_disabling {
	uint64_t id;
	uint64_t command;	/* of a client, in which it happens */
	uint64_t until;		/* CLOCK_MONOTONIC, ms: then it is switched off, whether the answer has come or not */
	uint64_t flags;		/* SPI_DISABLING_* */
};
_Static_assert(sizeof(struct spi_broker_disabling) == 32, "wire format");
#define SPI_DISABLING_SHARED	2u	/* nothing is to be taken out: another session has a rule of that name, or it only records. Its calls are waited for */
#define SPI_DISABLING_CHANNEL	1u	/* and with it whatever else is in its channel, other call trees among it */

/*
 * Who is to be held. An application is concerned when any entry matches; a field
 * that is not set (uid -1, pid 0) matches everybody.
 */
struct spi_broker_entry {
	uint32_t uid;
	int32_t pid;
	char exec[24];		/* first bytes of a literal file name of the executable; "": any */
};
_Static_assert(sizeof(struct spi_broker_entry) == 32, "wire format");

struct spi_broker_table {
	uint64_t generation;	/* all client commands up to this number are accounted for */
	uint32_t count;		/* entries that follow */
	uint32_t flags;		/* SPI_BROKER_TABLE_* */
};
#define SPI_BROKER_TABLE_COMPACT	1u	/* there are rules for compact records */
_Static_assert(sizeof(struct spi_broker_table) == 16, "wire format");

struct spi_broker_querier {
	int32_t pid;
	uint32_t reserved;
};

/*
 * `lttng trace --payload` has a broker of its own for `--exec NAME`, and for messages into other processes. The broker
 * finds processes, brings the agent in, and hands the connection over. It asks no session daemon. When the front end
 * writes no more, the broker sends its notes, and ends.
 *
 * The agents are the front end's, so it relays: their questions (ASKED, PEERS), and what those at the other end are
 * told (TELL, TOLD). It says of each agent that comes to it whose that is (HAS), before anything else of that process.
 */
struct spi_broker_find {
	int32_t pid;		/* the front end */
	uint32_t count;		/* event names of the reserved form that follow, each with its NUL: the scope counts */
};
_Static_assert(sizeof(struct spi_broker_find) == 8, "wire format");

struct spi_broker_found {
	int32_t pid;
	uint32_t flags;		/* SPI_BROKER_FOUND_* */
};
#define SPI_BROKER_FOUND_BY_MESSAGE	1u	/* no name has brought it in: what it does counts from the message on */
_Static_assert(sizeof(struct spi_broker_found) == 8, "wire format");

struct spi_broker_lacks {
	int32_t pid;		/* 0: a note about the search itself */
	uint32_t is_late;	/* it has the agent, and began before; 0: it has none */
	char name[64];		/* of its executable, NUL-terminated */
	char why[400];		/* likewise */
};
_Static_assert(sizeof(struct spi_broker_lacks) == 472, "wire format");

struct spi_broker_has {
	int32_t pid;
	uint32_t has;		/* 0: it has no agent any more */
};
_Static_assert(sizeof(struct spi_broker_has) == 8, "wire format");

struct spi_broker_asked {
	int32_t pid;		/* whose agent asks, */
	uint32_t uid;		/* and who made its connection */
	uint32_t id;		/* the answer repeats it */
	uint32_t flags;		/* SPI_BROKER_ASKED_* */
	struct spi_msg_peer_request request;	/* its rules count for nothing: there is one that all processes come under */
};
_Static_assert(sizeof(struct spi_broker_asked) == 336, "wire format");
/*
 * That messages are to be followed is the wish of the agent's payload, and not the front end's user's: none but processes of the
 * agent's user are brought in.
 */
#define SPI_BROKER_ASKED_BY_PAYLOAD	1u

struct spi_broker_tell {
	int32_t pid;
	uint32_t number;	/* the answer repeats it */
	struct spi_msg_channel_told told;	/* without rules: the front end knows their numbers */
};
_Static_assert(sizeof(struct spi_broker_tell) == 320, "wire format");

struct spi_broker_told {
	int32_t pid;
	uint32_t number;
	int32_t status;		/* 0; the agent's, or the front end's: no rule is in force there */
	uint32_t reserved;
};
_Static_assert(sizeof(struct spi_broker_told) == 16, "wire format");

struct spi_broker_peers {
	int32_t pid;
	uint32_t id;
	struct spi_msg_peers peers;
};
_Static_assert(sizeof(struct spi_broker_peers) == 32, "wire format");

#endif /* SPI_SESSIOND_BROKER_PROTO_H */
