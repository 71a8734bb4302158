/* See search.h. rest: Find-Blobs-by-Tags-Container */
#include "search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blobs, in the order of their names. */
struct found {
    unsigned at[BLOBS + 1];
    unsigned count;
    bool has_more;
    unsigned next;
};

static bool has_tag(const struct ask *ask, unsigned blob, uint64_t commit)
{
    const struct container_state *c = model_container_at(ask->container, commit);
    const struct blob_state *b = model_blob_at(ask->container, blob, commit);

    return c->exists && b->exists && b->incarnation == c->incarnation && b->tag == ask->tag;
}

static void expect(const struct ask *ask, uint64_t commit, struct found *page)
{
    *page = (struct found){ .count = 0 };
    for (unsigned b = ask->page.marker[0] ? ask->page.from : 0; b < BLOBS; b++) {
        if (!has_tag(ask, b, commit))
            continue;
        if (ask->page.max > 0 && page->count == ask->page.max) {
            page->has_more = true;
            page->next = b;
            return;
        }
        page->at[page->count++] = b;
    }
}

/* The element's text is this. */
static bool is_text(const char *at, const char *open, const char *text)
{
    size_t length = strlen(text);

    at = strstr(at, open);
    return at && strncmp(at + strlen(open), text, length) == 0 && at[strlen(open) + length] == '<';
}

/* NULL: it could be read. */
static const char *read_page(const struct ask *ask, const struct reply *answer, struct found *page)
{
    const char *at = (const char *)answer->body;
    char value[20];

    *page = (struct found){ .count = 0 };
    answer->body[answer->body_size] = '\0';
    (void)snprintf(value, sizeof value, "%u", ask->tag);
    while ((at = strstr(at, "<Blob>"))) {
        unsigned b = 0;

        while (b < BLOBS && !is_text(at, "<Name>", blob_names[b]))
            b++;
        if (b == BLOBS || page->count == BLOBS)
            return "a blob that there never was is found";
        if (!is_text(at, "<ContainerName>", container_names[ask->container]))
            return "a blob of another container is found";
        if (!is_text(at, "<Value>", value))
            return "a blob is found and shown with another tag";
        page->at[page->count++] = b;
        at++;
    }
    page->has_more = strstr((const char *)answer->body, "<NextMarker>") != NULL;
    return NULL;
}

static const char *compare(const struct found *shown, const struct found *expected)
{
    if (shown->count != expected->count ||
        memcmp(shown->at, expected->at, shown->count * sizeof shown->at[0]) != 0)
        return "other blobs are found";
    if (shown->has_more != expected->has_more)
        return expected->has_more ? "no marker of the next page" : "a marker of no page";
    return NULL;
}

static struct page_ask next_of(const struct ask *ask, const struct reply *answer,
                               const struct found *page)
{
    struct page_ask next = {
        .max = ask->page.max, .container = ask->container, .tag = ask->tag, .from = page->next
    };
    const char *at = strstr((const char *)answer->body, "<NextMarker>");

    if (!page->has_more || !at)
        return (struct page_ask){ 0 };
    (void)snprintf(next.marker, MARKER_SIZE, "%.*s", (int)strcspn(at + 12, "<"), at + 12);
    return next;
}

const char *search_compare(const struct ask *ask, const struct reply *answer, uint64_t from,
                           uint64_t to, uint64_t *ret_commit, struct page_ask *ret_next)
{
    struct found shown, expected;
    const char *first = read_page(ask, answer, &shown);
    bool found = false;

    *ret_next = (struct page_ask){ 0 };
    for (uint64_t at = to; !first || at != to; at--) {
        const char *why;
        struct page_ask next;

        expect(ask, at, &expected);
        why = compare(&shown, &expected);
        if (!why) {
            next = next_of(ask, answer, &expected);
            if (!found)
                *ret_next = next;
            else if (ret_next->from != next.from)
                ret_next->max = 0;
            found = true;
            *ret_commit = at;
        } else if (!first) {
            first = why;
        }
        if (at == from)
            break;
    }
    return found ? NULL : first;
}

/* ---- each partition of a state of its own ---- */

/* In which states since a commit has a blob the tag? */
struct chance {
    bool ever, always;
};

static struct chance chance_of(const struct ask *ask, unsigned blob, uint64_t from, uint64_t to)
{
    struct chance chance = { .always = true };

    for (uint64_t at = from; at <= to; at++) {
        bool has = has_tag(ask, blob, at);

        chance.ever = chance.ever || has;
        chance.always = chance.always && has;
    }
    return chance;
}

/* Which the marker may be of: the first behind the page that was found. Count of them; *ret_first: of these. */
static unsigned find_next(const struct ask *ask, unsigned behind, uint64_t from, uint64_t to,
                          unsigned *ret_first)
{
    unsigned count = 0;

    for (unsigned b = behind; b < BLOBS; b++) {
        struct chance chance = chance_of(ask, b, from, to);

        if (chance.ever && count++ == 0)
            *ret_first = b;
        if (chance.always)
            break;
    }
    return count;
}

/* What is shown was found in some state, and what is not, up to the end of the page, was not in some. */
static const char *compare_parts(const struct ask *ask, const struct found *shown, uint64_t from,
                                 uint64_t to)
{
    unsigned k = 0;

    for (unsigned b = ask->page.marker[0] ? ask->page.from : 0; b < BLOBS; b++) {
        struct chance chance = chance_of(ask, b, from, to);
        bool is_shown = k < shown->count && shown->at[k] == b;

        if (k == shown->count && shown->has_more)
            break;
        if (is_shown && !chance.ever)
            return "a blob is found that never had the tag";
        if (!is_shown && chance.always)
            return "a blob is not found";
        k += is_shown;
    }
    return k < shown->count ? "blobs that come before the page, or in another order" : NULL;
}

const char *search_compare_parts(const struct ask *ask, const struct reply *answer, uint64_t from,
                                 uint64_t to, struct page_ask *ret_next)
{
    struct found shown;
    const char *why = read_page(ask, answer, &shown);
    unsigned candidates, behind;

    *ret_next = (struct page_ask){ 0 };
    if (!why)
        why = compare_parts(ask, &shown, from, to);
    if (why || !shown.has_more)
        return why ? why
                   : (ask->page.max > 0 && shown.count > ask->page.max ? "too many are found"
                                                                       : NULL);
    if (ask->page.max == 0 || shown.count != ask->page.max)
        return "a page that ends early";
    behind = shown.at[shown.count - 1] + 1;
    candidates = find_next(ask, behind, from, to, &shown.next);
    if (candidates == 0)
        return "a marker of no page";
    *ret_next = next_of(ask, answer, &shown);
    if (candidates > 1)
        ret_next->max = 0;
    return NULL;
}
