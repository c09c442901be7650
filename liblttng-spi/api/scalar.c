/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Parameters and results by name and type: the code map's fields (codemap/map/format.h) say what there is, and in which
 * register or at which place of the stack. The event module has its own reader, which writes records (tp/describe/).
 */
#include <errno.h>
#include <string.h>
#include "codemap/map/check.h"
#include "codemap/map/format.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/api/internal.h"

/* ---- what a function has ---- */

/* Does debug info say what the function takes and returns? */
static int is_known(const struct spi_map *map, const struct spi_map_func *func)
{
	return map && func && !(map->head->flags & SPI_MAP_IS_TREE) && (func->flags & SPI_FUNC_HAS_DWARF);
}

/* The entry fields (is_result: exit fields) and how many; NULL: nothing is known. */
static const struct spi_map_field *fields_of(const struct spi_map *map, const struct spi_map_func *func, int is_result,
	size_t *count)
{
	const uint32_t first = !func ? 0 : func->field_first + (is_result ? func->field_count : 0u);

	*count = !is_known(map, func) ? 0 : is_result ? func->ret_count : func->field_count;
	return *count ? SPI_MAP_AT(map, fields, struct spi_map_field, first) : NULL;
}

static const struct spi_map_field *function_field(const struct spi_function *function, int is_result, size_t number,
	const struct spi_map **map)
{
	const struct spi_map_func *func;
	const struct spi_map_field *fields;
	size_t count;

	*map = spi_function_map(function, &func);
	fields = fields_of(*map, func, is_result, &count);
	return number < count ? &fields[number] : NULL;
}

SPI_API size_t spi_function_parameter_count(const struct spi_function *function)
{
	const struct spi_map_func *func;
	const struct spi_map *map = spi_function_map(function, &func);
	size_t count;

	fields_of(map, func, 0, &count);
	return count;
}

SPI_API const char *spi_function_parameter_name(const struct spi_function *function, size_t number)
{
	const struct spi_map *map;
	const struct spi_map_field *f = function_field(function, 0, number, &map);

	return f ? spi_map_string(map, f->name) : "";
}

SPI_API const char *spi_function_parameter_type(const struct spi_function *function, size_t number)
{
	const struct spi_map *map;
	const struct spi_map_field *f = function_field(function, 0, number, &map);

	return f ? spi_map_string(map, f->type_name) : "";
}

SPI_API const char *spi_function_result_type(const struct spi_function *function)
{
	const struct spi_map *map;
	const struct spi_map_field *f = function_field(function, 1, 0, &map);

	return f ? spi_map_string(map, f->type_name) : "";
}

