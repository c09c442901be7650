/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The code map: what spi-codemap finds out about one ELF object, for one
 * request, in a form that the agent reads inside the traced process without
 * parsing ELF, DWARF or machine code.
 *
 * One file describes one object. It is position independent twice over: inside
 * it, everything is an offset from its start; outside, every address is a link
 * time address (p_vaddr), to which the reader adds the object's load bias. It is
 * written once, sealed when it travels as a memfd, and mapped read-only by any
 * number of processes.
 *
 * A reader trusts nothing: spi_map_check() (check.h) verifies every span,
 * string and index before anything else looks at the file. All integers are
 * little endian; all records are naturally aligned and padded by hand.
 */
#ifndef CODEMAP_MAP_FORMAT_H
#define CODEMAP_MAP_FORMAT_H

#include <stdint.h>

#define SPI_MAP_MAGIC		UINT64_C(0x0150414d49505300)	/* "\0SPIMAP\1" */
#define SPI_MAP_VERSION		9u
#define SPI_MAP_NONE		UINT32_MAX			/* an index that points nowhere */

#define SPI_MAP_ENTRY_BYTES	40u	/* bytes of code kept from a function's first byte on */
#define SPI_MAP_ENTRY_INSNS	8u	/* instructions described at most */

/* A table: `count` records of `stride` bytes, `offset` bytes from the file's start. */
struct spi_map_span {
	uint64_t offset;
	uint32_t count;
	uint32_t stride;
};

enum spi_map_object_flags {
	SPI_MAP_HAS_DWARF	= 1u << 0,	/* some debug info was found for the object */
	SPI_MAP_IS_PIC		= 1u << 1,	/* ET_DYN; the load bias may be anything */
	SPI_MAP_TRUNCATED	= 1u << 2,	/* more functions matched than the limit allowed */
	SPI_MAP_USES_YMM	= 1u << 3,	/* upper halves of ymm0-15 may be live across a call here */
	SPI_MAP_USES_ZMM	= 1u << 4,	/* zmm, zmm16-31 or k0-7 may be live across a call here */
	/*
	 * For call trees: every function of the object is in funcs, with its call sites, also one of
	 * which no point can be made (func.reason says why); without types; `skipped` is empty.
	 */
	SPI_MAP_IS_TREE		= 1u << 5,
	SPI_MAP_COPIES_STACKS	= 1u << 6,	/* coroutines that run on one stack: their frames are copied off it and back */
	/* IS_TREE: an instruction takes another stack, returns to what was pushed, or enters the kernel: clone() may be meant. */
	SPI_MAP_SWITCHES_STACKS	= 1u << 7,
};

struct spi_map_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_size;
	uint64_t file_size;		/* of the map, in bytes */
	uint32_t flags;			/* enum spi_map_object_flags */
	uint16_t machine;		/* e_machine: EM_X86_64 */
	uint16_t build_id_size;		/* 0 when the object has none */
	uint8_t build_id[32];
	uint64_t load_low, load_high;	/* link-time range of all PT_LOAD segments */
	uint64_t symbols_total;		/* functions the object has: FUNC symbols and FDE starts, by address */
	uint32_t object_name;		/* string: the file name that was analysed */
	uint32_t debug_name;		/* string: where the debug info came from, "" when nowhere */
	struct spi_map_span strings;	/* bytes; every string ends with NUL inside the span; offset 0 is "" */
	struct spi_map_span funcs;	/* struct spi_map_func, by ascending vaddr, one an address */
	struct spi_map_span fields;	/* struct spi_map_field */
	struct spi_map_span insns;	/* struct spi_map_insn */
	struct spi_map_span enums;	/* struct spi_map_enum */
	struct spi_map_span labels;	/* struct spi_map_label */
	struct spi_map_span skipped;	/* struct spi_map_skip: asked for, and no point can be made there */
	struct spi_map_span sites;	/* struct spi_map_site, by ascending vaddr; SPI_MAP_IS_TREE only */
	uint32_t debug_lost;		/* string: what of the debug info cannot be read, and why; "": nothing is known of */
	uint32_t reserved;
	uint64_t detail;		/* offset of struct spi_map_detail; 0: it was not asked for */
};

