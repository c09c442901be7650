/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room api: what include/lttng/spi.h offers, made of what the rooms below have. No room of the agent's calls this one.
 *
 * An agent becomes a client (payload/payload.h), and its event becomes rules that name the client. So a payload file that
 * is preloaded, one that is injected and one that a rule names go the same way.
 */
#ifndef SPI_API_INTERNAL_H
#define SPI_API_INTERNAL_H

#include "include/lttng/spi.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/payload/payload.h"
#include "rules/rule.h"

#define SPI_API	SPI_EXPORT
#define SPI_EVENT_LIST_MAX	16u

enum spi_event_kind {
	SPI_EVENT_NONE,
	SPI_EVENT_SYNC,
	SPI_EVENT_ASYNC,
	SPI_EVENT_FUNCTIONS,
	SPI_EVENT_CALLS,
	SPI_EVENT_COMBINED,
	SPI_EVENT_CUSTOM,
};

struct spi_event {
	enum spi_event_kind kind;
	int signal;
	uint32_t milliseconds;
	size_t count;
	const char *name[SPI_EVENT_LIST_MAX];
	struct spi_event *event[SPI_EVENT_LIST_MAX];
	int (*begin)(struct spi_agent *agent, void *data);
	void *data;
};

struct spi_agent {
	struct spi_client *client;	/* from spi_agent_create() on */
	struct spi_event *event;
	const char *arguments;		/* NAME=VALUE, one a line */
	uint32_t parse_only, unfollowed;
	struct spi_rule_names exclude, exclude_lib;
	uint32_t rules[SPI_EVENT_LIST_MAX * 2], rule_count;	/* numbers of what is in force */
	void (*fini)(struct spi_agent *agent, void *data);
	void *fini_data;
	int (*again)(struct spi_agent *agent, void *data);
	void *again_data;
	spi_filter *filter;
	void *filter_data;
	void (*flush)(struct spi_agent *agent, void *data);
	void *flush_data;
	uint32_t has_gone;		/* spi_agent_go() was called */
	const char *path;		/* of the file that has made the agent */
	uint32_t is_injected, has_frame;
	uint64_t frame[3];		/* has_frame: where the thread was injected: pc, stack and frame pointer */
	struct spi_parser parser;	/* find NULL: none */
	struct spi_agent *next;		/* that has a parser, too */
	struct spi_observer observer;	/* all NULL: none */
	struct spi_function *propelled[SPI_EVENT_LIST_MAX];	/* by spi_agent_propel() */
	uint32_t propelled_count;
	const char *refused;		/* what the agent was told and could not keep; NULL: nothing */
	char error[400];
};

/* ---- agent.c ---- */
const char *spi_text_keep(const char *text, size_t size) SPI_HIDDEN;	/* a copy that lives for ever; NULL: no memory */

void spi_agent_refuse(const char *why) SPI_HIDDEN;	/* told to the user: the payload cannot be had */
/* 0; -EINVAL: there is no agent, or it has gone already. */
int spi_agent_configurable(struct spi_agent *agent) SPI_HIDDEN;

/* ---- extend.c ---- */
void spi_agent_environment(struct spi_agent *agent) SPI_HIDDEN;	/* what variables say beside the payload's code */

/* ---- sampler.c ---- */
void spi_clock_find(void) SPI_HIDDEN;	/* where libc may be asked, before spi_clock_ns() is called */

/* ---- rules.c ---- */
/* work(data) under the control lock, in a thread that may wait. What it returns, or -EBUSY. */
int spi_api_control(int (*work)(void *data), void *data) SPI_HIDDEN;
/* as spi_clients_take_faults() */
int spi_agent_take_faults(struct spi_agent *agent, const char **why) SPI_HIDDEN;
int spi_agent_watch_begin(struct spi_agent *agent) SPI_HIDDEN;	/* its observer is told from now on. 0 or -EBUSY */
/* The event as rules, in force now. 0, or a negative errno and agent->error. */
int spi_agent_rules_begin(struct spi_agent *agent, const struct spi_event *event) SPI_HIDDEN;
void spi_agent_rules_end(struct spi_agent *agent) SPI_HIDDEN;

/* ---- function.c ---- */
/* in an object of a call tree's; NULL: none */
struct spi_function *spi_function_begins_at(uint64_t address) SPI_HIDDEN;
struct spi_function *spi_function_of_point(const struct spi_point *point) SPI_HIDDEN;
struct spi_map;
struct spi_map_field;
/* What the code map says of it; the map, or NULL. */
const struct spi_map *spi_function_map(const struct spi_function *function, const struct spi_map_func **func)
	SPI_HIDDEN;
struct spi_tree_object;
/* The function of an object's map; NULL: its record is not good, or there is no memory. */
struct spi_function *spi_function_in_map(struct spi_object *object, const struct spi_map *map, uint64_t index)
	SPI_HIDDEN;

/* ---- context.c ---- */
#define SPI_STACK_LOOKED	65536u	/* bytes above the constructor in which the injected call's frame is */
/* Where and how the agent is made. `caller`: an address in the file that makes it. */
void spi_agent_context_look(struct spi_agent *agent, const void *caller) SPI_HIDDEN;

/* ---- snippet.c ---- */
/* The site whose instruction ends there: its number in the object's map; -1: none is known. */
int64_t spi_api_site(uint64_t address, struct spi_tree_object **to) SPI_HIDDEN;

#endif /* SPI_API_INTERNAL_H */
