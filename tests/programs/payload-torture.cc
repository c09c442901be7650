/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A payload that does all that payloads may: allocates, prints, throws and catches inside, calls functions that are
 * instrumented, at each entry and each exit. At the end it says how often.
 */
#include <lttng/spi.h>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

static struct spi_agent *agent;
static std::atomic<unsigned long> entries, exits, wrong;
static FILE *out;
static pid_t process;

static int inside(int a)
{
	std::vector<int> values;
	char text[64];

	for (int i = 0; i < 20; i++)
		values.push_back((a * 7919 + i * 31) % 101);
	std::sort(values.begin(), values.end());
	snprintf(text, sizeof(text), "%d %s", values[0], std::string(30, 'y').c_str());
	fprintf(out, "%s\n", text);
	if (getpid() != process)	/* a child: doc/limits.md */
		return 32;
	try {
		if (values[19] < values[0])
			return -1;
		throw std::runtime_error(text);
	} catch (const std::exception &e) {
		return static_cast<int>(strlen(e.what()));
	}
}

static void *enter(struct spi_call *call, void *)
{
	unsigned long n = ++entries;

	if (inside(static_cast<int>(n)) < 32)
		++wrong;
	spi_call_propel(call);
	return reinterpret_cast<void *>(spi_call_return_address(call));
}

static void leave(struct spi_call *call, void *)
{
	++exits;
	if (inside(3) < 32 || spi_call_user_data(call) != reinterpret_cast<void *>(spi_call_return_address(call)))
		++wrong;
}

static void fini(struct spi_agent *, void *)
{
	char line[100];

	snprintf(line, sizeof(line), "torture: %lu entries, %lu wrong\n", entries.exchange(0), wrong.exchange(0));
	spi_agent_write(agent, line, strlen(line));
}

__attribute__((constructor)) static void begin()
{
	struct spi_agent_options options = {};

	options.size = sizeof(options);
	options.version = LTTNG_SPI_VERSION;
	agent = spi_agent_create(&options);
	process = getpid();
	out = fopen("/dev/null", "we");
	if (!agent || !out)
		return;
	spi_agent_set_entry(agent, enter, nullptr);
	spi_agent_set_exit(agent, leave, nullptr);
	spi_agent_set_fini(agent, fini, nullptr);
	spi_agent_go(agent);
}
