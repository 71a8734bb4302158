/* Decisions of the operations on one entity: see entity_operations.h. */
#include "base/log.h"
#include "table/entity_operations.h"
#include "table/filter.h"

/* ---- Get Entity ---- */

enum error get_entity_decide(struct decision *d, const struct get_entity_parameters *p,
                             struct get_entity_result *r)
{
    const struct table_resource *requested = table_requested(d);
    struct filter_subject subject = { .partition_key = requested->partition_key,
                                      .row_key = requested->row_key,
                                      .record = table_state(d)->stored };

    if (p->filter && !filter_holds(p->filter, &subject))
        return E_ResourceNotFound;
    if (!entity_decode(d->arena, table_state(d)->stored, &r->entity)) {
        log_line(LOG_ERROR, "an entity's record is corrupt");
        return decision_fail_store(d, STORE_CORRUPT);
    }
    r->entity.partition_key = requested->partition_key;
    r->entity.row_key = requested->row_key;
    r->table = table_state(d)->table.name;
    return OK;
}

/* ---- Insert, Update, Merge and Delete Entity ---- */

/* Returns the instant of a change, which becomes the ETag; it is greater than the ETag of any
 * earlier state in the partition. */
static instant begin_change(struct decision *d)
{
    d->subject.etag = etag_after(d->subject.etag, d->now);
    return d->subject.etag.v;
}

/* Writes the entity under the key in the request. Returns OK, E_TooManyProperties,
 * E_EntityTooLarge. */
static enum error write_entity(struct decision *d, const struct entity *entity)
{
    struct bytes key = entity_key_encode(d->arena, entity->row_key);
    struct bytes value;
    enum error e = entity_check(entity);

    if (e)
        return e;
    value = entity_encode(d->arena, entity);
    if (key.len + value.len > STORE_RECORD_BYTES)
        return decision_fail(d, E_EntityTooLarge,
                             "The entity exceeds the limit of the server's store.");
    changes_put(d->changes, RECORD_LISTED, key, value, NULL, 0);
    return OK;
}

enum error insert_entity_decide(struct decision *d, const struct insert_entity_parameters *p,
                                struct insert_entity_result *r)
{
    if (d->subject.exists)
        return E_EntityAlreadyExists;
    r->entity = p->entity;
    r->entity.timestamp = begin_change(d);
    r->table = table_state(d)->table.name;
    return write_entity(d, &r->entity);
}

enum error replace_entity_decide(struct decision *d, const struct replace_entity_parameters *p,
                                 struct replace_entity_result *r)
{
    struct entity entity = p->entity;

    (void)r;
    entity.timestamp = begin_change(d);
    return write_entity(d, &entity);
}

enum error merge_entity_decide(struct decision *d, const struct merge_entity_parameters *p,
                               struct merge_entity_result *r)
{
    struct entity base, entity = p->entity;

    (void)r;
    entity.timestamp = begin_change(d);
    if (d->subject.exists) {
        if (!entity_decode(d->arena, table_state(d)->stored, &base)) {
            log_line(LOG_ERROR, "an entity's record is corrupt");
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
    changes_delete(d->changes, RECORD_LISTED,
                   entity_key_encode(d->arena, table_requested(d)->row_key));
    return OK;
}
