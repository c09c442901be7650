/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Answers to requests. Only the supervising process calls these functions. */
#ifndef CODEMAP_REQUEST_ANSWER_H
#define CODEMAP_REQUEST_ANSWER_H

#include "codemap/request/request.h"

/* What a child or the cache gave: mapped memory. `status` is an enum exit_status; the message is out already unless EXIT_DONE. */
struct answer {
	const void *data;
	uint64_t size;
	int status;
};

/* Have a child answer the request. `marks`: the cached file that holds the marks in use, or NULL. */
struct answer answer_get(const struct request *request, struct object *object, const char *marks);
/* The map for a REQUEST_MAP, _LIST or _TREE: from the cache, or from a child, and then kept in the cache. */
struct answer answer_map(struct request *request, struct object *object);
/* Write a map for each pattern to fd (map/each.h): those from the cache, and the others from one child. */
void answer_each(const struct request *request, struct object *object, int fd);

#endif /* CODEMAP_REQUEST_ANSWER_H */
