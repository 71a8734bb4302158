/* Enters the sandbox: see sandbox.h. Landlock has rules for files and directories that exist at the
 * start. A file that is replaced while the server runs (a certificate, a log) is a new file, so the
 * rule is for its directory. */
#include "server/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "cluster/fence_helper.h"
#include "server/option_rows.h"

#define WORDS_SIZE 96

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14) /* since version 3 */
#endif
/* Oldest usable version; before it, files cannot be renamed or linked across directories. */
#define ABI_LEAST    2
#define ABI_TRUNCATE 3

#define READ         (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE        (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE)
/* Access to files that are reopened; access to the data directory. */
#define LOG          (READ | WRITE | LANDLOCK_ACCESS_FS_MAKE_REG)
#define DATA                                                                                       \
    (LOG | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                        \
     LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_REFER)
/* All restricted accesses, including running programs and creating devices. */
#define HANDLED                                                                                    \
    (DATA | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |                            \
     LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM)
/* Accesses that a rule for a file may contain. */
#define OF_FILES (LANDLOCK_ACCESS_FS_READ_FILE | WRITE)

struct ruleset {
    int fd;
    uint64_t handled;
    const char **failed; /* receives the path of a failed rule */
};

/* Returns the version of Landlock of this kernel, or less than 1 if it has none. */
static int landlock_abi(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/* Adds a rule. Nonexistent paths need none. */
static bool allow(const struct ruleset *ruleset, const char *path, uint64_t access)
{
    static char failed[PATH_MAX];
    struct landlock_path_beneath_attr rule = { .parent_fd = open(path, O_PATH | O_CLOEXEC) };
    struct stat status;
    bool allowed;
    int error;

    if (rule.parent_fd < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    rule.allowed_access = access & ruleset->handled;
    if (fstat(rule.parent_fd, &status) == 0 && !S_ISDIR(status.st_mode))
        rule.allowed_access &= OF_FILES;
    allowed =
        syscall(SYS_landlock_add_rule, ruleset->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    error = errno;
    close(rule.parent_fd);
    if (!allowed) {
        snprintf(failed, sizeof failed, "%s", path);
        *ruleset->failed = failed;
        errno = error;
    }
    return allowed;
}

/* Adds a rule for the directory of a file that an option names, and for the file itself if it is a
 * link to elsewhere. */
static bool allow_named(const struct ruleset *ruleset, const char *path, uint64_t access)
{
    char folder[PATH_MAX], real[PATH_MAX];
    struct stat status;

    if (!*path)
        return true;
    /* Devices and pipes are never replaced. */
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return allow(ruleset, path, access);
    snprintf(folder, sizeof folder, "%s", path);
    if (!allow(ruleset, dirname(folder), access))
        return false;
    if (!realpath(path, real))
        return true;
    snprintf(folder, sizeof folder, "%s", real);
    return allow(ruleset, dirname(folder), access);
}

static bool allow_options(const struct ruleset *ruleset, const struct options *options)
{
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];
        bool is_log = row->action == SET_LOG;
        const char *path;

        if (!is_log && row->action != SET_FILE && row->action != CONFIG)
            continue;
        memcpy(&path, (const char *)options + row->offset, sizeof path);
        if (path && !allow_named(ruleset, path, is_log ? LOG : READ))
            return false;
    }
    if (options->in_memory)
        return true;
    if (options->cluster) /* with the data directories of all its cells */
        return allow(ruleset, options->cluster, DATA);
    (void)file_make_folders(options->location); /* on failure, opening the store reports it */
    return allow(ruleset, options->location, DATA);
}

/* Allows shared libraries (libcurl is loaded on first use), name resolution, certificate
 * authorities, information on the machine, and the program file, whose locks announce the server
 * (running_servers.h). */
static bool allow_system(const struct ruleset *ruleset)
{
    static const char *const read[] = {
        "/etc",         "/usr",           "/lib",           "/lib64",
        "/proc/self",   "/proc/self/exe", "/proc/sys",      "/proc/meminfo",
        "/sys/devices", "/sys/kernel/mm", "/sys/fs/cgroup", "/run/systemd/resolve",
        "/dev/urandom", "/dev/random",
    };

    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++)
        if (!allow(ruleset, read[i], READ))
            return false;
    return allow(ruleset, "/dev/null", READ | WRITE);
}

