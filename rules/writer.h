/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Text that is put together piece by piece, without malloc, locale or errno. */
#ifndef SPI_RULES_WRITER_H
#define SPI_RULES_WRITER_H

#include <stddef.h>
#include <stdint.h>

struct spi_writer {
	char *text;
	size_t size, at;	/* at >= size: the text does not fit */
};

void spi_put(struct spi_writer *w, const char *text);
void spi_put_some(struct spi_writer *w, const char *text, size_t most);
void spi_put_number(struct spi_writer *w, uint64_t number);
/* `value` / `scale` as a decimal; scale is a power of ten. No zeros end the decimal. */
void spi_put_decimal(struct spi_writer *w, uint64_t value, uint32_t scale);
/* A byte as `%` and two hex digits. */
void spi_put_byte(struct spi_writer *w, unsigned char byte);
/* End the text. 0, or -E2BIG: the text does not fit, and is cut. */
int spi_put_end(struct spi_writer *w);

/* A reason of SPI_RULE_WHY bytes. The format knows %s (at most 80 bytes of the text) and %u. Returns -EINVAL. */
int spi_refuse(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* SPI_RULES_WRITER_H */
