/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Functions of libc's that read and write whatever a descriptor is. Those that check sizes (__read_chk()) come by
 * these.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/ipc/internal.h"

SPI_IPC_DECLARE(read);
SPI_IPC_DECLARE(write);
SPI_IPC_DECLARE(readv);
SPI_IPC_DECLARE(writev);
SPI_IPC_DECLARE(pread64);
SPI_IPC_DECLARE(pwrite64);
SPI_IPC_DECLARE(preadv64);
SPI_IPC_DECLARE(pwritev64);
SPI_IPC_DECLARE(preadv2);
SPI_IPC_DECLARE(pwritev2);
SPI_IPC_DECLARE(sendfile);
SPI_IPC_DECLARE(splice);
SPI_IPC_DECLARE(tee);
SPI_IPC_DECLARE(vmsplice);

/*
 * What stands before function NAME of libc's. `made` is made of the parameters; `offset` is where the program says, or
 * -1. The function runs as the program has called it.
 */
#define IPC_MOVES(name, parameters, arguments, end, offset, made) \
	static ssize_t ipc_##name parameters \
	{ \
		const struct spi_ipc_data data = made; \
		struct spi_ipc_op op; \
		ssize_t n; \
		\
		if (!spi_ipc_begin_at(&op, SPI_IPC_P, fd, end, offset, &data)) \
			return SPI_NEXT(name) arguments; \
		n = SPI_NEXT(name) arguments; \
		spi_ipc_end(&op, n, &data, 0); \
		return n; \
	}

IPC_MOVES(read, (int fd, void *buffer, size_t size), (fd, buffer, size), SPI_IPC_RECV, -1, SPI_IPC_ONE(buffer, size))
IPC_MOVES(write, (int fd, const void *buffer, size_t size), (fd, buffer, size),
	SPI_IPC_SEND, -1, SPI_IPC_ONE(buffer, size))
IPC_MOVES(readv, (int fd, const struct iovec *vector, int count), (fd, vector, count),
	SPI_IPC_RECV, -1, SPI_IPC_MANY(vector, count))
IPC_MOVES(writev, (int fd, const struct iovec *vector, int count), (fd, vector, count),
	SPI_IPC_SEND, -1, SPI_IPC_MANY(vector, count))

/* At an offset: pipes and sockets have none, and what a payload's worker knows may have. */
IPC_MOVES(pread64, (int fd, void *buffer, size_t size, off64_t offset), (fd, buffer, size, offset),
	SPI_IPC_RECV, offset, SPI_IPC_ONE(buffer, size))
IPC_MOVES(pwrite64, (int fd, const void *buffer, size_t size, off64_t offset), (fd, buffer, size, offset),
	SPI_IPC_SEND, offset, SPI_IPC_ONE(buffer, size))
IPC_MOVES(preadv64, (int fd, const struct iovec *vector, int count, off64_t offset), (fd, vector, count, offset),
	SPI_IPC_RECV, offset, SPI_IPC_MANY(vector, count))
IPC_MOVES(pwritev64, (int fd, const struct iovec *vector, int count, off64_t offset), (fd, vector, count, offset),
	SPI_IPC_SEND, offset, SPI_IPC_MANY(vector, count))
IPC_MOVES(preadv2, (int fd, const struct iovec *vector, int count, off_t offset, int flags),
	(fd, vector, count, offset, flags), SPI_IPC_RECV, offset, SPI_IPC_MANY(vector, count))
IPC_MOVES(pwritev2, (int fd, const struct iovec *vector, int count, off_t offset, int flags),
	(fd, vector, count, offset, flags), SPI_IPC_SEND, offset, SPI_IPC_MANY(vector, count))

/* What goes from one descriptor to another: either may be a channel's end. */
static void both_begin(struct spi_ipc_op *from, struct spi_ipc_op *to, uint64_t p, int in, const off64_t *in_at,
	int out, const off64_t *out_at, const struct spi_ipc_data *data)
{
	off64_t from_at = -1, to_at = -1;

	if (in_at)
		spi_memory_copy(&from_at, (uint64_t) in_at, sizeof(from_at));
	if (out_at)
		spi_memory_copy(&to_at, (uint64_t) out_at, sizeof(to_at));
	spi_ipc_begin_at(to, p, out, SPI_IPC_SEND, to_at, data);
	spi_ipc_begin_at(from, p, in, SPI_IPC_RECV, from_at, data);
}

