/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The sandbox of the processes that read foreign files (base/sandbox.c). */
#ifndef CODEMAP_BASE_SANDBOX_H
#define CODEMAP_BASE_SANDBOX_H

/*
 * From here on, this process can read and write the descriptors that it has, and nothing else.
 * `talks`: it may also send and receive on its sockets.
 */
void sandbox_enter(int talks);

#endif /* CODEMAP_BASE_SANDBOX_H */
