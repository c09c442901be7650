/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#ifndef SPI_READER_SALVAGE_H
#define SPI_READER_SALVAGE_H

#include <stddef.h>

/*
 * A directory with what is whole of a trace whose stream files are cut off: links to the good files, copies of the
 * others up to their last whole packet. `why` names the files that were cut. NULL: none is cut, or the directory cannot
 * be made. To be given to salvage_remove().
 */
char *salvage_make(const char *trace, char *why, size_t size);
void salvage_remove(char *directory);

#endif /* SPI_READER_SALVAGE_H */
