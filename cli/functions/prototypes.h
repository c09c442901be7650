/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Files of prototypes, for functions without debug info: those of the user's directory, and those of --prototypes. */
#ifndef SPI_CLI_FUNCTIONS_PROTOTYPES_H
#define SPI_CLI_FUNCTIONS_PROTOTYPES_H

struct prototype_files {
	char **list;
	unsigned int count;
};

/*
 * Have spi-codemap check them. A file of the directory with an error is said and left out, so that it stops no tracing;
 * one that the command line names is an error. 0, or the exit status.
 */
int prototype_files_find(struct prototype_files *files, const char *const *asked, unsigned int count);
void prototype_files_free(struct prototype_files *files);

#endif /* SPI_CLI_FUNCTIONS_PROTOTYPES_H */
