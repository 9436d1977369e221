/* A folder that holds no more than so many bytes; loaded with LD_PRELOAD by small_disk.py, with
   SMALL_DISK=bytes:folder. What lies below the folder is added up at every growth, so that any number of processes
   share the room. Like a real disk it takes the part of a write that fits, then says that it is full. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096LL
static char below[4096];
static long long quota;
static __thread long long used;

__attribute__((constructor)) static void read_settings(void) {
    const char *said = getenv("SMALL_DISK"), *colon = said ? strchr(said, ':') : NULL;
    if (colon) { quota = atoll(said); strncpy(below, colon + 1, sizeof below - 1); }
}
static long long pages(long long size) { return (size + PAGE - 1) / PAGE * PAGE; }
static int add(const char *path, const struct stat *status, int kind, struct FTW *where) {
    if (kind == FTW_F) used += pages(status->st_size);
    return 0;
}
static int inside(int handle) {
    char link[64], path[4096];
    if (!quota) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strncmp(path, below, strlen(below)) == 0;
}
/* How many of n bytes fit at this place; -1 with ENOSPC where none does. */
static ssize_t fits(int handle, off_t at, size_t n) {
    struct stat status;
    if (!n || !inside(handle) || fstat(handle, &status) || !S_ISREG(status.st_mode)) return n;
    if (at < 0) at = fcntl(handle, F_GETFL) & O_APPEND ? status.st_size : lseek(handle, 0, SEEK_CUR);
    long long end = at + n, has = pages(status.st_size);
    if (end <= has) return n;
    used = 0;
    nftw(below, add, 16, FTW_PHYS);
    long long room = has + (quota - used) / PAGE * PAGE;
    if (end <= room) return n;
    if (room > at) return room - at;
    errno = ENOSPC;
    return -1;
}
#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int f, const void *b, size_t n) { REAL(write); ssize_t k = fits(f, -1, n); return k < 0 ? -1 : real(f, b, k); }
ssize_t pwrite(int f, const void *b, size_t n, off_t o) { REAL(pwrite); ssize_t k = fits(f, o, n); return k < 0 ? -1 : real(f, b, k, o); }
ssize_t pwrite64(int f, const void *b, size_t n, off64_t o) { REAL(pwrite64); ssize_t k = fits(f, o, n); return k < 0 ? -1 : real(f, b, k, o); }
ssize_t writev(int f, const struct iovec *v, int n) { REAL(writev); return inside(f) ? (n ? write(f, v[0].iov_base, v[0].iov_len) : 0) : real(f, v, n); }
ssize_t sendfile(int o, int i, off_t *at, size_t n) { REAL(sendfile); ssize_t k = fits(o, -1, n); return k < 0 ? -1 : real(o, i, at, k); }
ssize_t copy_file_range(int i, off64_t *a, int o, off64_t *b, size_t n, unsigned f) { REAL(copy_file_range); if (inside(o)) { errno = EOPNOTSUPP; return -1; } return real(i, a, o, b, n, f); }
static int grows(int f, long long n) { struct stat s; return !fstat(f, &s) && n > s.st_size && fits(f, s.st_size, n - s.st_size) != n - s.st_size; }
int posix_fallocate(int f, off_t o, off_t n) { REAL(posix_fallocate); return inside(f) && grows(f, o + n) ? ENOSPC : real(f, o, n); }
int posix_fallocate64(int f, off64_t o, off64_t n) { REAL(posix_fallocate64); return inside(f) && grows(f, o + n) ? ENOSPC : real(f, o, n); }
/* libc's own buffers go around write() */
size_t fwrite(const void *b, size_t size, size_t n, FILE *file) {
    REAL(fwrite);
    if (!quota || !size || !inside(fileno(file))) return real(b, size, n, file);
    fflush(file);
    ssize_t k = fits(fileno(file), -1, size * n);
    size_t done = k < 0 ? 0 : real(b, size, k / size, file);
    fflush(file);
    if (done < n) errno = ENOSPC;
    return done;
}