enum spi_map_func_flags {
	SPI_FUNC_HAS_DWARF	= 1u << 0,	/* parameters and return type are known */
	SPI_FUNC_VARIADIC	= 1u << 1,
	SPI_FUNC_NORETURN	= 1u << 2,
	SPI_FUNC_LOOPS_TO_ENTRY	= 1u << 3,	/* a jump inside the function goes to its first byte: not a call */
	SPI_FUNC_IFUNC		= 1u << 4,	/* STT_GNU_IFUNC: vaddr is the resolver's */
	SPI_FUNC_SRET		= 1u << 5,	/* returns through a hidden pointer in rdi (psABI: class MEMORY) */
	SPI_FUNC_NO_SYMBOL	= 1u << 6,	/* known from its FDE only; named sub_<vaddr> */
	SPI_FUNC_RETURNS_VALUE	= 1u << 7,
	SPI_FUNC_WINDOW_SHARED	= 1u << 8,	/* the first 5 bytes reach into the next function */
	SPI_FUNC_USES_VECTORS	= 1u << 9,	/* reserved */
	SPI_FUNC_X87_RETURN	= 1u << 10,	/* the return value is in st(0) */
	SPI_FUNC_FROM_OUTSIDE	= 1u << 11,	/* other objects may call it: it is exported, or (SPI_MAP_IS_TREE) its address is used */
	SPI_FUNC_HANDED_OVER	= 1u << 12,	/* SPI_MAP_IS_TREE: an instruction makes its address, and no direct call leads to it */
};

/* Why a function that was asked for has no point. spi_map_reason_name() gives the text. */
enum spi_map_reason {
	SPI_REASON_NONE = 0,
	SPI_REASON_RETURNS_TWICE,	/* setjmp, vfork, getcontext: a return slot would be left twice */
	SPI_REASON_PROCESS_ENTRY,	/* _start: entered without a return address */
	SPI_REASON_SIGNAL_RETURN,	/* __restore_rt: entered by a return */
	SPI_REASON_UNDECODED,		/* the disassembler does not know an instruction at the entry */
	SPI_REASON_UNMOVABLE,		/* an instruction at the entry cannot run elsewhere */
	SPI_REASON_PART,		/* a .cold/.part piece that is jumped into, not called: goes with its function */
	SPI_REASON_PLT,			/* a linkage stub, not a function */
	SPI_REASON_NO_CODE,		/* its address is in no executable segment, or has no file content */
	SPI_REASON_OTHER_ABI,		/* known to be entered with another calling convention */
	SPI_REASON_LIMIT,		/* beyond the limit on the number of functions */
	SPI_REASON_MANAGED,		/* code of a runtime that looks up the return addresses on the stack: nothing in it changes either */
	SPI_REASON_NONSENSE,		/* what was found out about it is impossible: its debug info is wrong, or misread */
	SPI_REASON_COUNT_
};

struct spi_map_func {
	uint64_t vaddr;
	uint32_t size;			/* bytes; 0 when unknown */
	uint32_t flags;			/* enum spi_map_func_flags */
	uint32_t name;			/* string: linkage name, or sub_<hex vaddr> */
	uint32_t pretty;		/* string: prototype as `-l` prints it, "name(int a, const char *b)"; in a tree's map: "name", demangled */
	uint32_t event;			/* string: event name without _entry/_exit, unique in this map; in a tree's map: "" */
	uint32_t source;		/* string: "dir/file.c:line" or "" */
	union {
		uint32_t field_first;	/* entry fields, parameters in order, structs flattened */
		/*
		 * In a tree's map: the function's pieces that lie elsewhere and are jumped into (.cold), themselves
		 * in funcs with SPI_REASON_PART. Of a function the first, of a piece the next one; always a piece,
		 * ascending by index from piece to piece; SPI_MAP_NONE ends it. Who patches the function's sites
		 * patches theirs.
		 */
		uint32_t piece;
	};
	uint16_t field_count;
	uint16_t ret_count;		/* exit fields, right after the entry fields in the table */
	uint32_t insn_first;		/* the instructions at the entry */
	uint8_t insn_count;
	uint8_t entry_size;		/* bytes valid in entry[] */
	uint16_t reason;		/* enum spi_map_reason; not 0 only in a tree's map */
	uint8_t entry[SPI_MAP_ENTRY_BYTES];	/* the code as the file has it, to compare with memory */
	uint32_t site_first;		/* its call sites, in a tree's map; those of a function inside another are the other's, too */
	uint32_t site_count;
};
_Static_assert(sizeof(struct spi_map_func) == 96, "wire format");

