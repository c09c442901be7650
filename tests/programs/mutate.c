/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * mutate FILE SEED OUT: write a copy of an ELF file with a few things broken, the
 * same ones for the same seed: headers, section contents, sizes, or its end.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static const uint64_t favourites[] = {
	0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe,
	UINT64_MAX, UINT64_MAX - 1, (uint64_t) INT64_MAX, (uint64_t) INT64_MAX + 1, 0xfffffffffffff000,
};

static void put(unsigned char *data, size_t size, uint64_t at)
{
	unsigned int width = 1u << (next() % 4);
	uint64_t value = next() % 3 ? favourites[next() % (sizeof(favourites) / sizeof(*favourites))] : next();

	if (next() % 4 == 0) {
		data[at % size] ^= (unsigned char) (1u << (next() % 8));
		return;
	}
	at %= size;
	if (width > size - at)
		width = 1;
	memcpy(data + at, &value, width);
}

/* A place inside one of the sections that are parsed, or in the headers. */
static uint64_t place(const unsigned char *data, size_t size)
{
	Elf64_Ehdr head;
	Elf64_Shdr section;
	unsigned int tries;

	memcpy(&head, data, sizeof(head));
	switch (next() % 8) {
	case 0:
		return next() % sizeof(head);
	case 1:
		return head.e_phoff + next() % (head.e_phnum * sizeof(Elf64_Phdr) + 1);
	case 2:
		return head.e_shoff + next() % (head.e_shnum * sizeof(Elf64_Shdr) + 1);
	}
	for (tries = 0; tries < 50 && head.e_shnum; tries++) {
		uint64_t at = head.e_shoff + next() % head.e_shnum * sizeof(section);

		if (at > size || size - at < sizeof(section))
			continue;
		memcpy(&section, data + at, sizeof(section));
		/* Sections without an address are symbols, strings, debug info; of the others mostly .eh_frame matters.
		 */
		if (section.sh_type == SHT_NOBITS || !section.sh_size || section.sh_offset >= size)
			continue;
		if (section.sh_addr && next() % 4)
			continue;
		/* The beginning is where the headers are. */
		return section.sh_offset + next() % (next() % 2 && section.sh_size > 64 ? 64 : section.sh_size);
	}
	return next();
}

int main(int argc, char **argv)
{
	unsigned int n, i;
	unsigned char *data;
	size_t size;
	FILE *file;

	if (argc != 4 || !(file = fopen(argv[1], "rb")))
		return 2;
	fseek(file, 0, SEEK_END);
	size = (size_t) ftell(file);
	rewind(file);
	data = malloc(size);
	if (!data || fread(data, 1, size, file) != size)
		return 2;
	fclose(file);
	state = strtoull(argv[2], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (i = 0; i < 10; i++)
		next();
	n = 1 + next() % 12;
	for (i = 0; i < n; i++)
		put(data, size, place(data, size));
	if (next() % 10 == 0)
		size = next() % size;
	file = fopen(argv[3], "wb");
	return !file || fwrite(data, 1, size, file) != size || fclose(file);
}
