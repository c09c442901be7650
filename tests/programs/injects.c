/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Brings a payload file into another process: injects pid|port NUMBER FILE. Prints the result, and the message. */
#include <lttng/spi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	char error[300] = "";
	int r;

	if (argc != 4)
		return 2;
	if (!strcmp(argv[1], "pid"))
		r = spi_inject_pid(atoi(argv[2]), argv[3], error, sizeof(error));
	else
		r = spi_inject_port((uint16_t) atoi(argv[2]), argv[3], error, sizeof(error));
	printf("%d %s\n", r, error);
	return r < 0;
}
