/* The record engine. Its reads are points of the scheduler; its options are drawn for each life:
 * small buffers, so that flushes, compactions and changes of logs and of the MANIFEST run beside
 * the requests, which else fill one buffer in hours. */
#include "engine.h"

#include "commits.h"
#include "scheduler.h"
#include "world.h"

typedef struct rocksdb_t rocksdb_t;
typedef struct rocksdb_options_t rocksdb_options_t;
void rocksdb_options_set_write_buffer_size(rocksdb_options_t *options, size_t size);
void rocksdb_options_set_arena_block_size(rocksdb_options_t *options, size_t size);
void rocksdb_options_set_level0_file_num_compaction_trigger(rocksdb_options_t *options, int count);

static bool is_small;

static void call_real(const char *name, rocksdb_options_t *options, size_t size)
{
    void (*real)(rocksdb_options_t *, size_t);

    *(void **)&real = sched_real(name);
    real(options, size);
}

void rocksdb_options_set_write_buffer_size(rocksdb_options_t *options, size_t size)
{
    is_small = world_once_in(STREAM_FAULTS, 2);
    if (is_small) {
        size = 65536u << world_draw(STREAM_FAULTS, 3);
        rocksdb_options_set_level0_file_num_compaction_trigger(
            options, 2 + (int)world_draw(STREAM_FAULTS, 3));
    }
    call_real("rocksdb_options_set_write_buffer_size", options, size);
}

void rocksdb_options_set_arena_block_size(rocksdb_options_t *options, size_t size)
{
    call_real("rocksdb_options_set_arena_block_size", options, is_small ? 8192 : size);
}

typedef struct rocksdb_t rocksdb_t;
/* ---- where it is ---- */

rocksdb_t *rocksdb_open(const rocksdb_options_t *options, const char *name, char **ret_error);
uint64_t rocksdb_get_latest_sequence_number(rocksdb_t *db);

static rocksdb_t *open_db;
static bool is_opening;

/* A start writes too, so after an interrupted start the number is above commits that had been lost before it. */
static void note_opened_at(uint64_t sequence)
{
    if (commits_here()->opened_at == 0 || sequence < commits_here()->opened_at)
        commits_here()->opened_at = sequence;
}

rocksdb_t *rocksdb_open(const rocksdb_options_t *options, const char *name, char **ret_error)
{
    rocksdb_t *(*real)(const rocksdb_options_t *, const char *, char **);

    *(void **)&real = sched_real("rocksdb_open");
    is_opening = true;
    open_db = real(options, name, ret_error);
    is_opening = false;
    if (open_db)
        note_opened_at(rocksdb_get_latest_sequence_number(open_db));
    return open_db;
}

bool engine_is_opening(void)
{
    return is_opening;
}

uint64_t engine_opened_at(void)
{
    return commits_here()->opened_at;
}

uint64_t engine_sequence(void)
{
    return rocksdb_get_latest_sequence_number(open_db);
}

/* ---- reads ---- */

typedef struct rocksdb_readoptions_t rocksdb_readoptions_t;
typedef struct rocksdb_pinnableslice_t rocksdb_pinnableslice_t;
typedef struct rocksdb_iterator_t rocksdb_iterator_t;
rocksdb_pinnableslice_t *rocksdb_get_pinned(rocksdb_t *db, const rocksdb_readoptions_t *options,
                                            const char *key, size_t size, char **ret_error);
void rocksdb_iter_seek(rocksdb_iterator_t *iterator, const char *key, size_t size);

rocksdb_pinnableslice_t *rocksdb_get_pinned(rocksdb_t *db, const rocksdb_readoptions_t *options,
                                            const char *key, size_t size, char **ret_error)
{
    static rocksdb_pinnableslice_t *(*real)(rocksdb_t *, const rocksdb_readoptions_t *,
                                            const char *, size_t, char **);
    rocksdb_pinnableslice_t *value;

    if (!real)
        *(void **)&real = sched_real("rocksdb_get_pinned");
    sched_point();
    value = real(db, options, key, size, ret_error);
    sched_point();
    return value;
}

void rocksdb_iter_seek(rocksdb_iterator_t *iterator, const char *key, size_t size)
{
    static void (*real)(rocksdb_iterator_t *, const char *, size_t);

    if (!real)
        *(void **)&real = sched_real("rocksdb_iter_seek");
    sched_point();
    real(iterator, key, size);
    sched_point();
}
