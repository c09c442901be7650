#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
# Files of prototypes: the installed ones agree with the system's headers; types and places are those that debug info of the
# same declarations gives; errors name line and column; broken files do no harm. With sanitizers as well.
. "${SPI_TOP_SRCDIR:?}/tests/lib/codemap.sh"
cd "$tmp" || exit 1
export HOME=$tmp XDG_CONFIG_HOME=$tmp/config
installed=$SPI_TOP_SRCDIR/prototypes

# ---- the installed files and the headers ----

# headers FILE HEADERS UNKNOWN - each declaration of FILE is one of the headers', but for those named UNKNOWN
headers() {
	local unknown
	python3 "$SPI_TOP_SRCDIR/tests/lib/prototypes-c.py" "$1.c" "$installed/$1" "$2" > names || return 1
	$CC -std=gnu11 -D_LARGEFILE64_SOURCE -fno-builtin -fsyntax-only -Wredundant-decls "$1.c" 2> err
	ok $? "$1: no declaration differs from the headers'" || diag "$(grep -A3 error: err | head -n 20)"
	unknown=$(grep -o "redundant redeclaration of .[A-Za-z_0-9]*" err | sed 's/.*[^A-Za-z_0-9]//' | sort -u | comm -13 - <(sort -u names) | tr '\n' ' ')
	is "$unknown" "$3" "$1: the headers have each of its $(wc -l < names) functions, but $(wc -w <<< "$3")"
	# What no header has, the compiler knows by itself.
	is "$($CC -std=gnu11 -D_LARGEFILE64_SOURCE -fsyntax-only -Wbuiltin-declaration-mismatch "$1.c" 2>&1 | grep 'builtin-decl' | head -n 3)" '' "$1: none differs from the compiler's own"
}

all=sys/socket.h,fcntl.h,unistd.h,sys/stat.h,sys/types.h,sys/uio.h,sys/ioctl.h,sys/file.h,sys/statfs.h,sys/statvfs.h,utime.h
all+=,sys/time.h,sys/sendfile.h,sys/xattr.h,sys/mman.h,sys/mount.h,dirent.h,glob.h,fnmatch.h,wordexp.h,sys/select.h,poll.h
all+=,sys/epoll.h,sys/eventfd.h,sys/signalfd.h,sys/timerfd.h,sys/inotify.h,netdb.h,arpa/inet.h,net/if.h,ifaddrs.h,sys/shm.h
all+=,malloc.h,stdlib.h,string.h,strings.h,inttypes.h,sys/random.h,stdio.h,spawn.h,sched.h,sys/wait.h,sys/resource.h
all+=,sys/prctl.h,sys/ptrace.h,sys/sysinfo.h,sys/utsname.h,getopt.h,signal.h,time.h,sys/times.h,pthread.h,semaphore.h
all+=,sys/sem.h,sys/msg.h,mqueue.h,dlfcn.h,ctype.h,wctype.h,wchar.h,locale.h,langinfo.h,libintl.h,iconv.h,pwd.h,grp.h
all+=,syslog.h,termios.h,regex.h,search.h,error.h,err.h,execinfo.h,libgen.h,sys/auxv.h,mntent.h,errno.h
chk='__asprintf_chk __fgets_chk __fprintf_chk __memcpy_chk __memmove_chk __memset_chk __printf_chk __read_chk __snprintf_chk'
chk+=' __sprintf_chk __strcat_chk __strcpy_chk __strncpy_chk __vfprintf_chk __vsnprintf_chk'
headers libc.txt "<${all//,/>,<}>" "$chk accept4 recvmmsg sendmmsg "
headers libm.txt '<math.h>,<complex.h>,<fenv.h>' ''
headers libz.txt '<zlib.h>' ''
for file in libc libm libz; do
	"$codemap" prototypes "$installed/$file.txt" > out 2> err
	is "$? $(grep -c ';$' out) $(wc -l < err)" "0 $(grep -v '^typedef' "$installed/$file.txt" | grep -c ');$') 0" "$file.txt: each declaration is read"
done

# ---- types, widths, places: as the compiler's debug info has them ----

