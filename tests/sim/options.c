/* The record engine's options, drawn for each life: small buffers, so that flushes, compactions and
 * changes of logs and of the MANIFEST run beside the requests, which else fill one buffer in hours. */
#include "scheduler.h"
#include "world.h"

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
