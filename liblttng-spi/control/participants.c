/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The parts of the agent that have something to do when something happens to the whole process, in the order in which they do it. */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/unwind/stack.h"
#include "liblttng-spi/unwind/unwind.h"
#include "liblttng-spi/dispositions/dispositions.h"
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/module/module.h"
#include "liblttng-spi/payload/payload.h"
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/tree/budget/budget.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/ipc/ipc.h"
#include "liblttng-spi/control/internal.h"

static const struct spi_participant participants[] = {
	{	/* control/ */
		.fork_child = spi_control_fork_child,
		.fork_left = spi_link_fork_child,
	}, {	/* patch/patch.c: before any call, as first calls change code */
		.fork_child = spi_patch_fork_child,
	}, {	/* calls/threads.c */
		.fork_child = spi_threads_fork_child,
	}, {	/* process/last-thread.c: the forking thread is the first one now */
		.fork_child = spi_last_thread_fork_child,
		.calls_begin = spi_last_thread_init,
		.thread_found = spi_last_thread_look,
	}, {	/* base/status.c */
		.fork_child = spi_status_fork_child,
	}, {	/* unwind/unwind.c */
		.calls_begin = spi_unwind_init,
		.object_found = spi_unwind_look,
	}, {	/* unwind/stack.c */
		.object_found = spi_stack_look,
		.objects_unloaded = spi_stack_forget,
	}, {	/* unwind/leave.c */
		.calls_begin = spi_leave_calls_begin,
	}, {	/* call trees */
		.child_begins = spi_calls_child_begins,
		.objects_unloaded = spi_tree_objects_look,
		.process_end = spi_tree_process_end,
		.exec_tells = spi_tree_process_end,
		.thread_ends = spi_tree_caller_back,
		.callback = spi_tree_callback,
	}, {	/* rules */
		.objects_gone = spi_unloads_follow,
		.child_begins = spi_rules_open,
		.child_has_begun = spi_rules_close,
		.removal = spi_rules_remove_all,
	}, {	/* budgets of call trees */
		.child_begins = spi_budget_child_begins,
		.child_has_begun = spi_budget_forked,
	}, {	/* tree/functions.c */
		.child_begins = spi_functions_child_begins,
	}, {	/* ipc/ */
		.trees_changed = spi_ipc_trees_changed,
		.fork_child = spi_ipc_fork_child,
		.thread_over = spi_ipc_thread_over,
		.process_end = spi_ipc_process_end,
		.exec_tells = spi_ipc_process_end,
	}, {	/* ipc/blocked.c */
		.fork_child = spi_ipc_blocked_fork_child,
		.trees_changed = spi_ipc_blocked_look,
	}, {	/* ipc/peer.c */
		.process_end = spi_ipc_alone_tell,
		.exec_tells = spi_ipc_alone_tell,
		.fork_child = spi_ipc_asks_fork_child,
	}, {	/* payloads */
		.fork_child = spi_limit_fork_child,
		.child_begins = spi_limit_child_begins,
		.removal = spi_clients_removal,
		.child_made = spi_observe_child,
		.program_begins = spi_clients_program_begins,
		.program_fails = spi_clients_program_fails,
		.signal_comes = spi_observe_signal,
		.objects_looked_at = spi_observe_objects,
	}, {	/* payload/client.c */
		.fork_child = spi_clients_fork_child,
	}, {	/* payload/samples.c */
		.fork_child = spi_samples_fork_child,
		.fork_left = spi_samples_fork_left,
		.thread_found = spi_samples_thread_found,
	}, {	/* process/exec-watch.c */
		.fork_child = spi_exec_fork_child,
		.removal = spi_exec_stop_always,
		.process_end = spi_exec_tell,
	}, {
		.fork_child = spi_low_fds_fork_child,
	}, {	/* process/clones.c */
		.fork_child = spi_lend_over,
	}, {
		.fork_child = spi_rights_fork_child,
	}, {
		.fork_child = spi_altstack_fork_child,
	}, {
		.fork_child = spi_thread_made_fork_child,
	},
};

void spi_participants_begin(void)
{
	spi_participants = participants;
	spi_rule_kind_ops[SPI_KIND_TREE] = &spi_tree_ops;
	spi_process_ends = spi_agent_end;
	spi_child_thread = spi_attach_child;
	spi_child_rules_may_gain = spi_rules_may_gain;
	spi_core_ops.process_end = spi_agent_end;
	spi_core_ops.tree_tags = spi_tree_tags;
	spi_core_ops.compact_flushed = spi_budget_flushed;
	spi_core_ops.function_of = spi_function_of;
	spi_core_ops.functions_ask = spi_functions_ask;
	spi_core_ops.stack_callers = spi_stack_callers;
	spi_participant_count = sizeof(participants) / sizeof(participants[0]);
}