enum spi_field_kind {
	SPI_KIND_INT = 1,	/* size 1, 2, 4, 8, 16 (low 8 bytes recorded); is_signed; base 10 or 16 */
	SPI_KIND_POINTER,	/* 8 bytes, hexadecimal; C++ references and `this` too */
	SPI_KIND_BOOL,		/* 1 byte, labels false and true */
	SPI_KIND_CHAR,		/* 1 byte, shown as text */
	SPI_KIND_ENUM,		/* size, is_signed, enum_index */
	SPI_KIND_FLOAT,		/* size 4 or 8 */
	SPI_KIND_LONG_DOUBLE,	/* 80-bit x87 in 16 bytes, recorded as double */
	SPI_KIND_STRING,	/* `char *`: the location holds the pointer */
	SPI_KIND_TEXT,		/* char array of `length` bytes inside a by-value struct */
	SPI_KIND_INT_ARRAY,	/* `length` integers of `size` bytes inside a by-value struct */
	SPI_KIND_COUNTED,	/* text: the location holds the pointer to it, `other` says how long it is, bytes */
	SPI_KIND_DIFFERENCE,	/* signed 8 bytes: the integer at the location, less the one at `other`, plus (int8_t) `bit_offset` */
	SPI_KIND_COUNT_
};

/* Where a field's bytes are. At entry the frame is the caller's registers and stack; at exit, the returned registers. */
enum spi_field_place {
	/*
	 * Not known at the entry (or at the exit): no value is recorded. The event says so in its field not_known,
	 * and spi_map_func.pretty in the parameter list.
	 */
	SPI_PLACE_NONE = 0,	/* debug info does not say where it is: <unknown> */
	SPI_PLACE_GPR,		/* general register `reg` (DWARF number, psABI figure 3.36), byte `offset` of it */
	SPI_PLACE_XMM,		/* xmm`reg`, ymm or zmm, byte `offset` of it */
	SPI_PLACE_STACK,	/* `offset` bytes above the return address's successor, i.e. entry rsp + 8 + offset */
	SPI_PLACE_MEMORY,	/* memory at (GPR `reg`) + offset: passed by invisible reference, or class MEMORY return (rax) */
	SPI_PLACE_X87,		/* st(0) */
	SPI_PLACE_OPTIMISED_OUT,	/* not passed, not returned: <optimised out> */
	SPI_PLACE_CONSTANT,	/* every call has this value: the low 32 bits in `offset`, the upper ones in `length` */
	SPI_PLACE_STACK_MEMORY,	/* memory at (the pointer on the stack, at entry rsp + 8 + 8 * `reg`) + offset */
	SPI_PLACE_COUNT_
};

/* Has a field at this place a value that can be recorded? */
static inline int spi_place_is_known(unsigned int place)
{
	return place != SPI_PLACE_NONE && place != SPI_PLACE_OPTIMISED_OUT;
}

/* What is said instead of a value that is not known. */
#define SPI_MARK_UNKNOWN	"<unknown>"
#define SPI_MARK_OPTIMISED_OUT	"<optimised out>"

/* The second value that a field is made from: an integer of 8 bytes. */
struct spi_map_other {
	uint8_t place;		/* enum spi_field_place; SPI_PLACE_NONE: `offset` is the value */
	uint8_t reg;
	uint16_t offset;
};