static void both_end(struct spi_ipc_op *from, struct spi_ipc_op *to, ssize_t n, const struct spi_ipc_data *data)
{
	spi_ipc_end(from, n, data, 0);
	spi_ipc_end(to, n, data, 0);
}

static ssize_t ipc_sendfile(int out, int in, off_t *offset, size_t size)
{
	const struct spi_ipc_data data = SPI_IPC_ONE(NULL, size);
	struct spi_ipc_op from, to;
	ssize_t n;

	both_begin(&from, &to, SPI_IPC_P, in, offset, out, NULL, &data);
	n = SPI_NEXT(sendfile)(out, in, offset, size);
	both_end(&from, &to, n, &data);
	return n;
}

static ssize_t ipc_splice(int in, off64_t *in_at, int out, off64_t *out_at, size_t size, unsigned int flags)
{
	const struct spi_ipc_data data = SPI_IPC_ONE(NULL, size);
	struct spi_ipc_op from, to;
	ssize_t n;

	both_begin(&from, &to, SPI_IPC_P, in, in_at, out, out_at, &data);
	n = SPI_NEXT(splice)(in, in_at, out, out_at, size, flags);
	both_end(&from, &to, n, &data);
	return n;
}

/* The bytes stay in the first pipe. */
static ssize_t ipc_tee(int in, int out, size_t size, unsigned int flags)
{
	const struct spi_ipc_data data = SPI_IPC_ONE(NULL, size);
	struct spi_ipc_op op;
	ssize_t n;

	spi_ipc_begin(&op, SPI_IPC_P, out, SPI_IPC_SEND, NULL, &data);
	n = SPI_NEXT(tee)(in, out, size, flags);
	spi_ipc_end(&op, n, &data, 0);
	return n;
}

/* Into a pipe or out of it, as its end is. */
static ssize_t ipc_vmsplice(int fd, const struct iovec *vector, size_t count, unsigned int flags)
{
	const long mode = spi_raw3(SYS_fcntl, (uint64_t) fd, F_GETFL, 0);
	const struct spi_ipc_data data = SPI_IPC_MANY(vector, count);
	struct spi_ipc_op op;
	ssize_t n;

	spi_ipc_begin(&op, SPI_IPC_P, fd, mode >= 0 && (mode & O_ACCMODE) == O_RDONLY ? SPI_IPC_RECV : SPI_IPC_SEND,
		NULL, &data);
	n = SPI_NEXT(vmsplice)(fd, vector, count, flags);
	spi_ipc_end(&op, n, &data, 0);
	return n;
}

const struct spi_hook spi_ipc_stream_hooks[] = {
	SPI_IPC_ROW(read, SPI_IPC_WRONG),
	SPI_IPC_ROW(write, SPI_IPC_WRONG),
	SPI_IPC_ROW(readv, SPI_IPC_WRONG),
	SPI_IPC_ROW(writev, SPI_IPC_WRONG),
	SPI_IPC_ROW(preadv2, SPI_IPC_WRONG),	/* and the same with 64 */
	SPI_IPC_ROW(pwritev2, SPI_IPC_WRONG),
	/* and the same without 64 */
	SPI_IPC_ROW_OF(SPI_HOOKS_IPC_FILES, pread64, SPI_IPC_WRONG),
	SPI_IPC_ROW_OF(SPI_HOOKS_IPC_FILES, pwrite64, SPI_IPC_WRONG),
	SPI_IPC_ROW_OF(SPI_HOOKS_IPC_FILES, preadv64, SPI_IPC_WRONG),
	SPI_IPC_ROW_OF(SPI_HOOKS_IPC_FILES, pwritev64, SPI_IPC_WRONG),
	SPI_IPC_ROW(sendfile, SPI_IPC_WRONG),
	SPI_IPC_ROW(splice, SPI_IPC_WRONG),
	SPI_IPC_ROW(tee, SPI_IPC_WRONG),
	SPI_IPC_ROW(vmsplice, SPI_IPC_WRONG),
	{ NULL },
};
