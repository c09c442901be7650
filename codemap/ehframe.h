/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Function ranges from unwind tables: what a stripped object still says about its functions. */
#ifndef CODEMAP_EHFRAME_H
#define CODEMAP_EHFRAME_H

#include "codemap/image.h"

struct fde {
	uint64_t start, size;	/* link-time address, bytes */
	uint8_t framed;		/* at its first byte the CFA is not rsp+8: entered by a jump, not a call */
	uint8_t signal_frame;	/* augmentation 'S': entered by a return from a handler */
};
struct fdes vec_of(struct fde);

/* Append the FDEs of .eh_frame. A broken table ends the list early; it is never an error. */
void ehframe_read(const struct image *image, struct fdes *fdes);

#endif /* CODEMAP_EHFRAME_H */
