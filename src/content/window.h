/* A window: a part of content as readable fragments, with references to runs resolved. Internal to
 * content/. */
#ifndef LAGRA_CONTENT_WINDOW_H
#define LAGRA_CONTENT_WINDOW_H

#include "content/segment.h"

/* Contiguous bytes. */
struct fragment {
    uint64_t start, end;       /* offsets in the content */
    const struct piece *piece; /* NULL for bytes in memory, or a hole */
    uint32_t piece_offset;     /* offset in the piece of the fragment's first byte */
    const char *bytes;         /* used if piece is NULL; NULL for a hole, which reads as zeros */
};

struct window {
    uint64_t start, end; /* end is 0 if not loaded */
    struct fragment *fragments;
    size_t count;
};

/* Maximum size of a range that is verified completely before it is sent from a file. A larger range
 * would delay the client, so it is verified while it is sent. */
#define FILE_RANGE_MAX   (8u << 20)

/* Memory for a segment and a window of it; far more than a segment of SEGMENT_WEIGHT_MAX needs. */
#define READER_ARENA_MAX (8u << 20)

/* Reads the map of content, sequentially or at random, with one segment and one window in
 * memory. */
struct map_reader {
    struct read_view *snapshot;
    struct arena *arena;
    /* rewind the arena, which belongs to this reader, before a window is loaded */
    bool rewinds;
    struct content content;
    struct arena_mark empty, with_segment;
    struct segment segment; /* end 0 means not loaded */
};
void map_reader_init(struct map_reader *reader, struct read_view *snapshot, struct arena *arena,
                     bool rewinds, const struct content *content);
/* Frees the previous window and loads the window that contains the byte at `offset`, and possibly
 * following bytes up to `end`. Returns STORE_OK, STORE_WAIT, STORE_CORRUPT, STORE_IO; after an
 * error, no window is loaded. */
enum store_result map_reader_load(struct map_reader *reader, uint64_t offset, uint64_t end,
                                  struct window *ret_window);
/* Reads the map of the next windows after an offset, to bring it into the store's cache before the
 * reader needs it. Stops at the first error. Requires STORE_MAY_BLOCK. */
void map_reader_read_ahead(const struct map_reader *reader, uint64_t from, uint64_t end);

#endif