cat > types.txt << 'END'
typedef unsigned short u16;
typedef u16 again;
typedef struct opaque opaque_t;
typedef int (*handler_t)(int, const char *);
typedef double real;
enum color { RED, GREEN = 5, BLUE, LAST = BLUE | 0x10 };
enum sign { MINUS = -1, ZERO, PLUS };
enum big { SMALL = 1, HUGE = 0xffffffff };
struct pair { int a; long b; };
struct mixed { double d; int i; };
struct floats { float x, y; };
struct bytes { char c[4]; short s[3]; };
struct large { long l[4]; };
typedef struct { char name[8]; struct pair inner; } nested;
union both { int i; float f; };
END
cat > functions.txt << 'END'
signed char f_i8(signed char a, unsigned char b, char c);
short f_i16(short a, unsigned short b, u16 c, again d);
int f_i32(int a, unsigned b, unsigned int c, signed d);
long f_i64(long a, unsigned long b, long long c, unsigned long long int d, long int e, short int g);
__int128 f_i128(__int128 a, unsigned __int128 b);
_Bool f_bool(_Bool a);
float f_float(float a, double b, long double c);
real f_real(real a, int b, real c, float d);
long double f_ld(int a, long double b);
double _Complex f_complex(float _Complex a, double _Complex b);
const char *f_text(const char *a, char *b, unsigned char *c, const signed char *d, char **e, char *const *g);
void f_void(void);
void *f_pointers(void *a, const void *b, int *c, opaque_t *d, struct unknown *e, int **g, const volatile int *h);
handler_t f_handler(handler_t a, int (*b)(void), void (*(*c)(int))(long));
void (*f_signal(int a, void (*b)(int)))(int);
int f_arrays(int a[2], const char b[], char *const c[], double d[][2 + 1 - 0 * 1 + 0]);
int f_many(int a, int b, int c, int d, int e, int g, int h, int i, long j);
double f_doubles(double a, double b, double c, double d, double e, double g, double h, double i, double j, int k);
enum color f_enum(enum color a, enum sign b, enum big c);
struct pair f_pair(struct pair a, struct mixed b, struct floats c);
struct large f_large(struct large a, struct bytes b, int c);
nested f_nested(nested a, union both b, int c);
int f_variadic(const char *format, ...);
int f_qualified(const int a, volatile long b, char *restrict c);
_Noreturn void f_noreturn(int status);
END
sed -i 's/double d\[\]\[[^;]*);$/double *d);/' functions.txt
{ cat types.txt; sed 's/;$/ { for (;;) ; }/' functions.txt; } > lib.c
cat types.txt functions.txt > lib.txt
$CC -g -O0 -w -fPIC -shared -o libt.so lib.c && cp libt.so full.so && strip libt.so || { echo 'Bail out! no compiler'; exit 1; }
# fields FILE OPTION... - what a map says of values and flags, without names of sources and addresses
fields() {
	local file=$1
	shift
	"$codemap" map "$@" --pattern 'f_*' -o m "$file" || return 1
	mapdump m | grep -E '^(func|in|out|label)' | awk -F'\t' '/^func/ { split($1, w, " "); print "func", w[4], w[5] "\t" $2 "\t" $3; next } { print }'
}
fields full.so > dwarf.out
fields libt.so --prototypes lib.txt > text.out
# The compiler's enumerations are unsigned without negative values; here they stand for int.
sed -Ei 's/^((in|out) .* ENUM .* 4) 0 (10)/\1 1 \3/' dwarf.out text.out
is "$(diff dwarf.out text.out)" '' "$(grep -c ^func dwarf.out) functions, $(grep -cE '^(in|out)' dwarf.out) fields: as from debug info"
is "$("$codemap" list libt.so | grep -c '()$')" "$(grep -c ^func dwarf.out)" 'nothing of them is known without the file'

# ---- which declaration is taken ----

