/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Fortran's procedures: arguments by reference, hidden arguments, array descriptors. */
#ifndef CODEMAP_TYPES_FORTRAN_H
#define CODEMAP_TYPES_FORTRAN_H

#include "codemap/types/prototype.h"

/* Find the parameters that are passed beside those of the source, and whose lengths they are. */
void fortran_hidden_find(struct parameter *list, size_t count, uint64_t pc);
/* An array's descriptor, at `offset` of the value: address and bounds. 0: the type has none. */
int fortran_descriptor_add(struct field_maker *maker, const char *name, const char *type_name, const struct type *type,
			   uint64_t offset);
/* An argument of which the address travels, when that address or text is what is recorded. 0: it is recorded as in C. */
int fortran_argument_add(struct field_maker *maker, const char *name, const struct type *type,
			 const struct dw_die *typed);

#endif /* CODEMAP_TYPES_FORTRAN_H */
