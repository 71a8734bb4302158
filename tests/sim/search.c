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
