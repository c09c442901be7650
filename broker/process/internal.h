/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What only process/ uses. */
#ifndef SPI_BROKER_PROCESS_INTERNAL_H
#define SPI_BROKER_PROCESS_INTERNAL_H

#include "broker/process/process.h"

/* table.c */
extern struct process_hooks process_hooks;
extern struct process *processes;		/* the newest first */
void process_unmark(struct process *process);	/* before it is freed */
struct process *processes_take_marked(void);	/* the first; .next_marked goes on. None is marked any more */

/* state.c */
void process_abandoned(struct process *process);	/* its agent's connection is over: what was told is forgotten */
void process_expect_no_more(struct process *process);	/* .coming is not waited for any more */

/* commands.c: what the agent was told and has not answered yet; it answers in order. */
enum command_kind { COMMAND_ADD, COMMAND_ENABLE, COMMAND_DISABLE, COMMAND_REMOVE, COMMAND_KEEP };
struct command {
	struct command *next;
	enum command_kind kind;
	struct request *request;	/* NULL: of COMMAND_KEEP, which is about all */
};
void command_send(struct process *process, struct request *request, enum command_kind kind);
/* All rules that the agent has go, but those with want[index]. */
void command_keep(struct process *process, const unsigned char *want);
struct command *command_take(struct process *process);	/* the first one; NULL: none. To be freed */
void command_free(struct command *command);
void commands_forget(struct process *process, const struct request *request);
void commands_clear(struct process *process);

/*
 * applied.c: the requests in a process. want[index of a request] is WANT_*.
 */
enum { WANT_NOT, WANT_ON, WANT_OFF };
struct applied *applied_find(const struct process *process, const struct request *request);
bool applied_any_pending(const struct process *process);
/* Is a request on that the agent was not told of? */
bool applied_lacks(const struct process *process, const unsigned char *want);
void applied_adjust(struct process *process, const unsigned char *want);	/* tell its agent the difference */
void applied_clear(struct process *process);
void process_answered(struct process *process, const struct spi_msg_rule_done *done, const char *text);
void process_answered_more(struct process *process, const struct spi_msg_rule_done *more, const char *text);

/* hold.c */
void process_wait(struct process *process);		/* it is held: for so long and no longer */
void process_settle(struct process *process);		/* it may go when nothing is due any more */
/* Because it has waited for as long as a program should. */
void process_let_go_late(struct process *process, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* refusal.c */
void process_try_again(struct process *process, unsigned int ms);
bool process_is_refused(const struct process *process);		/* under the rules that there are, or too often */
void refusal_set(struct process *process, const struct setback *setback);

/* ended.c */
void ended_program(struct process *process);		/* while its agent and rules are known still */
void ended_remember(const struct process *process);	/* the process itself: its trace's holes */

/* unheld.c: a registration that was not held */
void unheld_tell(struct process *process, const struct facts *facts, const struct spi_broker_app *app);
void unheld_served(const struct process *process);	/* it has ended, and had its rules */
void unheld_ended(const struct spi_broker_app *app);	/* its program has ended, and nothing is known of it */

/* busiest.c */
void hot_add(struct process *process, uint64_t count, const char *object, const char *function);
void hot_clear(struct process *process);

/* agents.c */
void agent_is_former(struct process *process);	/* it belongs to a program that this process no longer is */

/* disabling.c, flush.c */
void disabling_joined(struct process *process);		/* its agent is new */
void flushing_answered(void);		/* a process has answered, or will not */

#endif /* SPI_BROKER_PROCESS_INTERNAL_H */
