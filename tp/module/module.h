/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* lttng-ust's events of libraries that come and go (library.c), and of those that are there (module/state-dump.c). */
#ifndef SPI_TP_MODULE_H
#define SPI_TP_MODULE_H

#include "liblttng-spi/base/base.h"
#include "tp/compact/compact.h"

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

/* ---- rule.c ---- */
SPI_HIDDEN void tp_rules_init(void);
SPI_HIDDEN void tp_rules_dump(void *data, struct lttng_ust_session *session);	/* the probe of each session's state dump */
SPI_HIDDEN void tp_rule_tell(const struct spi_rule_told *rule);

/* ---- close.c: spi_payload_ops.close_* ---- */
SPI_HIDDEN void tp_close_thread(const struct spi_thread_own *own, const struct spi_thread *copy);
SPI_HIDDEN int tp_close_call(const struct spi_thread_own *own, struct spi_slot *slot, uint32_t trees,
	enum spi_close_in in);

/* ---- budget.c: spi_payload_ops.budget_* ---- */
SPI_HIDDEN int tp_budget_prepare(const char **why);
SPI_HIDDEN int tp_budget_event(const struct spi_left_out *left_out);

#endif /* SPI_TP_MODULE_H */