mkdir -p config/lttng-spi/prototypes
list() { "$codemap" list "$@" 2> err; }
cp libt.so libnamed.so.1.2
printf 'library libnamed.so.1 libother.so.*\nint f_void(char only);\n' > one.txt
is "$(list --prototypes one.txt --pattern f_void libnamed.so.1.2) $(list --prototypes one.txt --pattern f_void libt.so)" 'f_void(char only) f_void()' 'a library of that name alone'
cp libt.so libother.so.7
is "$(list --prototypes one.txt --pattern f_void libother.so.7)" 'f_void(char only)' 'a pattern'
printf 'int f_void(int second);\n' > two.txt
is "$(list --prototypes one.txt --prototypes two.txt --pattern f_void libnamed.so.1.2)" 'f_void(int second)' 'the later file'
is "$(list --prototypes two.txt --prototypes one.txt --pattern f_void libnamed.so.1.2)" 'f_void(char only)' 'in its order'
is "$(list --prototypes two.txt --pattern f_void full.so)" 'f_void()' 'debug info comes first'
cp two.txt config/lttng-spi/prototypes/mine.txt
is "$(list --pattern f_void libt.so)" 'f_void(int second)' "the user's directory"
printf 'int f_void(ssize_t known);\n' > config/lttng-spi/prototypes/other.txt
is "$(list --pattern f_void libt.so)" 'f_void(ssize_t known)' 'types of the files before are known'
rm config/lttng-spi/prototypes/*.txt
cat > alias.c << 'END'
int target(int a) { return a; }
int nickname(int) __attribute__((alias("target")));
int __nickname(int) __attribute__((alias("target")));
END
$CC -O1 -w -fPIC -shared -s -o libalias.so alias.c
printf 'int nickname(short n);\n' > alias.txt
is "$(list --prototypes alias.txt --pattern target libalias.so) $(list --prototypes alias.txt --pattern __nickname libalias.so)" \
	'target(short n) __nickname(short n)' "by any of a function's names"

# ---- the cache ----

export LTTNG_SPI_CACHE=$tmp/cache
first=$(list --prototypes two.txt --pattern f_void libt.so) && list --prototypes two.txt libt.so > /dev/null
printf 'int f_void(long third);\n' > two.txt
second=$(list --prototypes two.txt --pattern f_void libt.so)
is "$first $second $(list --prototypes two.txt libt.so | grep '^f_void') $(list --pattern f_void libt.so)" \
	'f_void(int second) f_void(long third) f_void(long third) f_void()' 'a changed file is used at once'
export LTTNG_SPI_CACHE=

# ---- errors ----

# wrong TEXT LINE:COLUMN MESSAGE - of bad.txt
wrong() {
	printf "$1" > bad.txt
	"$codemap" prototypes bad.txt > out 2> err
	local status=$?
	is "$status $(wc -l < err) $(head -n 1 err)" "1 1 bad.txt:$2: $3" "${3:0:60}"
}
wrong 'int f(int a)\nint g(void);\n' 2:1 "expected ';' before 'int'"
wrong 'int f(int a' 1:12 "expected ',' or ')' before the end of the file"
wrong 'int f(foo_t a);\n' 1:7 'unknown type foo_t: declare it before, as in: typedef unsigned int foo_t;'
wrong '\n\n  unsigned float f(void);\n' 3:3 "these words are no type of C's together"
wrong 'int x;\n' 1:5 'x is no function: variables are not traced'
wrong 'int f(void);\nint f(long);\n' 2:5 'f is declared in line 1 already'
wrong 'int f(struct s a);\n' 1:16 'its members are not declared: only a pointer to it can be passed'
wrong 'int f(enum e a);\n' 1:12 'enum e is not declared before'
wrong 'enum e { A, A };\n' 1:13 'A is there twice'
wrong 'enum e { A = B };\n' 1:14 'B is no value of an enumeration before'
wrong 'enum e { A = 0x1ffffffff };\n' 1:10 'its values do not fit into 32 bits'
wrong 'struct s { int a : 3; };\n' 1:18 'bit-fields are not known here: declare a pointer to the struct'
wrong 'struct s { long a[1000]; };\n' 1:18 'an array of more than 4096 bytes'
wrong 'struct s { };\n' 1:12 'it has no member: leave the brackets out, and declare pointers to it'
wrong 'int f(void), 7;\n' 1:14 "expected a function's name before '7'"
wrong 'static int f(void);\n' 1:1 'static is not known here: leave it out'
wrong 'int f(int, ...) /* no\nend' 1:17 'a comment that does not end: */ is missing'
wrong 'int f(@);\n' 1:7 'a character that no declaration has: @'
wrong 'int f(\001);\n' 1:7 'a character that no declaration has: byte 0x01'
wrong 'int f(void);\nlibrary\n' 2:1 "which library? Its file's name is missing, as in: library libz.so.1"
wrong 'int f(void)[3];\n' 1:6 'a function cannot return an array'
wrong 'int f(char a[99999999999999999999]);\n' 1:14 'a number of more than 64 bits'
"$codemap" prototypes missing.txt . one.txt > out 2> err
is "$? $(tr '\n' '|' < err)$(tail -n 1 out)" '1 missing.txt: cannot be read: No such file or directory|.: cannot be read: not a regular file|int f_void(char only);' \
	'a file that cannot be read, a directory: the others are listed'
