/* Writes down, in the file WATCH_LOG, every call that would change something below the folder WATCH_BELOW: one line
   "call path" each. Loaded with LD_PRELOAD by watched.py where strace is not allowed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void note(const char *call, int folder, const char *path) {
    const char *below = getenv("WATCH_BELOW"), *log = getenv("WATCH_LOG");
    char whole[2 * PATH_MAX], link[64], line[2 * PATH_MAX + 64];
    if (!below || !log || !path) return;
    if (path[0] == '/') snprintf(whole, sizeof whole, "%s", path);
    else {
        if (folder == AT_FDCWD) strcpy(link, "/proc/self/cwd");
        else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, whole, PATH_MAX);
        if (length < 0) return;
        snprintf(whole + length, PATH_MAX, "/%s", path);
    }
    if (strncmp(whole, below, strlen(below))) return;
    int n = snprintf(line, sizeof line, "%s %s\n", call, whole);
    int file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT, 0600);
    syscall(SYS_write, file, line, n);
    syscall(SYS_close, file);
}
static int writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || flags & (O_TRUNC | O_CREAT); }
#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define MODE mode_t mode = 0; if (flags & (O_CREAT | O_TMPFILE)) { va_list a; va_start(a, flags); mode = va_arg(a, mode_t); va_end(a); }
#define OPEN(name) int name(const char *p, int flags, ...) { REAL(name); MODE if (writes(flags)) note("open", AT_FDCWD, p); return real(p, flags, mode); }
#define OPENAT(name) int name(int d, const char *p, int flags, ...) { REAL(name); MODE if (writes(flags)) note("open", d, p); return real(d, p, flags, mode); }
#define FOPEN(name) FILE *name(const char *p, const char *how) { REAL(name); if (strpbrk(how, "wa+")) note("open", AT_FDCWD, p); return real(p, how); }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64) FOPEN(fopen) FOPEN(fopen64)
int truncate(const char *p, off_t n) { REAL(truncate); note("truncate", AT_FDCWD, p); return real(p, n); }
int unlink(const char *p) { REAL(unlink); note("unlink", AT_FDCWD, p); return real(p); }
int unlinkat(int d, const char *p, int f) { REAL(unlinkat); note("unlink", d, p); return real(d, p, f); }
int rename(const char *a, const char *b) { REAL(rename); note("rename", AT_FDCWD, a); note("rename", AT_FDCWD, b); return real(a, b); }
int renameat(int c, const char *a, int d, const char *b) { REAL(renameat); note("rename", c, a); note("rename", d, b); return real(c, a, d, b); }
int chmod(const char *p, mode_t m) { REAL(chmod); note("chmod", AT_FDCWD, p); return real(p, m); }
int fchmodat(int d, const char *p, mode_t m, int f) { REAL(fchmodat); note("chmod", d, p); return real(d, p, m, f); }
int utimensat(int d, const char *p, const struct timespec t[2], int f) { REAL(utimensat); note("utimensat", d, p); return real(d, p, t, f); }
