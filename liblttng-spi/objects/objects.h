/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room objects: the ELF objects of this process, their code maps (codemap/map/format.h) and their symbols, read from
 * memory as the dynamic linker has it.
 *
 * Threads: the list of objects is changed by spi_objects_scan() alone, which is the control side's; an object is never
 * freed, so any thread may go through the list and sees what was there. Symbol searches read the objects' tables only
 * and may run in any thread and state; they do not ask the dynamic linker.
 */
#ifndef SPI_OBJECTS_H
#define SPI_OBJECTS_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include "liblttng-spi/arch/arch.h"
#include "liblttng-spi/link/link.h"

struct dl_phdr_info;
struct spi_arena;
struct spi_map;
struct spi_map_func;

/* One loaded ELF object. */
struct spi_object {
	uint64_t low, high;	/* address range of its PT_LOADs in this process */
	uint64_t bias;		/* address = vaddr + bias */
	uint64_t code_low, code_high;	/* of its executable segments; 0: it has none */
	char name[256];		/* file name without directories */
	char path[1024];
	uint8_t build_id[32];
	uint32_t build_id_size;
	uint16_t is_exe;		/* the program */
	uint16_t is_executed;		/* and the file that the kernel executed, which is the dynamic linker in `ld.so PROGRAM` */
	uint32_t is_made;		/* no file's: a region of code that was made at run time. tree/made.h */
	struct spi_arena *arena;	/* near memory; patcher's */
	struct spi_object *next;
	uint64_t seen;			/* found by the latest scan: it is loaded; objects/objects.c */
	uint64_t since;			/* the scan that found it, which others before had not */
	uint64_t told;			/* the trace has its lttng_ust_lib:load, or need not; module/load-tell.c */
	uint64_t observed;		/* payloads' observers know it; payload/observer.c */
	uint64_t looks;			/* how often it was looked at after it was loaded; hooks/got.c */
	uint64_t points;		/* it has so many; calls/points.c */
	uint64_t refused;		/* trees that cannot have it for as long as it is loaded; tree/rule.c */
	uint64_t debug_told;		/* what of its debug info cannot be read was said; rules/instrument-find.c */
	const struct spi_map *whole;	/* of all of its functions, which a call tree has asked for; NULL: there is none */
	const struct spi_map *detail;	/* with struct spi_map_detail; stays there. NULL: no agent has asked for it */
	uint64_t lacks_turn;		/* `lacks` holds for the rules of this turn; objects/map-read.c */
	uint64_t lacks[100];		/* spi_pattern_hash() of what it has no functions of */
	uint32_t lacks_count;
};

/* The next function. A call that comes before the rows are known goes straight to libc's. */
#define SPI_NEXT(name) ({ \
	if (spi_unlikely(!next_##name)) \
		*(void **) &next_##name = spi_find_in_libc(#name); \
	next_##name; \
})

/* ---- symbols.c ---- */
void *spi_find_in_libc(const char *name);	/* libc's own, whoever else has one; NULL: none. Any thread. objects/symbols.c */
/* What the object around an address defines by this name. objects/symbols.c */
void *spi_symbol_beside(const char *name, uint64_t address);
/* Functions that the object exports; control side. */
int spi_symbol_is_shadowed(const char *name);		/* another library than libc and the tracer's defines it, too */
int spi_object_defines(const struct dl_phdr_info *info, const char *name);
int spi_program_loads(void);	/* does anything but libc ask for dlopen()? */
/*
 * What a slot of `from` with this import will be bound to, as the dynamic linker searches: 0 when that is not known.
 * after_agent: not the agent's own definition, but the next. Any thread, any state: reads the objects' tables only.
 */
uint64_t spi_symbol_find(const char *name, const char *version, const struct spi_object *from, int after_agent);
/* Likewise, of a call by address: what the agent's function there stands before; 0: nothing. */
uint64_t spi_symbol_behind(uint64_t address, const struct spi_object *from);
int spi_symbols_know(uint64_t address, int is_code);
void spi_symbols_scan(void);	/* control side: look which objects there are */

/* ---- tables.c: an object's tables as the dynamic linker reads them ---- */
struct spi_tables {
	const uint32_t *hash;		/* DT_GNU_HASH */
	const ElfW(Sym) *symbols;
	const char *names;
	const uint16_t *versions;	/* NULL: none */
	const uint8_t *defined, *needed;	/* DT_VERDEF, DT_VERNEED */
	const ElfW(Rela) *lists[2];	/* relocations */
	uint64_t sizes[2];		/* bytes */
};
void spi_tables_read(struct spi_tables *tables, const ElfW(Dyn) *dynamic, uint64_t bias);

