/* Between a program and the C library: lets one call that changes a file below a folder fail, or one allocation, and writes down what was
   done to files. `failing_calls.py` builds it, preloads it and says by faults_begin what is to fail. The calls are counted from 1. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NOTHING, IO_ERROR, FULL, PARTIAL, KILL, DONE, NO_LOCK }; /* DONE: it is done, and an error is the answer */

static char root[PATH_MAX];
static long seen, fails_at, allocated, no_memory_at;
static int how, for_good, trace = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void faults_begin(const char *folder, long at, int kind, int from_then_on, long memory_at, int trace_to) {
    fails_at = at; how = kind; for_good = from_then_on; no_memory_at = memory_at; trace = trace_to;
    seen = allocated = 0;
    snprintf(root, sizeof root, "%s", folder);
}
void faults_end(void) { root[0] = 0; no_memory_at = 0; trace = -1; }
long faults_seen(void) { return seen; }
long faults_allocated(void) { return allocated; }

static int below(const char *path, char *whole) {
    size_t length = strlen(root);
    if (!length || !path) return 0;
    if (path[0] == '/') snprintf(whole, PATH_MAX, "%s", path);
    else {
        char here[PATH_MAX / 2];
        if (!getcwd(here, sizeof here)) return 0;
        snprintf(whole, PATH_MAX, "%s/%s", here, path);
    }
    return !strncmp(whole, root, length) && whole[length] == '/';
}
static int of(int fd, char *whole) {
    char link[64];
    if (!root[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, whole, PATH_MAX - 1);
    if (length < 0) return 0;
    whole[length] = 0;
    length = strlen(root);
    return !strncmp(whole, root, length) && (whole[length] == '/' || !whole[length]); /* the folder itself can be synced */
}
/* What is to become of this call. */
static int fate(void) {
    if (how == NO_LOCK) return NOTHING;
    long number = __atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST);
    if (!fails_at || number < fails_at || (number > fails_at && !for_good)) return NOTHING;
    if (how == KILL) kill(getpid(), SIGKILL);
    return how;
}
static int refused(int why) { errno = why == FULL ? ENOSPC : EIO; return -1; }
/* A line of the trace: what, inode, place, length, then two paths, each with its length, and the bytes. */
static void note(char what, unsigned long inode, long place, const void *bytes, unsigned long length, const char *one, const char *other) {
    struct { char what[8]; unsigned long inode, place, length, one, other; } head = { { what }, inode, place, length, strlen(one), strlen(other) };
    if (trace < 0) return;
    pthread_mutex_lock(&lock);
    syscall(SYS_write, trace, &head, sizeof head);
    syscall(SYS_write, trace, one, head.one);
    syscall(SYS_write, trace, other, head.other);
    for (unsigned long done = 0; done < length;) done += syscall(SYS_write, trace, (const char *)bytes + done, length - done);
    pthread_mutex_unlock(&lock);
}
static unsigned long inode_of(int fd) { struct stat about; return fstat(fd, &about) ? 0 : about.st_ino; }

static ssize_t written(int fd, const void *bytes, size_t length, long place, int positioned) {
    char whole[PATH_MAX];
    ssize_t done;
    int guarded = of(fd, whole), why = guarded ? fate() : NOTHING;
    if (why == PARTIAL && length > 1) length /= 2;
    else if (why && why != DONE) return refused(why);
    if (guarded && !positioned) {
        place = lseek(fd, 0, fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
        done = syscall(SYS_write, fd, bytes, length);
    } else done = positioned ? syscall(SYS_pwrite64, fd, bytes, length, place) : syscall(SYS_write, fd, bytes, length);
    if (done < 0) return -1;
    if (guarded) note('w', inode_of(fd), place, bytes, done, "", "");
    return why == DONE ? refused(why) : done;
}
ssize_t write(int fd, const void *bytes, size_t length) { return written(fd, bytes, length, 0, 0); }
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t place) { return written(fd, bytes, length, place, 1); }
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t place) { return written(fd, bytes, length, place, 1); }
ssize_t writev(int fd, const struct iovec *parts, int count) {
    char whole[PATH_MAX];
    if (!of(fd, whole)) return syscall(SYS_writev, fd, parts, count);
    return count ? written(fd, parts[0].iov_base, parts[0].iov_len, 0, 0) : 0; /* whoever calls goes on with the rest */
}
/* NumPy writes arrays so, and the C library would not come here again. */
size_t fwrite(const void *bytes, size_t size, size_t number, FILE *to) {
    char whole[PATH_MAX];
    if (!of(fileno(to), whole)) return fwrite_unlocked(bytes, size, number, to);
    size_t done = 0;
    fflush(to);
    while (done < size * number) {
        ssize_t more = written(fileno(to), (const char *)bytes + done, size * number - done, 0, 0);
        if (more < 0) return done / size;
        done += more;
    }
    return number;
}
ssize_t sendfile(int to, int from, off_t *place, size_t length) {
    char whole[PATH_MAX];
    if (of(to, whole)) { errno = ENOTSOCK; return -1; } /* then it is copied by write */
    return syscall(SYS_sendfile, to, from, place, length);
}
ssize_t sendfile64(int to, int from, off64_t *place, size_t length) { return sendfile(to, from, place, length); }
ssize_t copy_file_range(int from, off64_t *a, int to, off64_t *b, size_t length, unsigned flags) {
    char whole[PATH_MAX];
    if (of(to, whole)) { errno = EXDEV; return -1; }
    return syscall(SYS_copy_file_range, from, a, to, b, length, flags);
}
static int synced(int fd, long call) {
    char whole[PATH_MAX];
    int guarded = of(fd, whole), why = guarded ? fate() : NOTHING;
    if (why && why != DONE) return refused(why);
    if (syscall(call, fd)) return -1;
    if (guarded) note('s', inode_of(fd), 0, "", 0, whole, "");
    return why ? refused(why) : 0;
}
int fsync(int fd) { return synced(fd, SYS_fsync); }
int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }
static int shortened(int fd, off_t length) {
    char whole[PATH_MAX];
    int guarded = of(fd, whole), why = guarded ? fate() : NOTHING;
    if (why && why != DONE) return refused(why);
    if (syscall(SYS_ftruncate, fd, length)) return -1;
    if (guarded) note('t', inode_of(fd), length, "", 0, "", "");
    return why ? refused(why) : 0;
}
int ftruncate(int fd, off_t length) { return shortened(fd, length); }
int ftruncate64(int fd, off64_t length) { return shortened(fd, length); }

