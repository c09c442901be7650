/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Whether a rule may concern an application, from the table the broker sent last.
 *
 * The table says too much rather than too little: an application is concerned
 * when any entry matches what the kernel says of it (uid, pid, executable). One
 * whose executable can't be read counts as matching any name. Until the table
 * accounts for every client command that has begun, nobody passes.
 *
 * A rule's name may also be that by which a program was started, which its first
 * argument tells. That is not read here: the kernel takes the lock of the program's
 * memory for it, which any user's program can keep for as long as it likes, and the
 * daemon would stand still. Such a name is that of the process as well, which it
 * registers with, unless it is a script, or was given another by exec -a: of these, only
 * one whose interpreter has the name with a version behind it is held.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/broker/broker.h"
#include "spi-sessiond-plugin/daemon/daemon.h"

#define NAME_CHARS	15u	/* of a process's name, as the kernel cuts it */

static struct spi_broker_entry entries[SPI_BROKER_TABLE_MAX];
static unsigned int nr_entries;
static uint64_t generation;
static bool known, has_compact;

void table_set(const struct spi_broker_table *table, const struct spi_broker_entry *list)
{
	nr_entries = table->count;
	generation = table->generation;
	known = true;
	has_compact = table->flags & SPI_BROKER_TABLE_COMPACT;
	memcpy(entries, list, nr_entries * sizeof(*list));
	for (unsigned int i = 0; i < nr_entries; i++)
		entries[i].exec[sizeof(entries[i].exec) - 1] = 0;
}

void table_forget(void)
{
	nr_entries = 0;
	known = has_compact = false;
}

bool table_has_compact(void)
{
	return has_compact;
}

uint64_t table_generation(void)
{
	return known ? generation : 0;
}

bool table_known(void)
{
	return known;
}

/* Has an executable of that name been started as `entry`, going by the name that it registered with? */
static bool is_run_as(const char *entry, const char *exec, const char *name)
{
	size_t n = strlen(entry);

	if (!strncmp(name, entry, NAME_CHARS))
		return true;
	/* "#!/usr/bin/python3": the process has the script's name, the executable is python3.11 */
	return !strncmp(exec, entry, n) && exec[n] && strchr(".-0123456789", exec[n]) && strncmp(name, exec, NAME_CHARS);
}

enum verdict table_judge(uid_t uid, pid_t pid, const char *exec, const char *name)
{
	enum verdict verdict = known && generation >= clients_begun() ? VERDICT_PASS : VERDICT_STALE;

	for (unsigned int i = 0; i < nr_entries; i++) {
		const struct spi_broker_entry *entry = &entries[i];

		if ((entry->uid != (uint32_t) -1 && entry->uid != uid) || (entry->pid && entry->pid != pid))
			continue;
		if (!*entry->exec || (exec && (!*exec || !strcmp(exec, entry->exec) || is_run_as(entry->exec, exec, name))))
			return VERDICT_CONCERNED;
		if (!exec)
			verdict = VERDICT_NAME_NEEDED;
	}
	return verdict;
}

void table_exec_name(pid_t pid, char exec[static 24])
{
	static const char deleted[] = " (deleted)";
	char link[32], path[4096], *name;
	ssize_t n;

	*exec = 0;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int) pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return;
	path[n] = 0;
	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	n = strlen(name);
	if (n > (ssize_t) sizeof(deleted) - 1 && !strcmp(name + n - (sizeof(deleted) - 1), deleted))
		name[n -= sizeof(deleted) - 1] = 0;
	if (n > 23)
		n = 23;
	memcpy(exec, name, n);
	exec[n] = 0;
}
