/* Inside content/ only: a window, a part of a content as fragments that can be read: what the map
 * says there, with its references to runs followed. */
#ifndef LAGRA_CONTENT_WINDOW_H
#define LAGRA_CONTENT_WINDOW_H

#include "content/segment.h"

/* Bytes that lie together. */
struct fragment {
    uint64_t start, end;       /* offsets in the content */
    const struct piece *piece; /* NULL: in memory, or a hole */
    uint32_t piece_offset;     /* of the byte at `start` */
    const char *bytes;         /* when piece is NULL; NULL: a hole, zeros */
};

struct window {
    uint64_t start, end; /* end 0: nothing is loaded */
    struct fragment *fragments;
    size_t count;
};

/* All of a range must be checked before it is sent from a file, so a larger one would keep its
 * client waiting: it is checked while it is sent. */
#define FILE_RANGE_MAX   (8u << 20)

/* A segment, and a window of it; far more than SEGMENT_WEIGHT_MAX decodes to. */
#define READER_ARENA_MAX (8u << 20)

/* The map of a content, read from its beginning to its end or here and there: one segment and one
 * window lie in memory at a time. */
struct map_reader {
    struct snapshot *snapshot;
    struct arena *arena;
    bool rewinds; /* the arena is this reader's alone: a window takes the place of another */
    struct content content;
    struct arena_mark empty, with_segment;
    struct segment segment; /* end 0: none is loaded */
};
void map_reader_init(struct map_reader *reader, struct snapshot *snapshot, struct arena *arena,
                     bool rewinds, const struct content *content);
/* Loads a window that holds the byte at `offset`, and perhaps those behind it up to `end`; the one
 * before is gone.
 * returns STORE_OK, STORE_WAIT, STORE_CORRUPT, STORE_IO; after an error, no window
 *         is loaded */
enum store_result map_reader_load(struct map_reader *reader, uint64_t offset, uint64_t end,
                                  struct window *ret_window);
/* Reads the map of the next windows from an offset on, and forgets it: what the store had to fetch
 * for it lies in its cache when the reader comes there. Stops at what cannot be read. Under
 * STORE_MAY_BLOCK. */
void map_reader_look_ahead(const struct map_reader *reader, uint64_t from, uint64_t end);

#endif
