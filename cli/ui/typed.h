/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Words as the user has typed them. */
#ifndef SPI_CLI_UI_TYPED_H
#define SPI_CLI_UI_TYPED_H

/*
 * name_written() - a pattern as it was typed, its control characters as \xHH (rules/glob.h): no message, list of rules or
 * recipe can have them. The text itself where it has none; else a copy that nobody frees.
 */
const char *name_written(const char *text);
/* typed_add() - one word more of a list, which keeps the pointer. 0 or -ENOMEM. */
int typed_add(const char ***list, unsigned int *count, const char *text);

#endif /* SPI_CLI_UI_TYPED_H */
