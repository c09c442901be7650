# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
#
# Histograms of `--payload hist`, and the same from a list of values.

# table FUNCTION - what was printed of it, without the bars
table() { awk -v f="$1" '$1 == f { on = 1; next } /^$/ { on = 0 } on' trace.err | sed 's/ *|.*//; s/   */ /'; }

# expect FILE - the same from a list of values, a line each
expect() {
	python3 - "$1" <<-'END'
		import sys
		values = [int(float(line)) for line in open(sys.argv[1])]
		def unit(power):
		    return f"{1 << power % 10}{' KMGTPE'[power // 10].strip()}"
		def row(bucket):
		    if -2 < bucket < 2:
		        return f'[{bucket}]'
		    low, high = unit(abs(bucket) - 1), unit(abs(bucket))
		    return f'(-{high}, -{low}]' if bucket < 0 else f'[{low}, {high})'
		buckets = [abs(v).bit_length() * (-1 if v < 0 else 1) for v in values]
		average = abs(sum(values)) // len(values) * (-1 if sum(values) < 0 else 1)
		print(f'count {len(values)}, sum {sum(values)}, average {average}, minimum {min(values)}, maximum {max(values)}')
		for b in range(min(buckets), max(buckets) + 1):
		    print(row(b), buckets.count(b))
	END
}