static int opened(int at, const char *path, int flags, mode_t mode) {
    char whole[PATH_MAX];
    int changes = flags & (O_CREAT | O_TRUNC) && (at == AT_FDCWD || path[0] == '/') && below(path, whole), made = 0, why = NOTHING;
    if (changes) {
        made = access(whole, F_OK) != 0;
        if ((made || flags & O_TRUNC) && (why = fate()) && why != DONE) return refused(why);
    }
    int fd = syscall(SYS_openat, at, path, flags, mode);
    if (fd >= 0 && changes && made) note('c', inode_of(fd), 0, "", 0, whole, "");
    else if (fd >= 0 && changes && flags & O_TRUNC) note('t', inode_of(fd), 0, "", 0, "", "");
    if (fd >= 0 && why == DONE) { syscall(SYS_close, fd); return refused(why); }
    return fd;
}
#define MODE mode_t mode = 0; if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, int); va_end(more); }
int open(const char *path, int flags, ...) { MODE return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int at, const char *path, int flags, ...) { MODE return opened(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE return opened(at, path, flags | O_LARGEFILE, mode); }

/* A change of names: rename, link, unlink, mkdir, rmdir. */
static int named(char what, const char *from, const char *to, int (*act)(const char *, const char *)) {
    char one[PATH_MAX] = "", other[PATH_MAX] = "";
    struct stat about = { 0 };
    int guarded = below(from, one) | (to && below(to, other)), why = guarded ? fate() : NOTHING;
    if (why && why != DONE) return refused(why);
    if (guarded) lstat(one, &about);
    if (act(from, to)) return -1;
    if (guarded && what == 'm') lstat(one, &about);
    if (guarded) note(what, about.st_ino, 0, "", 0, one, other);
    return why ? refused(why) : 0;
}
static mode_t made_with;
static int do_rename(const char *a, const char *b) { return syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 0); }
static int do_link(const char *a, const char *b) { return syscall(SYS_linkat, AT_FDCWD, a, AT_FDCWD, b, 0); }
static int do_unlink(const char *a, const char *b) { (void)b; return syscall(SYS_unlinkat, AT_FDCWD, a, 0); }
static int do_rmdir(const char *a, const char *b) { (void)b; return syscall(SYS_unlinkat, AT_FDCWD, a, AT_REMOVEDIR); }
static int do_mkdir(const char *a, const char *b) { (void)b; return syscall(SYS_mkdirat, AT_FDCWD, a, made_with); }
int rename(const char *from, const char *to) { return named('r', from, to, do_rename); }
int link(const char *from, const char *to) { return named('l', from, to, do_link); }
int unlink(const char *path) { return named('u', path, NULL, do_unlink); }
int rmdir(const char *path) { return named('d', path, NULL, do_rmdir); }
int mkdir(const char *path, mode_t mode) { made_with = mode; return named('m', path, NULL, do_mkdir); }

/* Locks, which a file system of another machine may not have, or lose: with NO_LOCK they alone are counted, and fail. */
static int unlockable(int fd) {
    char whole[PATH_MAX];
    if (!of(fd, whole)) return 0;
    if (how == NO_LOCK) {
        long number = __atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST);
        if (!fails_at || number < fails_at || (number > fails_at && !for_good)) return 0;
        errno = ENOLCK;
        return 1;
    }
    return 0;
}
int flock(int fd, int operation) {
    if (!(operation & LOCK_UN) && unlockable(fd)) return -1;
    return syscall(SYS_flock, fd, operation);
}
static int controlled(int fd, int command, void *given) {
    int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
    if (locks && ((struct flock *)given)->l_type != F_UNLCK && unlockable(fd)) return -1;
    return syscall(SYS_fcntl, fd, command, given);
}
#define GIVEN va_list more; va_start(more, command); void *given = va_arg(more, void *); va_end(more);
int fcntl(int fd, int command, ...) { GIVEN return controlled(fd, command, given); }
int fcntl64(int fd, int command, ...) { GIVEN return controlled(fd, command, given); }

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static int no_memory(void) {
    long number = __atomic_add_fetch(&allocated, 1, __ATOMIC_RELAXED);
    if (number != no_memory_at) return 0;
    errno = ENOMEM;
    return 1;
}
void *malloc(size_t size) { return root[0] && no_memory() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return root[0] && no_memory() ? NULL : __libc_calloc(count, size); }
void *realloc(void *held, size_t size) { return root[0] && no_memory() ? NULL : __libc_realloc(held, size); }
