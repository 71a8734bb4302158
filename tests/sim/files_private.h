/* Inside the simulated file calls: descriptors, and the C library's names. */
#ifndef LAGRA_SIM_FILES_PRIVATE_H
#define LAGRA_SIM_FILES_PRIVATE_H

#include <errno.h>
#include <stdbool.h>

#include "disk.h"
#include "faults.h"
#include "files.h"
#include "scheduler.h"
#include "world.h"

#define FD_FIRST (1 << 20)
#define FDS_MAX  4096

struct open_file {
    struct inode *inode; /* NULL: free */
    uint64_t at;
    int flags;
    bool has_lock;
    unsigned
        session; /* of the mount that it was opened on (fleet.h); 1 where there is one machine */
    bool owes_error; /* a sync failed that another descriptor of the file was told of */
};

/* NULL when the descriptor is not of the simulated disk. */
struct open_file *file_of(int fd);
struct inode *inode_of_path(int folder_fd, const char *path, struct inode **ret_folder,
                            const char **ret_last);
/* Starts a call: a point, and its fault. -1 with errno set, or 0. */
int begin_call(enum site site, const struct inode *inode);
int begin_call_of_file(enum site site, const struct open_file *file);
/* The same, of a file that is known by its name. */
int begin_call_of_name(enum site site, int folder_fd, const char *path);
int fail_call(int error);

/* Defines a function under the name that the linker sees, whatever the headers make of it. */
#define CALL(type, name, ...)                                                                      \
    type sim_##name(__VA_ARGS__) __asm__(#name);                                                   \
    type sim_##name(__VA_ARGS__)
#define ALSO(type, other, name, ...)                                                               \
    type sim_##other(__VA_ARGS__) __asm__(#other) __attribute__((alias(#name)))

#endif
