/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* spi-codemap for control.t: writes a byte to the file COUNTED for each time that it is run. */
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = open(COUNTED, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0 || write(fd, "x", 1) != 1)
		return 1;
	execv(CODEMAP, argv);
	return 1;
}
