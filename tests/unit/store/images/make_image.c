/* Makes the data folder of an image with this program's version of the store:
 *
 *   make_image FOLDER
 *   tar --sparse --exclude=LOG* --exclude=OPTIONS* -C FOLDER -czf images/vN.tar.gz .
 *
 * A part of the records is in files of the first run, the rest in the log of a second run that ends
 * without an orderly close. */
#include "image.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct store *open_folder(const char *folder)
{
    const struct store_options options = { .location = folder, .sync = true };
    const char *problem = NULL;
    struct store *store;

    if (store_open_embedded(&options, &store, &problem)) {
        fprintf(stderr, "%s: %s\n", folder, problem);
        exit(1);
    }
    return store;
}

static uint64_t put(struct store *store, struct partition partition, enum record_family family,
                    const char *key, const char *value)
{
    struct arena *arena = arena_new(1u << 20);
    struct changes *changes = changes_new(arena);
    enum store_result result;
    uint64_t sequence;

    changes_put(changes, family, bytes_from_string(key), bytes_from_string(value), NULL, 0);
    result = commit_new(store, partition, changes, &sequence);
    assert(result == STORE_OK);
    arena_free(arena);
    return sequence;
}

/* Two records that refer to the same pieces. */
static void put_shared(struct store *store, struct partition partition)
{
    struct arena *arena = arena_new(1u << 20);
    struct changes *changes = changes_new(arena);
    const struct piece *pieces;
    struct stage *stage;
    enum store_result result;
    size_t count;

    result = stage_pattern(store, IMAGE_SHARED_LENGTH, IMAGE_SHARED_SEED, 1000, &stage);
    assert(result == STORE_OK);
    pieces = stage_pieces(stage, &count);
    changes_put(changes, RECORD_LISTED, bytes_from_string("one"), bytes_from_string("1"), pieces,
                count);
    changes_put(changes, RECORD_LISTED, bytes_from_string("two"), bytes_from_string("2"), pieces,
                count);
    result = commit_new(store, partition, changes, NULL);
    assert(result == STORE_OK);
    stage_close(stage);
    arena_free(arena);
}

static void drop_space(struct store *store, struct partition partition, struct guid space)
{
    struct arena *arena = arena_new(1u << 20);
    struct changes *changes = changes_new(arena);
    enum store_result result;

    changes_drop_space(changes, space);
    result = commit_new(store, partition, changes, NULL);
    assert(result == STORE_OK);
    arena_free(arena);
}

int main(int argc, char **argv)
{
    const struct partition plain = { image_space, IMAGE_PLAIN };
    const struct partition freed = { image_space, IMAGE_FREED };
    struct store *store;
    struct store_usage usage;

    if (argc != 2) {
        fprintf(stderr, "usage: make_image FOLDER\n");
        return 2;
    }
    clock_advance(IMAGE_CLOCK_AHEAD);
    store = open_folder(argv[1]);
    put(store, plain, RECORD_LISTED, "", "listed");
    put(store, plain, RECORD_INNER, "inner", "within");
    put(store, (struct partition){ image_space, IMAGE_ODD }, RECORD_LISTED, "k", "odd");
    put_stream(store, (struct partition){ image_space, IMAGE_STREAM }, "s", IMAGE_STREAM_LENGTH,
               IMAGE_STREAM_SEED);
    put_shared(store, (struct partition){ image_space, IMAGE_SHARED });
    put_stream(store, freed, "s", 10000, 9);
    put(store, (struct partition){ image_dropped, IMAGE_PLAIN }, RECORD_LISTED, "k", "gone");
    delete_stream(store, freed, "s");
    store_collect_now(store, &usage);
    store_close(store);

    store = open_folder(argv[1]);
    drop_space(store, plain, image_dropped);
    wait_durable(store, put(store, (struct partition){ image_space, IMAGE_LATE }, RECORD_LISTED,
                            "k", "in the log"));
    _exit(0);
}