#ifdef LAGRA_GATES
/* Allows the file that a test build writes for its tests. */
static bool allow_tests(const struct ruleset *ruleset)
{
    const char *replies = getenv("LAGRA_REPLY_LOG");

    return !replies || allow_named(ruleset, replies, LOG);
}
#endif

/* Restricts files. Returns false with errno set, and the path in *ret_path (static). */
static bool restrict_files(const struct options *options, int abi, const char **ret_path)
{
    struct landlock_ruleset_attr attributes = { .handled_access_fs = HANDLED };
    struct ruleset ruleset = { .failed = ret_path };
    bool entered;
    int error;

    if (abi < ABI_TRUNCATE)
        attributes.handled_access_fs &= ~LANDLOCK_ACCESS_FS_TRUNCATE;
    ruleset.handled = attributes.handled_access_fs;
    ruleset.fd = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    if (ruleset.fd < 0)
        return false;
    entered = allow_system(&ruleset) && allow_options(&ruleset, options) &&
#ifdef LAGRA_GATES
              allow_tests(&ruleset) &&
#endif
              syscall(SYS_landlock_restrict_self, ruleset.fd, 0) == 0;
    error = errno;
    close(ruleset.fd);
    errno = error;
    return entered;
}

/* Restricts files, and writes a description for the log. Returns false after printing why on
 * stderr. */
static bool enter_files(const struct options *options, char words[WORDS_SIZE])
{
    int abi = landlock_abi();
    const char *path = "";

    if (options->sandbox == SANDBOX_LOG)
        snprintf(words, WORDS_SIZE,
                 "files are not restricted, because violations cannot be logged");
    else if (abi < ABI_LEAST)
        snprintf(words, WORDS_SIZE, "files are not restricted (this kernel lacks Landlock)");
    else
        snprintf(words, WORDS_SIZE, "files are restricted by Landlock, version %d", abi);
    if (options->sandbox == SANDBOX_LOG || abi < ABI_LEAST || restrict_files(options, abi, &path))
        return true;
    fprintf(stderr, "lagra: --sandbox on: files cannot be restricted: %s%s%s\n", path,
            *path ? ": " : "", strerror(errno));
    return false;
}

/* Starts the process that runs --fenceCommand. Returns false after printing why on stderr. */
static bool start_fence_helper(const struct options *options)
{
    if (!options->fence_command || fence_helper_start(options->fence_command))
        return true;
    fprintf(stderr,
            "lagra: --sandbox: the process that runs --fenceCommand cannot be started: %s\n",
            strerror(errno));
    return false;
}

bool sandbox_enter(const struct options *options, char words[SANDBOX_WORDS_SIZE])
{
    char files[WORDS_SIZE];
    unsigned count;

    words[0] = '\0';
    if (options->sandbox == SANDBOX_OFF)
        return true;
    if (!start_fence_helper(options))
        return false;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
        fprintf(stderr, "lagra: --sandbox: %s\n", strerror(errno));
        return false;
    }
    if (!enter_files(options, files))
        return false;
    if (sandbox_calls_enter(options->sandbox == SANDBOX_LOG, &count)) {
        snprintf(words, SANDBOX_WORDS_SIZE, "%s; %u system calls are allowed, others are %s", files,
                 count, options->sandbox == SANDBOX_LOG ? "logged by the kernel" : "refused");
        return true;
    }
    if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) {
        snprintf(words, SANDBOX_WORDS_SIZE,
                 "%s; system calls are not restricted, because this kernel does not support "
                 "seccomp filters",
                 files);
        return true;
    }
    fprintf(stderr, "lagra: --sandbox: system calls cannot be restricted: %s\n", strerror(errno));
    return false;
}
