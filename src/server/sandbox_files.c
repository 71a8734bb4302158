/* Which files a server may open, by Landlock: rules for folders and files that are there when it starts. A file
 * that is exchanged while the server runs (a certificate, a log) is another one by its new name, so the rule is for
 * its folder. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "server/option_rows.h"
#include "server/sandbox.h"

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14) /* since version 3 */
#endif
#define ABI_TRUNCATE 3

#define READ         (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE        (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE)
/* Of files that are written again and again; of the data folder. */
#define LOG          (READ | WRITE | LANDLOCK_ACCESS_FS_MAKE_REG)
#define DATA                                                                                       \
    (LOG | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                        \
     LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_REFER)
/* All that is limited: running programs and making devices, too. */
#define HANDLED                                                                                    \
    (DATA | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |                            \
     LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM)
/* What a rule for a file may say. */
#define OF_FILES (LANDLOCK_ACCESS_FS_READ_FILE | WRITE)

struct ruleset {
    int fd;
    uint64_t handled;
    const char **failed; /* the path of a rule that cannot be made */
};

int sandbox_files_abi(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/* What is not there needs no rule. */
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

/* Of a file that an option names: its folder, and itself where it lies elsewhere by a link. */
static bool allow_named(const struct ruleset *ruleset, const char *path, uint64_t access)
{
    char folder[PATH_MAX], real[PATH_MAX];
    struct stat status;

    if (!*path)
        return true;
    /* A device, a pipe: it is never exchanged. */
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
    (void)file_make_folders(options->location); /* else opening it says why not */
    return allow(ruleset, options->location, DATA);
}

/* Libraries (that of copies is loaded when it is needed), names and addresses, authorities, what the machine has,
 * and the program, whose locks say where it listens (running_servers.h). */
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
/* What a test build writes for its tests. */
static bool allow_tests(const struct ruleset *ruleset)
{
    const char *replies = getenv("LAGRA_REPLY_LOG");

    return !replies || allow_named(ruleset, replies, LOG);
}
#endif

bool sandbox_files_enter(const struct options *options, int abi, const char **ret_path)
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
