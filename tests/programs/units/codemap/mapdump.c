/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * mapdump FILE: verify a code map and print it, a line each:
 *   map FLAGS TOTAL FUNCS SKIPPED
 *   func VADDR SIZE FLAGS NAME<TAB>EVENT<TAB>PRETTY<TAB>SOURCE
 *   in|out NAME KIND PLACE REG OFFSET SIZE SIGNED BASE LENGTH BITOFFSET BITSIZE<TAB>TYPE
 *   insn OFFSET SIZE KIND IS_TARGET TARGET
 *   bytes HEX
 *   label VALUE NAME
 *   skip VADDR NAME<TAB>REASON
 * and of a tree's map, behind the lines of each function:
 *   tree VADDR SITE-FIRST SITE-COUNT PIECE-VADDR<TAB>REASON
 * and at the end:
 *   site VADDR KIND SIZE BEFORE AFTER TARGET CONDITION PAD PAD-SIZE BYTES CODE FIX-TARGET... SIZE@COPY,... IMPORT@VERSION
 * AFTER is 255 where something jumps into the middle of the instruction; SIZE@COPY are the instructions before it.
 * What there is none of is "-".
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "codemap/map/check.h"

static const char *base;
static const struct spi_map_header *head;

static const char *text(uint32_t at)
{
	return base + head->strings.offset + at;
}

#define TABLE(name, type) ((const struct type *) (base + head->name.offset))

static void field_print(const struct spi_map_field *f, const char *way)
{
	static const char *const kind[] = {
		"?", "INT", "POINTER", "BOOL", "CHAR", "ENUM", "FLOAT", "LONG_DOUBLE", "STRING", "TEXT", "INT_ARRAY",
		"COUNTED", "DIFFERENCE" };
	static const char *const place[] = { "NONE", "GPR", "XMM", "STACK", "MEMORY", "X87", "OPTIMISED_OUT", "CONSTANT",
		"STACK_MEMORY" };
	uint32_t i;

	printf("%s %s %s %s %u %d %u %u %u %u %u %u\t%s\n", way, text(f->name), kind[f->kind], place[f->place], f->reg,
		f->offset, f->size, f->is_signed, f->base, f->length, f->bit_offset, f->bit_size, text(f->type_name));
	if (f->enum_index == SPI_MAP_NONE)
		return;
	for (i = 0; i < TABLE(enums, spi_map_enum)[f->enum_index].label_count; i++) {
		const struct spi_map_label *l = TABLE(labels, spi_map_label) +
						TABLE(enums, spi_map_enum)[f->enum_index].label_first + i;

		printf("label %lld %s\n", (long long) l->value, text(l->name));
	}
}

static void func_print(const struct spi_map_func *f)
{
	static const char *const kind[] = { "PLAIN", "RIP", "JCC", "JMP", "CALL", "END", "CALL_INDIRECT", "UNMOVABLE" };
	uint32_t i;

	printf("func %llx %u %x %s\t%s\t%s\t%s\n", (unsigned long long) f->vaddr, f->size, f->flags, text(f->name),
		text(f->event), text(f->pretty), text(f->source));
	for (i = 0; i < (uint32_t) f->field_count + f->ret_count; i++)
		field_print(TABLE(fields, spi_map_field) + f->field_first + i, i < f->field_count ? "in" : "out");
	for (i = 0; i < f->insn_count; i++) {
		const struct spi_map_insn *n = TABLE(insns, spi_map_insn) + f->insn_first + i;

		printf("insn %u %u %s %u %llx\n", n->offset, n->size, kind[n->kind], n->is_target,
			(unsigned long long) n->target);
	}
	printf("bytes ");
	for (i = 0; i < f->entry_size; i++)
		printf("%02x", f->entry[i]);
	printf("\n");
}

static void tree_print(const struct spi_map_func *f)
{
	printf("tree %llx %u %u %llx\t%s\n", (unsigned long long) f->vaddr, f->site_first, f->site_count,
		f->piece == SPI_MAP_NONE ? 0 : (unsigned long long) TABLE(funcs, spi_map_func)[f->piece].vaddr,
		f->reason ? spi_map_reason_name((enum spi_map_reason) f->reason) : "-");
}

static void hex_print(const uint8_t *bytes, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		printf("%02x", bytes[i]);
	printf("%s ", size ? "" : "-");
}

static void site_print(const struct spi_map_site *s)
{
	static const char *const kind[] = { "?", "CALL", "CALL_SLOT", "CALL_INDIRECT", "JUMP", "JUMP_SLOT",
		"JUMP_INDIRECT", "JCC", "JCC_SLOT" };
	unsigned int i;

	printf("site %llx %s %u %u %u %llx %u %d %u ", (unsigned long long) s->vaddr, kind[s->kind], s->size, s->before,
		s->solid ? 255 : s->after, (unsigned long long) s->target, s->condition, s->pad, s->pad_size);
	hex_print(s->bytes, s->before + s->size);
	hex_print(s->code, s->code_size);
	for (i = 0; i < 2; i++)
		if (s->fix[i] == SPI_SITE_NO_FIX)
			printf("- ");
		else
			printf("%u+%u=%llx ", s->fix[i], s->fix_after[i], (unsigned long long) s->fix_target[i]);
	for (i = 0; i < s->insn_count; i++)
		printf("%u@%u%s", s->insn[i].size, s->insn[i].at, i + 1 < s->insn_count ? "," : "");
	printf("%s ", i ? "" : "-");
	printf("%s@%s\n", s->import ? text(s->import) : "-", s->version ? text(s->version) : "-");
}

int main(int argc, char **argv)
{
	const char *why = "cannot be read";
	struct stat st;
	uint32_t i;
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0 || fstat(fd, &st) < 0 || !st.st_size)
		return 2;
	base = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (base == MAP_FAILED || spi_map_check(base, (uint64_t) st.st_size, &why)) {
		fprintf(stderr, "%s: %s\n", argv[1], why);
		return 1;
	}
	head = (const struct spi_map_header *) base;
	printf("map %x %llu %u %u\n", head->flags, (unsigned long long) head->symbols_total, head->funcs.count,
		head->skipped.count);
	for (i = 0; i < head->funcs.count; i++) {
		func_print(TABLE(funcs, spi_map_func) + i);
		if (head->flags & SPI_MAP_IS_TREE)
			tree_print(TABLE(funcs, spi_map_func) + i);
	}
	for (i = 0; i < head->sites.count; i++)
		site_print(TABLE(sites, spi_map_site) + i);
	for (i = 0; i < head->skipped.count; i++)
		printf("skip %llx %s\t%s\n", (unsigned long long) TABLE(skipped, spi_map_skip)[i].vaddr,
		       text(TABLE(skipped, spi_map_skip)[i].name),
		       spi_map_reason_name((enum spi_map_reason) TABLE(skipped, spi_map_skip)[i].reason));
	return 0;
}