static int text_is(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static int field_find(const struct spi_map *map, const struct spi_map_func *func, const char *name)
{
	size_t count;
	const struct spi_map_field *fields = fields_of(map, func, 0, &count);

	for (size_t i = 0; i < count; i++)
		if (text_is(spi_map_string(map, fields[i].name), name))
			return (int) i;
	return is_known(map, func) ? -ENOENT : -ENODATA;
}

SPI_API int spi_function_parameter_find(const struct spi_function *function, const char *name)
{
	const struct spi_map_func *func;
	const struct spi_map *map = spi_function_map(function, &func);

	return field_find(map, func, name);
}

/* ---- values ---- */

static int from_memory(uint8_t *to, uint64_t at, size_t size)
{
	return spi_memory_copy(to, at, size) < 0 ? -EFAULT : 0;
}

/* `size` bytes of the field, `byte` bytes from where it begins. 0, or a negative errno. */
static int bytes_fetch(const struct spi_call *call, const struct spi_map_field *f, int32_t byte, uint8_t *to,
	size_t size)
{
	const uint8_t *frame = (const uint8_t *) call->frame;
	const uint8_t at = spi_frame_register(f->reg);
	uint64_t word;

	switch (f->place) {
	case SPI_PLACE_GPR:
		if (at == SPI_FRAME_NOWHERE || byte < 0 || byte + size > 8)
			return -ENODATA;
		spi_bytes_copy(to, frame + at + byte, size);
		return 0;
	case SPI_PLACE_XMM:
		if (!call->vectors || byte < 0 || (uint64_t) byte + size > call->stride || f->reg >= 16)
			return -ENODATA;
		spi_bytes_copy(to, call->vectors + f->reg * call->stride + byte, size);
		return 0;
	case SPI_PLACE_STACK:
		if (spi_is_exit(call) || byte < 0)
			return -ENODATA;
		return from_memory(to, (uint64_t) call->frame->stack + (uint64_t) byte, size);
	case SPI_PLACE_MEMORY:
		if (at == SPI_FRAME_NOWHERE)
			return -ENODATA;
		spi_bytes_copy(&word, frame + at, 8);
		return from_memory(to, word + (uint64_t) (int64_t) byte, size);
	case SPI_PLACE_STACK_MEMORY:
		if (spi_is_exit(call) ||
				from_memory((uint8_t *) &word, (uint64_t) (call->frame->stack + f->reg), 8) < 0)
			return -ENODATA;
		return from_memory(to, word + (uint64_t) (int64_t) byte, size);
	case SPI_PLACE_CONSTANT:
		word = (uint32_t) f->offset | (uint64_t) f->length << 32;
		spi_bytes_copy(to, &word, size < 8 ? size : 8);
		return 0;
	default:
		return -ENODATA;
	}
}

static void integer_extend(struct spi_scalar *value, uint64_t bits, unsigned int count, int is_signed)
{
	const unsigned int up = 64 - count;

	value->kind = is_signed ? SPI_SCALAR_SIGNED : SPI_SCALAR_UNSIGNED;
	value->integer = is_signed ? (int64_t) (bits << up) >> up : (int64_t) (bits << up >> up);
}

/* Without floating-point registers, which the payload may not have: what is below 2^63 in size; else the nearest. */
static int64_t real_truncate(uint64_t bits)
{
	const int exponent = (int) (bits >> 52 & 0x7ff) - 1023;
	const uint64_t digits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
	int64_t size;

	if (exponent < 0)
		return 0;
	if (exponent >= 63)
		return bits >> 63 ? INT64_MIN : INT64_MAX;
	size = (int64_t) (exponent > 52 ? digits << (exponent - 52) : digits >> (52 - exponent));
	return bits >> 63 ? -size : size;
}

/* A float's bits as a double's. Denormal floats count as 0. */
static uint64_t float_widen(uint32_t bits)
{
	const uint64_t sign = (uint64_t) (bits >> 31) << 63, digits = (uint64_t) (bits & 0x7fffff) << 29;
	const uint64_t exponent = bits >> 23 & 0xff;

	if (!exponent)
		return sign;
	return sign | (exponent == 0xff ? UINT64_C(0x7ff) : exponent + 1023 - 127) << 52 | digits;
}

static int real_fetch(const struct spi_call *call, const struct spi_map_field *f, struct spi_scalar *value)
{
	uint64_t bits = 0;
	int r = f->size == 4 || f->size == 8 ? bytes_fetch(call, f, f->offset, (uint8_t *) &bits, f->size) : -ENOTSUP;

	if (r < 0)
		return r;
	if (f->size == 4)
		bits = float_widen((uint32_t) bits);
	value->kind = SPI_SCALAR_REAL;
	spi_bytes_copy(&value->real, &bits, 8);
	value->integer = real_truncate(bits);
	return 0;
}

static int integer_fetch(const struct spi_call *call, const struct spi_map_field *f, struct spi_scalar *value)
{
	const int is_signed = f->is_signed && f->kind != SPI_KIND_POINTER && f->kind != SPI_KIND_BOOL;
	const unsigned int bits = f->bit_size ? f->bit_size : f->size * 8u;
	const unsigned int first = f->bit_size ? f->bit_offset % 8u : 0;
	const size_t size = (first + bits + 7) / 8;
	uint64_t word = 0;
	int r;

	if (!bits || bits > 64 || size > 8)
		return -ENOTSUP;
	r = bytes_fetch(call, f, f->offset + (f->bit_size ? f->bit_offset / 8 : 0), (uint8_t *) &word, size);
	if (r == 0)
		integer_extend(value, word >> first, bits, is_signed);
	return r;
}

static int field_fetch(const struct spi_call *call, const struct spi_map_field *f, struct spi_scalar *value)
{
	*value = (struct spi_scalar) { .size = f->kind == SPI_KIND_STRING ? 8 : f->size };
	switch (f->kind) {
	case SPI_KIND_INT:
	case SPI_KIND_POINTER:
	case SPI_KIND_BOOL:
	case SPI_KIND_CHAR:
	case SPI_KIND_ENUM:
		return integer_fetch(call, f, value);
	case SPI_KIND_STRING: {
		struct spi_map_field pointer = *f;

		pointer.kind = SPI_KIND_POINTER;
		pointer.size = 8;
		return integer_fetch(call, &pointer, value);
	}
	case SPI_KIND_FLOAT:
		return real_fetch(call, f, value);
	default:
		return -ENOTSUP;
	}
}

SPI_API int spi_call_argument(const struct spi_call *call, size_t number, struct spi_scalar *value)
{
	size_t count;
	const struct spi_map_field *fields = fields_of(call->point->map, call->point->func, 0, &count);

	if (spi_is_exit(call) || !call->frame)
		return -EINVAL;
	if (number >= count)
		return fields ? -ENOENT : -ENODATA;
	return field_fetch(call, &fields[number], value);
}

SPI_API int spi_call_argument_by_name(const struct spi_call *call, const char *name, struct spi_scalar *value)
{
	int number = field_find(call->point->map, call->point->func, name);

	return number < 0 ? number : spi_call_argument(call, (size_t) number, value);
}

SPI_API int spi_call_result(const struct spi_call *call, struct spi_scalar *value)
{
	const struct spi_map_func *func = call->point->func;
	const struct spi_map *map = call->point->map;
	size_t count;
	const struct spi_map_field *fields = fields_of(map, func, 1, &count);

	if (!spi_is_exit(call) || !call->frame)
		return -EINVAL;
	if (fields)	/* of a struct, or an __int128, each one is a part */
		return count == 1 ? field_fetch(call, fields, value) : -ENOTSUP;
	if (is_known(map, func))
		return -ENOENT;
	*value = (struct spi_scalar) { .kind = SPI_SCALAR_SIGNED, .size = 8 };
	value->integer = (int64_t) spi_call_return_value(call);
	return 0;
}