/* ---- exports.c: control side ---- */
/* Functions that an object offers to others, by ascending address, then by name. */
struct spi_exports {
	struct spi_export {
		uint64_t address;
		uint32_t name;		/* in text */
	} *list;
	uint32_t count, room;
	char *text;
	uint32_t text_used, text_room;
};

static inline const char *spi_export_name(const struct spi_exports *exports, const struct spi_export *one)
{
	return exports->text + one->name;
}
/* All of them, or those that others (only this one, if it is not NULL) import. 0 or -ENOMEM; spi_exports_free() frees. */
int spi_exports_find(const struct spi_object *object, const struct spi_object *only, int is_all, struct spi_exports *found);
void spi_exports_free(struct spi_exports *exports);
const struct spi_export *spi_exports_at(const struct spi_exports *exports, uint64_t address);	/* its first name; NULL: none */

/* ---- objects.c ---- */
struct spi_object *spi_objects_scan(void);	/* refresh the list of loaded objects; first one is the executable */
struct spi_object *spi_objects_list(void);	/* as the latest scan left it; unloaded ones stay in it */
extern uint64_t spi_objects_unloads;		/* how often the process has unloaded one, at the latest scan */
extern uint64_t spi_objects_scans;		/* there were so many */
int spi_object_is_sanitizer(const struct spi_object *object);	/* the runtime of one, as a library */
int spi_object_is_own(const struct spi_object *object);	/* the agent, lttng-ust, ld.so...: never instrumented */

/* ---- map-read.c ---- */
int spi_map_fetch(struct spi_link *link, struct spi_object *object, const char *patterns, uint32_t limit, struct spi_map *map,
	char *error, size_t error_size);
void spi_map_turn_ends(void);	/* no rule is left that was sent together with the last one */
/* The whole object's, for call trees. */
int spi_map_fetch_tree(struct spi_link *link, struct spi_object *object, struct spi_map *map, char *error, size_t error_size);
/* The controller may begin with it: it is fetched in a moment. */
void spi_map_announce_tree(struct spi_link *link, struct spi_object *object);
/* Control side: object->detail is there then. 0, or a negative errno and `error`. */
int spi_map_detail_get(struct spi_link *link, struct spi_object *object, char *error, size_t error_size);
/*
 * spi-codemap with these words, which writes to that descriptor (its 3). Its exit status, or a negative errno. In a
 * thread that may wait.
 */
int spi_codemap_run(const char *const *words, unsigned int count, int output);
void spi_map_release(struct spi_map *map);
/* The last function that begins there or below; -1: none. */
int64_t spi_map_func_below(const struct spi_map *map, uint64_t vaddr);
int64_t spi_map_func_at(const struct spi_map *map, uint64_t vaddr);	/* the function that begins there; -1: none */

/* ---- map-cache.c ---- */
int spi_map_func_is_good(const struct spi_map *map, uint64_t index);	/* what its record leads to may be followed */

/* Why a call of the function must not have a return slot; NULL: it may. */
const char *spi_map_func_asks_caller(const struct spi_map *map, const struct spi_map_func *func);

/* ---- phdr.c: over fork() ---- */
void spi_phdr_fork_wait(void);		/* until nobody is in the list of objects, with signals blocked, not for ever */
/* Is another thread there? In a forked child, until the next: was one when the child's memory was copied? */
int spi_phdr_others_inside(void);
void spi_phdr_fork_child(void);

/* Loaded twice, or one after the other. Any thread, also under the patch lock: nothing of libc's is called. */
static inline int spi_object_is_same_file(const struct spi_object *a, const struct spi_object *b)
{
	if (!a->build_id_size || a->build_id_size != b->build_id_size)
		return a == b;
	for (uint32_t i = 0; i < a->build_id_size; i++)
		if (a->build_id[i] != b->build_id[i])
			return 0;
	for (uint32_t i = 0; i < sizeof(a->path) && (a->path[i] || b->path[i]); i++)
		if (a->path[i] != b->path[i])
			return 0;
	return 1;
}

#endif /* SPI_OBJECTS_H */
