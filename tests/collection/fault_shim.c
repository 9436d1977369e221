/* Makes the n-th write, sync or rename below a folder fail; loaded with LD_PRELOAD by fault_driver.py.
   It stands below SQLite and Python alike, so it meets every byte that is written. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char below[4096];
static long fail_at, n_steps;
static int error_code, forever;

void fault_arm(const char *folder, long at, int code, int for_ever) {
    strncpy(below, folder, sizeof below - 1);
    fail_at = at; error_code = code; forever = for_ever; n_steps = 0;
}
long fault_steps(void) { return n_steps; }

static int fails(void) {
    n_steps++;
    if (n_steps == fail_at || (forever && n_steps > fail_at)) { errno = error_code; return 1; }
    return 0;
}
static int inside(const char *path) { return fail_at && strncmp(path, below, strlen(below)) == 0; }
static int handle_inside(int handle) {
    char link[64], path[4096];
    if (!fail_at) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return inside(path);
}
#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int f, const void *b, size_t n) { REAL(write); return handle_inside(f) && fails() ? -1 : real(f, b, n); }
ssize_t pwrite(int f, const void *b, size_t n, off_t o) { REAL(pwrite); return handle_inside(f) && fails() ? -1 : real(f, b, n, o); }
ssize_t pwrite64(int f, const void *b, size_t n, off64_t o) { REAL(pwrite64); return handle_inside(f) && fails() ? -1 : real(f, b, n, o); }
int fsync(int f) { REAL(fsync); return handle_inside(f) && fails() ? -1 : real(f); }
int fdatasync(int f) { REAL(fdatasync); return handle_inside(f) && fails() ? -1 : real(f); }
int ftruncate(int f, off_t n) { REAL(ftruncate); return handle_inside(f) && fails() ? -1 : real(f, n); }
int ftruncate64(int f, off64_t n) { REAL(ftruncate64); return handle_inside(f) && fails() ? -1 : real(f, n); }
int rename(const char *a, const char *b) { REAL(rename); return inside(b) && fails() ? -1 : real(a, b); }
int mkdir(const char *p, mode_t m) { __typeof__(&mkdir) real = (__typeof__(&mkdir))dlsym(RTLD_NEXT, "mkdir"); return inside(p) && fails() ? -1 : real(p, m); }
