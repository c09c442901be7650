/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* forks - 60 children, one after the other, each of which makes one call and ends. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noipa)) int in_child(int a)
{
	return a + 123456789;
}

int main(void)
{
	for (int i = 0; i < 60; i++) {
		if (!fork()) {
			in_child(i);
			exit(0);
		}
		wait(NULL);
	}
	return 0;
}
