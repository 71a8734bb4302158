/* What writes entities: Insert Entity, Update Entity and Insert Or Replace Entity, Merge Entity and
 * Insert Or Merge Entity, Delete Entity. Their rows say which of them needs the entity to be there,
 * and which conditions count; a write gives the entity the instant of its decision as timestamp and
 * ETag.
 * rest: Inserting-and-Updating-Entities; semantics 6 */
#include "base/log.h"
#include "table/entity_operations.h"

/* The instant of a change: above that of the state before, which every state of the partition
 * is. */
static instant timestamp_of(const struct decision *d)
{
    return etag_after(d->subject.etag, d->now).v;
}

/* Writes the entity where the request names it.
 * returns OK, E_TooManyProperties, E_EntityTooLarge */
static enum error write_entity(struct decision *d, const struct entity *entity)
{
    struct bytes key = entity_key_encode(d->arena, entity->row_key);
    struct bytes value;
    enum error e = entity_check(entity);

    if (e)
        return e;
    value = entity_encode(d->arena, entity);
    if (key.len + value.len > store_limits(d->store).record_bytes)
        return decision_fail(d, E_EntityTooLarge, "The server's store takes smaller entities.");
    changes_put(d->changes, RECORD_LISTED, key, value, NULL, 0);
    return OK;
}

enum error insert_entity_decide(struct decision *d, const struct insert_entity_parameters *p,
                                struct insert_entity_result *r)
{
    if (d->subject.exists)
        return E_EntityAlreadyExists;
    r->entity = p->entity;
    r->entity.timestamp = timestamp_of(d);
    r->table = table_state(d)->table.name;
    return write_entity(d, &r->entity);
}

enum error replace_entity_decide(struct decision *d, const struct replace_entity_parameters *p,
                                 struct replace_entity_result *r)
{
    struct entity entity = p->entity;

    entity.timestamp = r->timestamp = timestamp_of(d);
    return write_entity(d, &entity);
}

enum error merge_entity_decide(struct decision *d, const struct merge_entity_parameters *p,
                               struct merge_entity_result *r)
{
    struct entity base, entity = p->entity;

    entity.timestamp = r->timestamp = timestamp_of(d);
    if (d->subject.exists) {
        if (!entity_decode(d->arena, table_state(d)->stored, &base)) {
            log_line(LOG_ERROR, "an entity's record is damaged");
            return decision_fail_store(d, STORE_CORRUPT);
        }
        entity = entity_merge(d->arena, &base, &entity);
    }
    return write_entity(d, &entity);
}

enum error delete_entity_decide(struct decision *d, const struct delete_entity_parameters *p,
                                struct delete_entity_result *r)
{
    (void)p;
    (void)r;
    changes_delete(d->changes, RECORD_LISTED, entity_key_encode(d->arena, table_asked(d)->row_key));
    return OK;
}
