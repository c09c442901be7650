/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A call, as its payload sees it: caller and callee, arguments, and what came back. */
#include <errno.h>
#include <string.h>
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/unwind/stack.h"
#include "liblttng-spi/api/internal.h"

#define INTEGERS	6u	/* registers that arguments are passed in: psABI, 3.2.3 */
#define FLOATS		8u

SPI_API struct spi_point *spi_call_point(const struct spi_call *call)
{
	return call->point;
}

SPI_API struct spi_function *spi_call_callee(const struct spi_call *call)
{
	struct spi_clients *clients = call->point->clients;
	struct spi_function *f = __atomic_load_n(&clients->callee, __ATOMIC_ACQUIRE);

	if (f && spi_function_address(f) == call->point->address)
		return f;
	f = spi_function_of_point(call->point);
	__atomic_store_n(&clients->callee, f, __ATOMIC_RELEASE);
	return f;
}

SPI_API uint64_t spi_call_return_address(const struct spi_call *call)
{
	return spi_behind_slots(spi_call_returns_to(call));
}

SPI_API struct spi_function *spi_call_caller(const struct spi_call *call)
{
	uint64_t at = call->point->call_site ? call->point->call_site : spi_call_return_address(call);

	return spi_function_at(at - 1);
}

SPI_API int spi_call_is_tail_call(const struct spi_call *call)
{
	struct spi_tree_object *to;
	const int64_t index = spi_api_site(call->point->call_site, &to);
	const struct spi_map_site *site = index < 0 ? NULL : SPI_MAP_AT(&to->map, sites, struct spi_map_site, index);

	return site && site->kind >= SPI_SITE_JUMP && site->kind <= SPI_SITE_JCC_SLOT;
}

SPI_API int spi_call_is_exit(const struct spi_call *call)
{
	return spi_is_exit(call);
}

SPI_API void *spi_call_user_data(const struct spi_call *call)
{
	return spi_is_exit(call) ? (void *) call->slot->cookie : NULL;
}

SPI_API enum spi_call_ending spi_call_ending(const struct spi_call *call)
{
	return call->ending;
}

SPI_API uint64_t spi_call_return_value(const struct spi_call *call)
{
	uint64_t value = 0;

	if (spi_is_exit(call) && call->frame)
		memcpy(&value, (const uint8_t *) call->frame + spi_frame_register(0), sizeof(value));
	return value;
}

SPI_API const void *spi_call_return_float(const struct spi_call *call)
{
	return spi_is_exit(call) ? call->vectors : NULL;
}

static void *pop_stack(struct spi_call *call, struct spi_arguments *arguments, size_t size)
{
	uint8_t *at = (uint8_t *) call->frame->stack + arguments->stack;

	arguments->stack += (size + 7) & ~(size_t) 7;
	return at;
}

SPI_API void *spi_call_pop(struct spi_call *call, struct spi_arguments *arguments, enum spi_argument_class kind, size_t size)
{
	if (spi_is_exit(call) || !size)
		return NULL;
	if (kind == SPI_ARGUMENT_INTEGER && size <= 8 && arguments->integers < INTEGERS)
		return spi_frame_argument_at(call->frame, arguments->integers++);
	if (kind == SPI_ARGUMENT_FLOAT && arguments->floats < FLOATS) {
		if (size > call->stride || !call->vectors)
			return NULL;
		return (uint8_t *) call->vectors + call->stride * arguments->floats++;
	}
	if (kind == SPI_ARGUMENT_MEMORY && size == 16)	/* long double and the like: psABI, 3.2.3, aligned to 16 */
		arguments->stack = (arguments->stack + 15) & ~UINT64_C(15);
	return pop_stack(call, arguments, size);
}

SPI_API void *spi_call_pop_argument(struct spi_call *call, struct spi_arguments *arguments, size_t size)
{
	return spi_call_pop(call, arguments, size <= 8 ? SPI_ARGUMENT_INTEGER : SPI_ARGUMENT_MEMORY, size);
}

/* ---- arguments and results of two eightbytes ---- */

static void *eightbyte_at(const struct spi_call *call, enum spi_argument_class kind, unsigned int integer,
	unsigned int real)
{
	if (kind == SPI_ARGUMENT_FLOAT)
		return call->vectors && call->stride >= 8 ? (uint8_t *) call->vectors + call->stride * real : NULL;
	if (spi_is_exit(call))
		return (uint8_t *) call->frame + spi_frame_register(integer);
	return spi_frame_argument_at(call->frame, integer);
}

