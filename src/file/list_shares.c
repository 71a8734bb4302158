/* List Shares: every share is a partition of the account's space, with its snapshots before it, and
 * before these what was deleted of the name. */
#include "base/log.h"
#include "file/share_operations.h"

struct page {
    struct decision *d;
    const struct list_shares_parameters *asked;
    uint32_t shown, looked_at;
    struct share_place next;
};

static bool is_full(const struct page *page)
{
    return page->shown == page->asked->listing.max || page->asked->sink->full;
}

/* One that was deleted is gone when its days are over, whether its task has run or not. */
static bool is_asked_for(const struct page *page, struct share_key key, const struct share *share)
{
    return (key.snapshot == 0 || page->asked->snapshots) &&
           (key.deleted == 0 || (page->asked->deleted && share->expires > page->d->now));
}

/* Shows one record, or passes over it.
 * returns  STORE_OK: go on; STORE_NOT_FOUND: the page is complete; STORE_CORRUPT */
static enum store_result add_record(struct page *page, const struct space_record *at)
{
    struct bytes name = at->partition_key;
    struct share_key key;
    struct share share;
    bool shows;

    if (!share_decode(at->record_key, at->value, &share, &key)) {
        log_line(LOG_ERROR, "a record of share %.*s has an unknown form", BYTES_ARG(name));
        return STORE_CORRUPT;
    }
    shows = is_asked_for(page, key, &share);
    if ((shows && is_full(page)) || page->looked_at == LISTING_RECORDS_MAX) {
        page->next = (struct share_place){
            .name = arena_copy(page->d->arena, name),
            .is_first = shows && !page->asked->snapshots && !page->asked->deleted,
            .key = key,
        };
        return STORE_NOT_FOUND;
    }
    page->looked_at++;
    if (!shows)
        return STORE_OK;
    page->asked->sink->add(page->asked->sink, name, key, &share);
    page->shown++;
    return STORE_OK;
}

static enum store_result add_page(struct page *page, struct space_iterator *iterator)
{
    enum store_result result = STORE_OK;
    struct space_record at;

    while (!result) {
        result = space_iterator_next(iterator, &at);
        if (!result && !bytes_has_prefix(at.partition_key, page->asked->listing.prefix))
            result = STORE_NOT_FOUND;
        if (!result)
            result = add_record(page, &at);
    }
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* The shares of the account in order of name, a page at a time. rest: List-Shares */
enum error list_shares_decide(struct decision *d, const struct list_shares_parameters *p,
                              struct list_shares_result *r)
{
    struct page page = { .d = d, .asked = p };
    struct bytes name = p->listing.prefix, record = { NULL, 0 };
    struct space_iterator *iterator;
    enum store_result result;

    if (p->from.name.ptr && bytes_compare(p->from.name, name) >= 0) {
        name = p->from.name;
        if (!p->from.is_first)
            record = share_record_key(d->arena, p->from.key);
    }
    p->sink->begin(p->sink, d->now);
    iterator = space_iterator_open(d->store, file_account_space(d->input->account), name, record,
                                   d->access);
    decision_saw(d, space_iterator_sequence(iterator));
    result = add_page(&page, iterator);
    space_iterator_close(iterator);
    if (result)
        return decision_fail_store(d, result);
    r->next = page.next;
    return OK;
}