truncate -s 2M huge.txt
is "$("$codemap" prototypes huge.txt 2>&1)" 'huge.txt: cannot be read: more than 1 MB: no file of prototypes' 'a huge file'

# A user's broken file, or one that cannot be read: named, and nothing else changes.
printf 'int f_void(int;\n' > config/lttng-spi/prototypes/bad.txt
ln -s /nowhere config/lttng-spi/prototypes/gone.txt
cp lib.txt config/lttng-spi/prototypes/good.txt
is "$(list --pattern f_void --pattern f_bool libt.so | tr '\n' ' ')$(grep -c 'bad.txt:1:15: .*; and 1 more file' err)$(wc -l < err)" \
	'f_bool(_Bool a) f_void() 11' "a user's broken files are named, the others are used" || diag "$(cat err)"
rm config/lttng-spi/prototypes/*

# ---- hostile files ----

cat > fuzz.py << 'END'
import random
import sys
data, seed = open(sys.argv[1], 'rb').read(), int(sys.argv[2])
r = random.Random(seed)
b = bytearray(data)
how = seed % 4
if how == 0:
    b = b[:r.randrange(len(b))]
elif how == 1:
    for _ in range(r.randrange(1, 20)):
        b[r.randrange(len(b))] = r.randrange(256)
elif how == 2:
    tokens = [b'(', b')', b'*', b'[', b']', b'{', b'}', b';', b',', b'...', b'struct ', b'enum ', b'typedef ', b'int ', b'/*', b'"', b'=', b'9']
    for _ in range(r.randrange(1, 8)):
        at = r.randrange(len(b))
        b[at:at] = r.choice(tokens) * r.randrange(1, 4)
else:
    for _ in range(4):
        at, to, n = r.randrange(len(b)), r.randrange(len(b)), r.randrange(200)
        b[to:to] = b[at:at + n]
sys.stdout.buffer.write(b)
END
bad=0
for ((seed = 0; seed < ${SPI_FUZZ_COUNT:-120}; seed++)); do
	python3 fuzz.py lib.txt $seed > m.txt
	timeout 20 "$codemap" list --prototypes m.txt libt.so > out 2> err
	status=$?
	if [ $status -ne 0 ] || [ "$(wc -l < err)" -gt 1 ] || grep -qE 'signal|please report|Sanitizer' err; then
		diag "seed $seed: status $status: $(head -n 1 err)"
		bad=$((bad + 1))
	fi
done
is $bad 0 "${SPI_FUZZ_COUNT:-120} broken files: the object is listed, and a line at most names the file"

# deep NAME TEXT - some 900 kB made by python's TEXT: an answer in time, and one line
deep() {
	python3 -c "import sys; sys.stdout.write(($2)[:1000000])" > deep.txt
	timeout 30 "$codemap" list --prototypes deep.txt --pattern f_void libt.so > out 2> err
	local status=$?
	is "$status $(wc -l < err) $(grep -cE 'signal|please report|Sanitizer' err)" "0 ${3:-1} 0" "hostile: $1" || diag "$(head -n 3 err)"
}
deep 'stars' '"int f(int " + "*" * 900000'
deep 'brackets of a declarator' '"int " + "(" * 900000'
deep 'brackets of a constant' '"enum e { A = " + "(" * 900000'
deep 'signs of a constant' '"enum e { A = " + "-" * 900000'
deep 'structs in structs' '"struct { " * 90000'
deep 'functions that take functions' '"int f(" + "int (*)(" * 90000'
deep 'arrays of arrays' '"int f(int a" + "[3]" * 90000'
deep 'one name, many times' '"".join("typedef int t; struct s%d { t a; }; int f%d(t);\n" % (i, i) for i in range(18000))' 0
deep 'structs that double' '"struct s0 { char c; };" + "".join("struct s%d { struct s%d a, b; };" % (i + 1, i) for i in range(40)) + "int f_void(struct s40 x);"'
deep 'a struct by value of all that it may have' '"struct s0 { char c; };" + "".join("struct s%d { struct s%d a, b; };" % (i + 1, i) for i in range(12)) + "void f_void(struct s12 x);"' 0
tap_done
