/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* lttng-ust's events of libraries that come and go (library.c), and of those that are there (module/state-dump.c). */
#ifndef SPI_TP_LIBRARY_H
#define SPI_TP_LIBRARY_H

#include "liblttng-spi/patch/patch.h"
#include "tp/base/tp.h"

/* Each probe of the tracepoint, called as the macro lttng_ust_tracepoint() would. Inside a read-side section. */
#define TP_PROBES_CALL(tracepoint, type, ...) do {								\
	struct lttng_ust_tracepoint_probe *probe_ = lttng_ust_rcu_dereference((tracepoint)->probes);		\
														\
	for (; probe_ && probe_->func; probe_++)								\
		((type) probe_->func)(probe_->data, __VA_ARGS__);						\
} while (0)

SPI_HIDDEN void tp_state_dump_init(void);
SPI_HIDDEN void tp_state_dump(const struct spi_object *objects, const char *(*path)(const struct spi_object *object),
	const char *name);
SPI_HIDDEN void tp_library_init(void);
SPI_HIDDEN void tp_libraries_update(void);
SPI_HIDDEN void tp_library_event(const struct spi_object *object, const char *path, uint64_t from, int is_load);

#endif /* SPI_TP_LIBRARY_H */
