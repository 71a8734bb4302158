/* Records retained for snapshots, for the code that changes them: see tree.h, versions.h. */
#include <assert.h>

#include "base/codec.h"
#include "tree/versions.h"

void version_retain(struct tree *tree, struct decision_part *part, struct bytes key,
                    uint64_t written, struct bytes value)
{
    struct changes *changes;

    if (written > tree->state.last_retained)
        return;
    assert(!memchr(key.ptr, '\0', key.len));
    changes = tree_change(tree, part);
    version_put(changes, part->partition.key, key, tree->state.last_retained, value);
    version_mark_put(changes);
}

/* ---- the service's records ---- */

static struct bytes joined(struct arena *arena, const struct tree_record *record)
{
    struct text value;

    text_init(&value, arena, VARINT_BYTES_MAX + record->value.len);
    encode_u64(&value, record->written);
    text_add(&value, record->value);
    return text_bytes(&value);
}

enum store_result tree_record_read(const struct tree *tree, struct read_view *before,
                                   struct arena *arena, struct bytes key,
                                   struct tree_record *ret_record)
{
    struct bytes value;
    enum store_result result = version_read(tree, before, arena, key, &value);

    if (!result)
        version_split(value, ret_record);
    return result;
}

void tree_record_retain(struct tree *tree, struct decision_part *part, struct bytes key,
                        const struct tree_record *record)
{
    version_retain(tree, part, key, record->written, joined(tree->d->arena, record));
}

void tree_record_put(struct tree *tree, struct decision_part *part, struct bytes key,
                     struct bytes value)
{
    tree_record_rewrite(tree, part, key, &(struct tree_record){ value, tree->state.generation });
}

void tree_record_rewrite(struct tree *tree, struct decision_part *part, struct bytes key,
                         const struct tree_record *record)
{
    changes_put(tree_change(tree, part), RECORD_INNER, key, joined(tree->d->arena, record), NULL,
                0);
}

void tree_record_delete(struct tree *tree, struct decision_part *part, struct bytes key)
{
    changes_delete(tree_change(tree, part), RECORD_INNER, key);
}
