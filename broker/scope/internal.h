/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What only scope/ uses. */
#ifndef SPI_BROKER_SCOPE_INTERNAL_H
#define SPI_BROKER_SCOPE_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "broker/base/base.h"
#include "broker/scope/scope.h"

/* guard.c: that file, if it is one; and files of the names that rules have, where programs lie. */
void guard_file(const char *path);
void guard_programs(void);

/* guard.c: does any rule that is for this user's programs name them so? */
bool rules_name(const char *name, uid_t uid);
#define OF_ROOT ((uid_t) -1)	/* any rule that is for everybody's programs, by a name that is no pattern */
/* Of a process that has ended: no user is known. A front end's rules are all its user's. */
#define OF_ENDED (the_daemon()->is_front_end ? 0 : OF_ROOT)

/*
 * executed-files.c. `heard`: process pid is about to execute the file of that name, which a rule has; has_executed()
 * waits until the process runs that program. NULL: the process has executed one of another name. Returns whether it
 * did. 0 or a negative errno: then nothing is heard.
 */
int opened_listen(bool (*heard)(pid_t pid, const char *file, bool (*has_executed)(void)));
void opened_end(void);
void opened_named_only(void);	/* from now on: others are told of in another way */
/* The same for files that are named one by one, with certainty; where root may. A path that is no file is none. */
void opened_guard_begin(bool (*heard)(pid_t pid, const char *file, bool (*has_executed)(void)));
void opened_guard(const char *path);
void opened_guard_end(void);

#endif /* SPI_BROKER_SCOPE_INTERNAL_H */
