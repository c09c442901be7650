/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of objects/ share. Control side. */
#ifndef SPI_OBJECTS_INTERNAL_H
#define SPI_OBJECTS_INTERNAL_H

#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"

struct spi_map;
struct spi_object;

/* ---- objects.c ---- */
/* The object's file, whatever the name that it has by now. */
const char *spi_object_file(const struct spi_object *object, char room[SPI_PROC_PATH]);
extern int spi_leaks_are_checked;		/* LeakSanitizer is there. objects/phdr.c */

/* ---- tables.c ---- */
int spi_texts_equal(const char *a, const char *b);	/* strcmp() may be instrumented, too */
/* The index of a symbol that is defined; 0: not there. version as below. */
uint32_t spi_table_find(const struct spi_tables *tables, const char *name, uint32_t hash, const char *version);
const char *spi_table_name(const struct spi_tables *tables, uint64_t value);	/* of what is defined there; NULL: nothing */
int spi_table_imports_load(const struct spi_tables *tables);	/* dlopen() or dlmopen(); 1 where that is not known */
/* Has the symbol this version? "": is it the one that is meant where no version is asked for? */
int spi_symbol_is_version(const struct spi_tables *tables, uint32_t symbol, const char *version);
const char *spi_symbol_version_wanted(const struct spi_tables *tables, uint32_t symbol);	/* of an import; "": any */
uint32_t spi_symbol_hash(const char *name);	/* DT_GNU_HASH */

/* ---- map-read.c ---- */
void spi_map_note(const struct spi_map *map);		/* it is good: what it says of the whole process */

/* ---- map-cache.c ---- */
/* A tree's map from spi-codemap's cache. 0, or -ENOENT: ask spi-codemap. */
int spi_map_from_cache(const struct spi_object *object, struct spi_map *map);
int spi_map_is_in_cache(const struct spi_object *object);	/* as far as its name says */

#endif /* SPI_OBJECTS_INTERNAL_H */