struct spi_map_field {
	uint32_t name;		/* string: as in the source; flattened members joined with '_' */
	uint32_t type_name;	/* string: C spelling of the type */
	uint8_t kind;		/* enum spi_field_kind */
	uint8_t place;		/* enum spi_field_place */
	uint8_t reg;
	uint8_t size;		/* bytes of one element */
	uint8_t is_signed;
	uint8_t base;		/* 10 or 16 */
	uint8_t bit_offset;	/* bit field: lowest bit, counted from byte `offset`; DIFFERENCE: what is added, signed */
	uint8_t bit_size;	/* 0: not a bit field */
	int32_t offset;
	union {
		uint32_t length;	/* TEXT, INT_ARRAY: elements; scalars at SPI_PLACE_CONSTANT: upper half of the value */
		struct spi_map_other other;	/* COUNTED, DIFFERENCE */
	};
	uint32_t enum_index;	/* ENUM: index into enums, else SPI_MAP_NONE */
	uint32_t param;		/* number of the parameter it belongs to, from 0 (return value: 0) */
};
_Static_assert(sizeof(struct spi_map_field) == 32, "wire format");

enum spi_insn_kind {
	SPI_INSN_PLAIN = 0,	/* runs anywhere as it is */
	SPI_INSN_RIP,		/* has a rip-relative disp32 at byte fix_offset */
	SPI_INSN_JCC,		/* conditional jump to target (rel8 or rel32); condition = low nibble in cond */
	SPI_INSN_JMP,		/* direct jump to target */
	SPI_INSN_CALL,		/* direct call to target */
	SPI_INSN_END,		/* ret, ud2, hlt, indirect jump: runs anywhere, nothing follows */
	SPI_INSN_CALL_INDIRECT,	/* call through register or memory; a rip-relative disp32 at fix_offset when it is not 0 */
	SPI_INSN_UNMOVABLE,	/* loop, jrcxz, xbegin, or unknown: not to be moved */
};

struct spi_map_insn {
	uint8_t offset;		/* from the function's first byte */
	uint8_t size;
	uint8_t kind;		/* enum spi_insn_kind */
	uint8_t fix_offset;	/* in the instruction */
	uint8_t cond;		/* JCC */
	uint8_t is_target;	/* some jump in the function goes to this instruction */
	uint16_t reserved;
	uint64_t target;	/* link-time address */
};
_Static_assert(sizeof(struct spi_map_insn) == 16, "wire format");

/*
 * A call site: where a function is left for another. Besides calls, jumps out of
 * the function to another's first byte (tail calls: CFA = rsp + 8 at the jump and
 * at its target); jumps into a function's own part that lies elsewhere are none.
 */
enum spi_site_kind {
	SPI_SITE_CALL = 1,		/* call rel32 to `target` */
	SPI_SITE_CALL_SLOT,		/* call through the 8-byte slot at `target`: call *slot(%rip), or a call of the PLT stub that jumps there */
	SPI_SITE_CALL_INDIRECT,		/* call through a register or other memory */
	SPI_SITE_JUMP,			/* jmp rel8 or rel32 to `target` */
	SPI_SITE_JUMP_SLOT,		/* jmp *slot(%rip), or a jump to a PLT stub */
	SPI_SITE_JUMP_INDIRECT,		/* jmp through a register or other memory, and no switch of the function's own */
	SPI_SITE_JCC,			/* conditional jump to `target` */
	SPI_SITE_JCC_SLOT,		/* conditional jump to a PLT stub */
	SPI_SITE_COUNT_
};

#define SPI_SITE_CODE	32u
#define SPI_SITE_BYTES	20u
#define SPI_SITE_INSNS	6u
#define SPI_SITE_AFTER	4u
#define SPI_SITE_NO_FIX	0xffu

