/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * lttng_ust_lib:load, build_id and unload: what lttng-ust records of libraries that
 * come and go where liblttng-ust-dl.so stands before dlopen(). A program that is
 * brought in while it runs, or that nobody preloaded that for, has the same from
 * here, so that who reads addresses knows where a library was.
 *
 * The events are lttng-ust's own (its provider, its fields, its serialiser): these
 * are more places that call its probes. lttng-ust connects a tracepoint to the
 * probes of that name if the signature is the same, character by character; where
 * another version has others, it leaves these unconnected, and nothing is recorded.
 * lttng_ust_dl_update() would do it all, but reads each library's file again and takes lttng-ust's
 * lock in the dynamic linker's, which fork() takes the other way round.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "tp/module/module.h"

#define PROVIDER	"lttng_ust_lib"
/* As lttng/ust-tracepoint.h makes them of LTTNG_UST_TP_ARGS(). */
#define WHERE		"void *, ip, void *, baddr"

static struct lttng_ust_tracepoint load = {
	.struct_size = sizeof(load), .provider_name = PROVIDER, .event_name = "load",
	.signature = WHERE ", const char*, path, uint64_t, memsz, uint8_t, has_build_id, uint8_t, has_debug_link",
};
static struct lttng_ust_tracepoint build_id = {
	.struct_size = sizeof(build_id), .provider_name = PROVIDER, .event_name = "build_id",
	.signature = WHERE ", uint8_t *, build_id, size_t, build_id_len",
};
static struct lttng_ust_tracepoint unload = {
	.struct_size = sizeof(unload), .provider_name = PROVIDER, .event_name = "unload", .signature = WHERE,
};
static struct lttng_ust_tracepoint *tracepoints[] = { &load, &build_id, &unload };

void tp_library_init(void)
{
	lttng_ust_tracepoint_module_register(tracepoints, 3);
}

/* From liblttng-ust, as its own liblttng-ust-dl.so uses it; in no public header. */
extern void lttng_ust_dl_update(void *ip) __attribute__((weak));

/* spi_payload_ops.libraries_update: under the control lock, so nobody forks */
void tp_libraries_update(void)
{
	if (lttng_ust_dl_update)
		lttng_ust_dl_update(NULL);
}

typedef void (*load_probe)(void *data, void *ip, void *baddr, const char *path, uint64_t memsz, uint8_t has_build_id, uint8_t has_debug_link);
typedef void (*build_id_probe)(void *data, void *ip, void *baddr, uint8_t *id, size_t size);
typedef void (*unload_probe)(void *data, void *ip, void *baddr);

/* spi_payload_ops.library_event */
void tp_library_event(const struct spi_object *object, const char *path, uint64_t from, int is_load)
{
	/* what readers take off an address, to find it in the file: of a program at a fixed address nothing */
	uint64_t begin = is_load && object->is_exe && !object->bias ? 0 : object->low;
	void *ip = (void *) from, *baddr = (void *) begin;
	struct spi_thread *t = &spi_thread;
	int *error, error_was;
	tp_reader *reader;

	if (tp_closed > TP_CAREFUL || !CMM_ACCESS_ONCE((is_load ? &load : &unload)->state))
		return;
	error = tp_errno(t);
	error_was = *error;
	reader = tp_read_lock(t);
	if (!is_load) {
		TP_PROBES_CALL(&unload, unload_probe, ip, baddr);
	} else {
		TP_PROBES_CALL(&load, load_probe, ip, baddr, path, object->high - begin, object->build_id_size != 0, 0);
		if (object->build_id_size && CMM_ACCESS_ONCE(build_id.state))
			TP_PROBES_CALL(&build_id, build_id_probe, ip, baddr, (uint8_t *) object->build_id, object->build_id_size);
	}
	tp_read_unlock(reader);
	*error = error_was;
}
