/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Functions of libc's that read and write whatever a descriptor is. Those that check sizes (__read_chk()) come by these. */
#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/ipc/internal.h"

/* Where the call's return address stands, in the replacement itself. */
#define P	((uint64_t) __builtin_frame_address(0) + 8)
#define DECLARE(name)	static __typeof__(&name) next_##name
#define ONE(buffer, n)	((struct spi_ipc_data) { .bytes = (buffer), .length = (n) })
#define MANY(vector, n)	((struct spi_ipc_data) { .parts = (vector), .count = (uint64_t) (n) })
#define NOTHING(n)	ONE(NULL, n)

DECLARE(read);
DECLARE(write);
DECLARE(readv);
DECLARE(writev);
DECLARE(preadv2);
DECLARE(pwritev2);
DECLARE(sendfile);
DECLARE(splice);
DECLARE(tee);
DECLARE(vmsplice);

static ssize_t ipc_read(int fd, void *buffer, size_t size)
{
	const struct spi_ipc_data data = ONE(buffer, size);
	struct spi_ipc_op op;
	ssize_t n;

	if (!spi_ipc_begin(&op, P, fd, SPI_IPC_RECV, NULL, &data))
		return SPI_NEXT(read)(fd, buffer, size);
	n = SPI_NEXT(read)(fd, buffer, size);
	spi_ipc_end(&op, n, &data, 0);
	return n;
}

static ssize_t ipc_write(int fd, const void *buffer, size_t size)
{
	const struct spi_ipc_data data = ONE(buffer, size);
	struct spi_ipc_op op;
	ssize_t n;

	if (!spi_ipc_begin(&op, P, fd, SPI_IPC_SEND, NULL, &data))
		return SPI_NEXT(write)(fd, buffer, size);
	n = SPI_NEXT(write)(fd, buffer, size);
	spi_ipc_end(&op, n, &data, 0);
	return n;
}

static ssize_t ipc_readv(int fd, const struct iovec *vector, int count)
{
	const struct spi_ipc_data data = MANY(vector, count);
	struct spi_ipc_op op;
	ssize_t n;

	if (!spi_ipc_begin(&op, P, fd, SPI_IPC_RECV, NULL, &data))
		return SPI_NEXT(readv)(fd, vector, count);
	n = SPI_NEXT(readv)(fd, vector, count);
	spi_ipc_end(&op, n, &data, 0);
	return n;
}

static ssize_t ipc_writev(int fd, const struct iovec *vector, int count)
{
	const struct spi_ipc_data data = MANY(vector, count);
	struct spi_ipc_op op;
	ssize_t n;

	if (!spi_ipc_begin(&op, P, fd, SPI_IPC_SEND, NULL, &data))
		return SPI_NEXT(writev)(fd, vector, count);
	n = SPI_NEXT(writev)(fd, vector, count);
	spi_ipc_end(&op, n, &data, 0);
	return n;
}

static ssize_t ipc_preadv2(int fd, const struct iovec *vector, int count, off_t offset, int flags)
{
	const struct spi_ipc_data data = MANY(vector, count);
	struct spi_ipc_op op;
	ssize_t n;

	if (offset != -1 || !spi_ipc_begin(&op, P, fd, SPI_IPC_RECV, NULL, &data))
		return SPI_NEXT(preadv2)(fd, vector, count, offset, flags);
	n = SPI_NEXT(preadv2)(fd, vector, count, offset, flags);
	spi_ipc_end(&op, n, &data, 0);
	return n;
}

static ssize_t ipc_pwritev2(int fd, const struct iovec *vector, int count, off_t offset, int flags)
{
	const struct spi_ipc_data data = MANY(vector, count);
	struct spi_ipc_op op;
	ssize_t n;

	if (offset != -1 || !spi_ipc_begin(&op, P, fd, SPI_IPC_SEND, NULL, &data))
		return SPI_NEXT(pwritev2)(fd, vector, count, offset, flags);
	n = SPI_NEXT(pwritev2)(fd, vector, count, offset, flags);
	spi_ipc_end(&op, n, &data, 0);
	return n;
}

/* What goes from one descriptor to another: either may be a channel's end. */
static void both_begin(struct spi_ipc_op *from, struct spi_ipc_op *to, uint64_t p, int in, int out, const struct spi_ipc_data *data)
{
	spi_ipc_begin(to, p, out, SPI_IPC_SEND, NULL, data);
	spi_ipc_begin(from, p, in, SPI_IPC_RECV, NULL, data);
}

static void both_end(struct spi_ipc_op *from, struct spi_ipc_op *to, ssize_t n, const struct spi_ipc_data *data)
{
	spi_ipc_end(from, n, data, 0);
	spi_ipc_end(to, n, data, 0);
}

static ssize_t ipc_sendfile(int out, int in, off_t *offset, size_t size)
{
	const struct spi_ipc_data data = NOTHING(size);
	struct spi_ipc_op from, to;
	ssize_t n;

	both_begin(&from, &to, P, in, out, &data);
	n = SPI_NEXT(sendfile)(out, in, offset, size);
	both_end(&from, &to, n, &data);
	return n;
}

static ssize_t ipc_splice(int in, off64_t *in_at, int out, off64_t *out_at, size_t size, unsigned int flags)
{
	const struct spi_ipc_data data = NOTHING(size);
	struct spi_ipc_op from, to;
	ssize_t n;

	both_begin(&from, &to, P, in, out, &data);
	n = SPI_NEXT(splice)(in, in_at, out, out_at, size, flags);
	both_end(&from, &to, n, &data);
	return n;
}

/* The bytes stay in the first pipe. */
static ssize_t ipc_tee(int in, int out, size_t size, unsigned int flags)
{
	const struct spi_ipc_data data = NOTHING(size);
	struct spi_ipc_op op;
	ssize_t n;

	spi_ipc_begin(&op, P, out, SPI_IPC_SEND, NULL, &data);
	n = SPI_NEXT(tee)(in, out, size, flags);
	spi_ipc_end(&op, n, &data, 0);
	return n;
}

/* Into a pipe or out of it, as its end is. */
static ssize_t ipc_vmsplice(int fd, const struct iovec *vector, size_t count, unsigned int flags)
{
	const long mode = spi_raw3(SYS_fcntl, (uint64_t) fd, F_GETFL, 0);
	const struct spi_ipc_data data = MANY(vector, count);
	struct spi_ipc_op op;
	ssize_t n;

	spi_ipc_begin(&op, P, fd, mode >= 0 && (mode & O_ACCMODE) == O_RDONLY ? SPI_IPC_RECV : SPI_IPC_SEND, NULL, &data);
	n = SPI_NEXT(vmsplice)(fd, vector, count, flags);
	spi_ipc_end(&op, n, &data, 0);
	return n;
}

#define ROW(name, function) \
	{ name, (void *) ipc_##function, (void **) &next_##function, .ways = SPI_HOOK_ENTRY, .flags = SPI_HOOK_NO_TRAP, \
		.set = SPI_HOOKS_IPC, .lost = "messages that it moves are not recorded, and positions behind them are wrong" }
const struct spi_hook spi_ipc_stream_hooks[] = {
	ROW("read", read),
	ROW("write", write),
	ROW("readv", readv),
	ROW("writev", writev),
	ROW("preadv2", preadv2),	/* and the same with 64 */
	ROW("pwritev2", pwritev2),
	ROW("sendfile", sendfile),
	ROW("splice", splice),
	ROW("tee", tee),
	ROW("vmsplice", vmsplice),
	{ NULL },
};
