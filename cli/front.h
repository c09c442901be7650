/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The entry of the module with the project's own commands (lttng-front.so), for the program that loads it. */
#ifndef SPI_CLI_FRONT_H
#define SPI_CLI_FRONT_H

#define SPI_FRONT_MODULE	"lttng-front.so"
#define SPI_FRONT_MAIN		"spi_front_main"

/*
 * spi_front_main() - carry out a command that is ours: trace, help trace, or one of the three with --spi.
 * argv is main()'s, with the general options. Returns the exit status.
 */
int spi_front_main(int argc, char **argv) __attribute__((visibility("default")));

#endif /* SPI_CLI_FRONT_H */