/* From registers, the next ones by their numbers. */
static int eightbytes_copy(const struct spi_call *call, const enum spi_argument_class *kinds, uint32_t *integers,
	uint32_t *reals, uint8_t *value, size_t size)
{
	for (size_t done = 0; done < size; done += 8) {
		const enum spi_argument_class kind = kinds[done / 8];
		const void *at = eightbyte_at(call, kind, *integers, *reals);

		if (!at)
			return -ENODATA;
		memcpy(value + done, at, size - done < 8 ? size - done : 8);
		*(kind == SPI_ARGUMENT_FLOAT ? reals : integers) += 1;
	}
	return 0;
}

SPI_API int spi_call_pop_copy(struct spi_call *call, struct spi_arguments *arguments, enum spi_argument_class first,
	enum spi_argument_class second, size_t size, size_t alignment, void *value)
{
	const enum spi_argument_class kinds[] = { first, second };
	const uint32_t reals = (first == SPI_ARGUMENT_FLOAT) + (size > 8 && second == SPI_ARGUMENT_FLOAT);
	const uint32_t integers = 1u + (size > 8) - reals;
	const int is_memory = first >= SPI_ARGUMENT_MEMORY;

	if (spi_is_exit(call) || !size || alignment > 64 || (alignment & (alignment - 1)) ||
			(!is_memory && (size > 16 || (size > 8 && second >= SPI_ARGUMENT_MEMORY))))
		return -EINVAL;
	if (!is_memory && arguments->integers + integers <= INTEGERS && arguments->floats + reals <= FLOATS)
		return eightbytes_copy(call, kinds, &arguments->integers, &arguments->floats, value, size);
	if (alignment > 8)
		arguments->stack = (arguments->stack + alignment - 1) & ~(uint64_t) (alignment - 1);
	memcpy(value, pop_stack(call, arguments, size), size);
	return 0;
}

SPI_API int spi_call_return_copy(const struct spi_call *call, enum spi_argument_class first,
	enum spi_argument_class second, size_t size, void *value)
{
	const enum spi_argument_class kinds[] = { first, second };
	uint32_t integers = 0, reals = 0;
	uint8_t x87[10];

	if (!spi_is_exit(call) || !size || (first == SPI_ARGUMENT_X87 && size > 16))
		return -EINVAL;
	if (!call->frame)
		return -ENODATA;
	if (first == SPI_ARGUMENT_MEMORY)
		return spi_memory_copy(value, spi_call_return_value(call), size) < 0 ? -EFAULT : 0;
	if (first == SPI_ARGUMENT_X87) {
		if (!spi_has_long_double_result())
			return -ENODATA;
		spi_long_double_result(x87);
		memset(value, 0, size);
		memcpy(value, x87, size < sizeof(x87) ? size : sizeof(x87));
		return 0;
	}
	return size > 16 ? -EINVAL : eightbytes_copy(call, kinds, &integers, &reals, value, size);
}

/* At an exit the thunk's frame has the slot's return in its place, and the call's return address is behind it again. */
SPI_API int spi_call_backtrace(const struct spi_call *call, uint64_t *addresses, size_t room)
{
	struct spi_registers regs;
	enum spi_stack_end end;

	if (!call->frame || !addresses || !room)
		return 0;
	spi_frame_caller(call->frame, &regs);
	if (spi_is_exit(call)) {
		regs.r[SPI_DWARF_SP] += sizeof(call->frame->stack[0]);
		regs.r[SPI_DWARF_PC] = spi_call_returns_to(call);
	}
	return (int) spi_stack_walk(&regs, addresses, room < INT32_MAX ? (unsigned int) room : INT32_MAX, &end);
}

SPI_API int spi_call_propel(struct spi_call *call)
{
	struct spi_clients *clients = call->point->clients;
	uint32_t epoch = (uint32_t) __atomic_load_n(&spi_tree_epoch, __ATOMIC_RELAXED);
	int r;

	if (spi_is_exit(call) || !call->trees)
		return -EINVAL;
	if (clients->propelled_epoch == epoch && !(call->trees & ~__atomic_load_n(&clients->propelled, __ATOMIC_ACQUIRE)))
		return 0;
	r = spi_tree_propel(call->point->address, call->trees);
	if (r == 0) {
		if (clients->propelled_epoch != epoch)
			__atomic_store_n(&clients->propelled, 0, __ATOMIC_RELEASE);
		clients->propelled_epoch = epoch;
		__atomic_fetch_or(&clients->propelled, call->trees, __ATOMIC_RELEASE);
	}
	return r;
}

SPI_API uint64_t spi_point_address(const struct spi_point *point)
{
	return !point ? 0 : point->call_site ? point->call_site : point->address;
}

SPI_API struct spi_object *spi_point_object(const struct spi_point *point)
{
	return point ? point->object : NULL;
}
