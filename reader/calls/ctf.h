/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#ifndef SPI_READER_CTF_H
#define SPI_READER_CTF_H

#include <stddef.h>

/*
 * Traces as CTF that any reader takes: compact records become the events that they stand for, with the functions'
 * names. The directory `output` is made. 0; 1: what is whole was written, `why` says by what the traces are damaged; or
 * -1: `why` says in one line what is wrong.
 */
int ctf_write(const char *const *directories, const char *output, char *why, size_t size);

#endif /* SPI_READER_CTF_H */
