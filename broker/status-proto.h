/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What `lttng list --spi` asks the broker.
 *
 * A stream socket beside the session daemon's own: SPI_STATUS_SOCKET in the
 * daemon's run directory (/run/lttng, or $LTTNG_HOME/.lttng). Mode 0666: who
 * asks is told by SO_PEERCRED; root (and the daemon's own uid) sees every
 * process, anybody else his own only. The client sends nothing that is acted on:
 * it connects, reads until the end, and is done. A client that does not read is
 * dropped after a second.
 *
 * The answer is text, one record a line, fields separated by tabs, the first of
 * them its kind; a field is UTF-8 without a control, tab and newline among them
 * (what else there is becomes '?'). Kinds unknown to the reader are skipped. The last line is "end".
 *
 *   version  1
 *   daemon   PID  plugin|attached  lttng-tools version ("-" in the first moment)
 *   broker   PID              (another one has started anew, and knows nothing of before)
 *   session  NAME  ENDED   (so many programs that it instrumented have ended)
 *   rule     SESSION  CHANNEL  NAME  enabled|disabled  OWNER-UID  instruments|records  text (readable form, or why it is refused)
 *            FILTER (may be empty)  REQUESTS ("1+2": of one that is on, what LTTNG_SPI_FOLLOW names)
 *   note     text             (of the broker as a whole: proc connector not allowed, broker was started again, ...)
 *   process  PID  UID  STATE  name  text  again   (again: it will be tried again soon; else empty)
 *            STATE: waiting (held or being injected), traced, idle (agent inside, no rule), refused (text: why),
 *            ended (and its trace has holes: why, or counts follow; of the last 64 such)
 *   applied  PID  rule text  active|failed|adding  matched  instrumented  declined  text
 *   declined PID  OBJECT  FUNCTION  REASON
 *   counts   PID  entries exits lost_entries lost_exits owed_exits points declined
 *   hot      PID  COUNT  OBJECT  FUNCTION   (of call trees, busiest first)
 *   budget   PID  BUDGET  OWN  SPENT  RECORDS   (a call tree's: 1/1000 of OWN, the program's CPU time in us, that SPENT, all
 *            of tracing's, is to stay below; RECORDS: of that for calls)
 *   left-out PID  out|back  CALLS  SHARE  OBJECT  FUNCTION   (what the budget leaves out now, or has left out and records
 *            again; calls recorded before, and their share of what records took then in 1/1000)
 *   brought  PID  KIND  SENDER  NAME   (it came under a rule by a message of that process over a channel of that kind; 0 and "":
 *            another user's)
 *   asked    UID  KIND  REQUESTS  NOBODY  LATE   (so often messages of that user's processes asked which process is at the other end; of
 *            those no process was found, or not all were ready in time)
 *   unfollowed UID  KIND  TIMES  PID  NAME  REASON   (what messages of that user's processes did not bring in, the last of them;
 *            PID 0: no process is known, or another user's; 64 lines at most)
 *   lacked   UID  NAME  PROCESSES  PID  process|rule|function  WHAT  N  REASON   (processes of that program that have ended and
 *            were not instrumented (process), in which a rule failed, or a function was not: WHAT, and N - 1 more in
 *            one process; PID was the last of them; 64 lines at most)
 *   message  PID  text        (notes of that process's agent; why its first calls may be missing)
 *   end
 *
 * The same directory holds SPI_AGENT_SOCKET, SOCK_SEQPACKET, mode 0666: where
 * preloaded agents of any user connect (liblttng-spi/base/agent-proto.h). A
 * connection speaks for the process that the kernel says is at its other end,
 * and for no other.
 */
#ifndef SPI_BROKER_STATUS_PROTO_H
#define SPI_BROKER_STATUS_PROTO_H

#define SPI_STATUS_SOCKET	"spi-status"
#define SPI_AGENT_SOCKET	"spi-agent"
#define SPI_STATUS_VERSION	1

#endif /* SPI_BROKER_STATUS_PROTO_H */