struct spi_map_site {
	uint64_t vaddr;			/* of the call or jump instruction */
	uint64_t target;		/* link-time address: the callee's, or the slot's; 0: INDIRECT */
	uint64_t fix_target[2];		/* link-time addresses that the rip-relative operands in code[] mean */
	uint32_t import;		/* string: the function that the dynamic linker binds the slot to; 0: none */
	uint32_t version;		/* string: its symbol version; 0: none */
	uint8_t kind;			/* enum spi_site_kind */
	uint8_t size;			/* of the instruction, bytes */
	/*
	 * Room for a jump of 5 bytes. The instructions before it that may be moved along, as far as nothing jumps
	 * between them and it: any number of them, those nearest to it. And bytes behind it that nothing runs through.
	 */
	uint8_t before, after;		/* bytes; after: 4 at most, behind jumps only */
	uint8_t insn_count;		/* before it */
	uint8_t solid;			/* a jump goes into its middle: no byte but the first may change */
	/*
	 * To be run in the stub, where the replaced bytes led: the moved instructions, then, from `own` on, what puts
	 * the target of an INDIRECT or memory call into r11. They expect the stack that a stub has: one
	 * word lower than at the site for calls, the same for jumps. SLOT: only the moved instructions.
	 */
	uint8_t code_size, own;
	uint8_t fix[2];			/* offsets in code[] of disp32s to adjust to fix_target[]; SPI_SITE_NO_FIX */
	uint8_t fix_after[2];		/* bytes of their instruction behind the disp32 */
	uint8_t condition;		/* JCC: low nibble of the opcode */
	/*
	 * Spare bytes (padding that nothing runs through) within reach of a 2-byte jump there or thereabouts:
	 * `pad_size` (5 at least; 0: none) bytes at vaddr + pad. Sites may share them: who takes them is the agent's matter.
	 */
	uint8_t pad_size;
	int16_t pad;
	struct {
		uint8_t size;		/* of the instruction */
		uint8_t at;		/* its copy in code[] */
	} insn[SPI_SITE_INSNS];		/* before it, by ascending address */
	uint8_t code[SPI_SITE_CODE];
	uint8_t bytes[SPI_SITE_BYTES];	/* as the file has them from vaddr - before on, before + size of them */
};
_Static_assert(sizeof(struct spi_map_site) == 120, "wire format");

/*
 * What a tree's map has beside all that call trees need, where that was asked for: basic blocks, the text of each
 * site's instruction, and spi_map_func.source.
 */
struct spi_map_detail {
	uint32_t size;			/* of this record */
	uint32_t reserved;
	struct spi_map_span blocks;	/* struct spi_map_block, by ascending vaddr; none has a byte of another */
	struct spi_map_span edges;	/* struct spi_map_edge */
	struct spi_map_span texts;	/* uint32_t string: of each site, in the sites' order */
};

/* Instructions that run one after the other: control arrives at the first only, and leaves behind the last. */
struct spi_map_block {
	uint64_t vaddr;
	uint32_t size;			/* bytes */
	uint32_t func;			/* that has it; of a function inside another, the other one */
	uint32_t edge_first, edge_count;
	uint32_t call;			/* bytes before its last instruction, where that is a call; else SPI_MAP_NONE */
	uint32_t reserved;
};
_Static_assert(sizeof(struct spi_map_block) == 32, "wire format");

enum spi_map_edge_kind {
	SPI_MAP_EDGE_FALL_THROUGH = 1,	/* the next block follows */
	SPI_MAP_EDGE_JUMP,
	SPI_MAP_EDGE_TAKEN,		/* a conditional jump, to where it jumps, */
	SPI_MAP_EDGE_NOT_TAKEN,		/* and behind it */
	SPI_MAP_EDGE_INDIRECT,		/* a jump through a register or memory */
	SPI_MAP_EDGE_CALL,
	SPI_MAP_EDGE_CALL_RETURNS,	/* to where the call returns */
	SPI_MAP_EDGE_RETURN,
	SPI_MAP_EDGE_COUNT_
};

struct spi_map_edge {
	uint64_t to;			/* link-time address; 0: not known */
	uint32_t kind;			/* enum spi_map_edge_kind */
	uint32_t reserved;
};
_Static_assert(sizeof(struct spi_map_edge) == 16, "wire format");

struct spi_map_enum {
	uint32_t name;		/* string: the type's name, "" when anonymous */
	uint32_t label_first, label_count;
	uint32_t reserved;
};

struct spi_map_label {
	int64_t value;
	uint32_t name;
	uint32_t is_rest;	/* for each value that no other label has; `value` means nothing */
};

struct spi_map_skip {
	uint64_t vaddr;
	uint32_t name;		/* string */
	uint32_t reason;	/* enum spi_map_reason */
};

#endif /* CODEMAP_MAP_FORMAT_H */
