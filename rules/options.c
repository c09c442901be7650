/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The table of options. A new option is a row here, and a member of struct spi_rule that somebody uses. */
#include <string.h>

#include "rules/options.h"

#define OPTION(word, member, kind) .name = word, .at = offsetof(struct spi_rule, member), .value = SPI_VALUE_##kind

const struct spi_rule_option spi_rule_options[] = {
	{ OPTION("one-event", one_event, FLAG), .where = SPI_IN_CALL, .said = ", one event a call" },
	{ OPTION("depth", depth, DECIMAL), .where = SPI_IN_TREE, .scale = 1, .max = 100000, .is_said_first = true,
	  .wrong = "'%s' is not a number from 1 to 100000", .said = ", % deep",
	  .help = "      --depth N         at most N calls deep below ROOT\n" },
	{ OPTION("exclude", exclude, FUNCTIONS), .where = SPI_IN_TREE, .said = ", without %",
	  .help = "      --exclude GLOB    not these functions, and not what only they call\n" },
	{ OPTION("lib", lib, OBJECTS), .where = SPI_IN_TREE, .said = ", in %", .is_said_first = true,
	  .help = "      --lib GLOB        in these executables and libraries only\n" },
	{ OPTION("exclude-lib", exclude_lib, OBJECTS), .where = SPI_IN_TREE, .is_said_first = true,
	  .said = ", not in %",
	  .help = "      --exclude-lib GLOB  not in these libraries\n" },
	{ OPTION("calls-of", calls_of, FUNCTIONS), .where = SPI_IN_TREE,
	  .help = "      --calls-of GLOB   only the calls that these functions make\n" },
	{ OPTION("follow", unfollowed, FOLLOW), .where = SPI_IN_TREE, .said = ", without %",
	  .wrong = "'%s' cannot be followed: threads, dlopen, fork and exec can, or none",
	  .help = "      --follow LIST     of threads,dlopen,fork,exec (all of them), or none\n" },
	{ OPTION("after", after, DECIMAL), .where = SPI_IN_TREE, .scale = 1000, .max = 1000000, .said = ", after % s",
	  .wrong = "'%s' is not a positive number of seconds, with at most three decimals",
	  .help = "      --after SECONDS   begin so much later\n" },
	{ OPTION("on-signal", on_signal, SIGNAL), .where = SPI_IN_TREE, .said = ", from signal % on",
	  .wrong = "'%s' is not a signal: give a name such as USR1, or a number",
	  .help = "      --on-signal SIG   begin when this signal comes\n" },
	{ OPTION("budget", budget, PERCENT), .where = SPI_IN_TREE, .scale = 10, .max = 1000,
	  .said = ", slow-down at most % %%", .wrong = "'%s' is not a slow-down in percent, from 0.1 to 1000",
	  .help = "      --budget PERCENT  leave out what slows the program down by more than that,\n"
		  "                        what is called most first, while it is\n" },
	{ OPTION("compact", compact, FLAG), .where = SPI_IN_TREE | SPI_IN_CALL_AGENT, .said = ", compact",
	  .help = "      --compact         packed records: cheaper to make, and smaller\n" },
	{ OPTION("parse-only", parse_only, FLAG), .where = SPI_IN_TREE, .said = ", analysed only",
	  .help = "      --parse-only      analyse the program, record nothing\n" },
	{ OPTION("pid", pids, PIDS), .where = SPI_IN_EVENT, .wrong = "%s is not a process id" },
	{ OPTION("exec", exec, PROGRAMS), .where = SPI_IN_EVENT },
	{ OPTION("backtrace", backtrace, COUNT), .where = SPI_IN_CALL, .scale = 1, .max = 128, .standard = 16,
	  .said = ", with backtraces of at most % frames", .wrong = "'%s' is not a number of frames, from 1 to 128" },
	{ OPTION("libcalls", libcalls, FLAG), .where = SPI_IN_CALL, .said = ", calls from other objects" },
	{ OPTION("payload", payloads, FILES), .where = SPI_IN_AGENT, .said = ", for payload %" },
	{ OPTION("payload-arg", payload_args, SETTINGS), .where = SPI_IN_AGENT },
	{ OPTION("ipc", ipc, CHANNELS), .where = SPI_IN_TREE, .said = ", with processes along %",
	  .wrong = "'%s' is no kind of channel: pipe, unix, tcp and udp are",
	  .help = "      --ipc[=LIST]      and into the processes that it sends messages to, from each one's\n"
		  "                        first message on; LIST: of pipe,unix,tcp,udp (all of them)\n" },
	{ OPTION("ipc-wait", ipc_wait, DECIMAL), .where = SPI_IN_TREE, .scale = 1000, .max = 10,
	  .said = ", waiting up to % s for each",
	  .wrong = "'%s' is not a number of seconds, from 0.001 to 10",
	  .help = "      --ipc-wait SECONDS  so long a first message waits for its receiver (1)\n" },
	{ OPTION("on-message", on_message, FLAG), .where = SPI_IN_TREE_AGENT, .said = ", from the first message on" },
	{ OPTION("tag", tag, HEX), .where = SPI_IN_AGENT,
	  .wrong = "'%s' is not a tag: give up to 15 hexadecimal digits" },
};
const unsigned int spi_rule_options_count = sizeof(spi_rule_options) / sizeof(spi_rule_options[0]);

const struct spi_rule_option *spi_rule_option_find(const char *name, uint32_t where)
{
	for (unsigned int i = 0; i < spi_rule_options_count; i++)
		if ((spi_rule_options[i].where & where) && !strcmp(spi_rule_options[i].name, name))
			return &spi_rule_options[i];
	return NULL;
}
