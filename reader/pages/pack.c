/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Bytes that stand in a page: compressed, and in base64. */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>
#include "reader/pages/pages.h"

#define GZIP_WINDOW	(15 + 16)

struct pack {
	z_stream stream;
	FILE *out;
	unsigned int waiting;		/* bytes in the block that is not written yet */
	uint8_t block[3 * 4096];	/* whole groups of base64 */
};

void base64_write(FILE *out, const uint8_t *data, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[4 * 1024];
	size_t n = 0;

	for (size_t i = 0; i < size; i += 3) {
		const size_t left = size - i;
		const uint32_t group = (uint32_t) data[i] << 16 | (left > 1 ? (uint32_t) data[i + 1] << 8 : 0) |
			(left > 2 ? data[i + 2] : 0);

		text[n++] = digits[group >> 18];
		text[n++] = digits[group >> 12 & 63];
		text[n++] = left > 1 ? digits[group >> 6 & 63] : '=';
		text[n++] = left > 2 ? digits[group & 63] : '=';
		if (n == sizeof(text)) {
			fwrite(text, 1, n, out);
			n = 0;
		}
	}
	fwrite(text, 1, n, out);
}

/* How: of zlib's. Full blocks go out; at the end also the rest. */
static int deflate_all(struct pack *p, int how)
{
	int r = Z_OK;

	do {
		p->stream.next_out = p->block + p->waiting;
		p->stream.avail_out = (uInt) (sizeof(p->block) - p->waiting);
		r = deflate(&p->stream, how);
		p->waiting = (unsigned int) (sizeof(p->block) - p->stream.avail_out);
		if (p->waiting == sizeof(p->block) || r == Z_STREAM_END) {
			base64_write(p->out, p->block, p->waiting);
			p->waiting = 0;
		}
	} while (p->stream.avail_in || (how == Z_FINISH && r == Z_OK));
	return r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR ? 0 : -1;
}

static ssize_t pack_write(void *cookie, const char *data, size_t size)
{
	struct pack *p = cookie;

	p->stream.next_in = (Bytef *) (uintptr_t) data;
	p->stream.avail_in = (uInt) size;
	return deflate_all(p, Z_NO_FLUSH) < 0 || ferror(p->out) ? 0 : (ssize_t) size;
}

static int pack_close(void *cookie)
{
	struct pack *p = cookie;
	int r;

	p->stream.avail_in = 0;
	r = deflate_all(p, Z_FINISH);
	deflateEnd(&p->stream);
	r = r < 0 || ferror(p->out) ? -1 : 0;
	free(p);
	if (r < 0)
		errno = EIO;
	return r;
}

FILE *pack_open(FILE *out)
{
	struct pack *p = calloc(1, sizeof(*p));
	FILE *file;

	if (!p)
		return NULL;
	p->out = out;
	if (deflateInit2(&p->stream, 6, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(p);
		return NULL;
	}
	file = fopencookie(p, "w", (cookie_io_functions_t) { .write = pack_write, .close = pack_close });
	if (file) {
		setvbuf(file, NULL, _IOFBF, 1 << 16);
		return file;
	}
	deflateEnd(&p->stream);
	free(p);
	return NULL;
}
