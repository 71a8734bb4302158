#include "file/entry_file.h"

#include "base/log.h"
#include "service/small_record.h"

static enum store_result read_node(struct decision *d, struct arena *arena, uint64_t id,
                                   struct file *ret_file)
{
    const struct tree *tree = &file_state(d)->tree;
    struct decision_part *part = decision_open(d, tree_partition(arena, tree->space, id), NULL);
    enum store_result result = file_read(tree, part->before, arena, ret_file);

    decision_leave(d, part);
    /* A share snapshot retains its records until the snapshot is deleted. */
    return result == STORE_NOT_FOUND && tree->at ? STORE_CONFLICT : result;
}

/* Reads the entry again after its node was found missing. */
static enum store_result read_entry_again(struct decision *d, uint64_t directory,
                                          struct tree_entry *entry)
{
    uint64_t id = entry->id;
    struct decision_part *part =
        decision_open(d, tree_partition(d->arena, file_state(d)->tree.space, directory), NULL);
    enum store_result result =
        tree_entry_read(part->before, d->arena, TREE_CASE_IGNORED, &entry->name, entry);

    decision_leave(d, part);
    if (result || entry->id != id)
        return result;
    log_line(LOG_ERROR, "the node %016llx has a directory entry but no record",
             (unsigned long long)id);
    return STORE_CORRUPT;
}

enum store_result entry_file_read(struct decision *d, uint64_t directory, struct arena *arena,
                                  struct tree_entry *entry, struct file *ret_file)
{
    enum store_result result = read_node(d, arena, entry->id, ret_file);

    while (result == STORE_NOT_FOUND) {
        result = read_entry_again(d, directory, entry);
        if (result)
            return result;
        result = read_node(d, arena, entry->id, ret_file);
    }
    if (!result && ret_file->kind != entry->kind)
        return record_is_unknown("a file that is a directory, or the other way round",
                                 entry->name.given);
    return result;
}
