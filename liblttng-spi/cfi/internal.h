/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of cfi/ share: bytes of .eh_frame, read in order, and what a CIE says. Any thread, in signal handlers too. */
#ifndef SPI_CFI_INTERNAL_H
#define SPI_CFI_INTERNAL_H

#include "liblttng-spi/cfi/cfi.h"

/* What is read behind the end is 0, and is_bad from then on. */
struct spi_cfi_bytes {
	const uint8_t *at, *end;
	int is_bad;
};

struct spi_cie {
	struct spi_cfi_bytes program;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding, has_size;
};

/* ---- find.c ---- */
/* Little-endian, of n bytes, 8 at most; LEB128; a block behind its length. */
uint64_t spi_cfi_get(struct spi_cfi_bytes *b, unsigned int n) SPI_HIDDEN;
int64_t spi_cfi_signed(struct spi_cfi_bytes *b, unsigned int n) SPI_HIDDEN;
uint64_t spi_cfi_uleb(struct spi_cfi_bytes *b) SPI_HIDDEN;
int64_t spi_cfi_sleb(struct spi_cfi_bytes *b) SPI_HIDDEN;
struct spi_cfi_bytes spi_cfi_block(struct spi_cfi_bytes *b) SPI_HIDDEN;
/* An FDE's CIE, its own program, and where its code begins. 0, or -1: not of this address, or not understood. */
int spi_cfi_read(const uint8_t *at, uint64_t pc, struct spi_cie *cie, struct spi_cfi_bytes *program, uint64_t *begin) SPI_HIDDEN;

#endif /* SPI_CFI_INTERNAL_H */
