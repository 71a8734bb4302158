/* What a simulated client asks of the File service: one share, whose names are few, so that clients meet
 * in directories that others create, move and delete. */
#ifndef LAGRA_SIM_FS_ASK_H
#define LAGRA_SIM_FS_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FS_NAMES     3u
#define FS_DEPTH     8u /* no path that is asked for is longer */
#define FS_DATE_SIZE 32u
/* The bytes of a file are slots that were each written by one request, or never: of a run's size
 * (fs_slot_bytes()). */
#define FS_SLOTS     8u

enum fs_op {
    FS_CREATE_SHARE,
    FS_SNAPSHOT_SHARE,
    FS_DELETE_SNAPSHOT,
    FS_CREATE_DIRECTORY,
    FS_CREATE_FILE,
    FS_PUT_RANGE,
    FS_CLEAR_RANGE,
    FS_SET_LENGTH,
    FS_SET_METADATA,
    FS_SET_DIRECTORY_METADATA,
    FS_RENAME_FILE,
    FS_RENAME_DIRECTORY,
    FS_DELETE_FILE,
    FS_DELETE_DIRECTORY,
    FS_GET_FILE, /* from here on: reads */
    FS_HEAD_FILE,
    FS_HEAD_DIRECTORY,
    FS_OPS
};

struct fs_path {
    unsigned depth; /* 0: the root */
    unsigned char names[FS_DEPTH];
    unsigned char cases; /* bit i: name i is written in the other case */
};

/* A snapshot of the share, as somebody was told of it. */
struct fs_snapshot {
    uint64_t commit; /* that made it; 0: the share itself */
    char date[FS_DATE_SIZE];
};

struct fs_ask {
    enum fs_op op;
    struct fs_snapshot snapshot; /* of what is read, or deleted */
    struct fs_path path;
    struct fs_path source; /* of a rename, whose target is the path */
    bool replaces;
    unsigned metadata; /* 0: none */
    unsigned length;   /* slots, of a file that is created or cut */
    bool has_range;
    unsigned from, to; /* slots, of what is read or written */
    unsigned seed;     /* of what is written */
};

extern const char *const fs_op_names[FS_OPS];
/* In both cases, as they are written in a URL. */
extern const char *const fs_names[2][FS_NAMES];

/* Bytes of a slot in this run: below what lies inline, or so that a file has several units. */
uint32_t fs_slot_bytes(void);
bool fs_same_path(const struct fs_path *one, const struct fs_path *other);
/* For people. */
void fs_ask_format(const struct fs_ask *ask, char *to, size_t size);

#endif
