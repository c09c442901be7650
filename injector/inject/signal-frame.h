/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the kernel leaves on the stack for a signal's handler. Internal to the injector. */
#ifndef SPI_INJECTOR_INJECT_SIGNAL_FRAME_H
#define SPI_INJECTOR_INJECT_SIGNAL_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* Is `pc` where a signal's handler of process `pid` returns to? */
bool spi_signal_frame_at(pid_t pid, uint64_t pc);

/*
 * The registers of what the signal interrupted, as far as unwinding can depend on them. `context`: the address of the frame's
 * struct ucontext, the stack pointer where the handler has returned. Memory is read by read(address, word, data). False: not
 * to be read.
 */
bool spi_signal_frame_registers(uint64_t context, bool (*read)(uint64_t address, uint64_t *word, void *data), void *data,
				struct user_regs_struct *regs);

#endif /* SPI_INJECTOR_INJECT_SIGNAL_FRAME_H */
