/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * CLOCK_MONOTONIC in nanoseconds from a bare reading of the TSC (clock.c says how).
 */
#ifndef SPI_TP_CLOCK_H
#define SPI_TP_CLOCK_H

#include "liblttng-spi/arch/arch.h"
#include "tp/base/base.h"

#define TP_CLOCK_SPAN	(UINT64_C(1) << 16)	/* ticks for which an anchor serves: about 0.03 ms */

/*
 * A thread's anchor: at tick `tsc` the clock showed `ns`. `last` is what lttng-ust was last given, `processor` whose
 * buffer it was told to write to next, `drift_tsc` and `drift_ns` an earlier anchor, by which the rate is looked at.
 */
struct tp_clock {
	volatile uint64_t tsc, ns;
	uint64_t last, drift_tsc, drift_ns;
	uint32_t anchoring;
	volatile int32_t processor;
};
extern SPI_HIDDEN __thread struct tp_clock tp_clock __attribute__((tls_model("initial-exec")));
extern SPI_HIDDEN uint64_t tp_clock_mult;	/* nanoseconds a tick, << 32 */
extern SPI_HIDDEN int tp_clock_ours;		/* lttng-ust's time stamps come from here */

/* Put the clock under lttng-ust's time stamps, where the kernel itself trusts the TSC. Once. */
SPI_HIDDEN void tp_clock_init(void);
SPI_HIDDEN uint64_t tp_clock_anchor(void);
/* From now on strays are told of in this memory, which other processes share. */
SPI_HIDDEN void tp_clock_set_floor(uint64_t *place);

/*
 * Now. The anchor is loaded before the TSC is read, so a signal handler that
 * renews it in between does so only when its span is over, and then the old one
 * is seen to be too old here also.
 */
SPI_INLINE uint64_t tp_clock_now(void)
{
	uint64_t tsc = tp_clock.tsc, ns = tp_clock.ns, d;

	spi_barrier();
	d = spi_ticks() - tsc;
	if (spi_unlikely(d >= TP_CLOCK_SPAN))
		return tp_clock_anchor();
	return ns + (d * tp_clock_mult >> 32);
}

/*
 * A tick, and the time that it is: *ns. Ticks are the TSC's, or nanoseconds when
 * that is not used (tp_clock_has_tsc()). The line through two pairs is the clock
 * that tp_clock_now() shows in between.
 */
SPI_HIDDEN uint64_t tp_clock_pair(uint64_t *ns);
SPI_HIDDEN int tp_clock_has_tsc(void);

#endif /* SPI_TP_CLOCK_H */
