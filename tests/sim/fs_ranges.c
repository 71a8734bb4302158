/* See fs_ranges.h. rest: List-Ranges; decision: 302, 305 */
#include "fs_ranges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR      512u
#define SECTORS_MAX ((FS_SLOTS * 51200u) / SECTOR + 1)

enum shown { SHOWN_NOT, SHOWN_BYTES, SHOWN_CLEAR };

/* What a sector has to be shown as, or may be. */
struct sector {
    bool may_not, may_bytes, may_clear;
};

/* ---- what is right ---- */

static bool has_changed(const struct fs_node *node, const struct fs_node *older,
                        uint64_t differs_since, unsigned slot)
{
    return !older || node->written[slot] > differs_since;
}

/* Of a sector that lies in one slot. */
static struct sector of_slot(const struct fs_node *node, const struct fs_node *older,
                             uint64_t differs_since, unsigned slot)
{
    bool has_bytes = node->slots[slot] > 0;

    if (!has_changed(node, older, differs_since, slot))
        return (struct sector){ .may_not = true };
    if (has_bytes)
        return (struct sector){ .may_bytes = true };
    /* What was written since and is cleared again may be named. */
    return (struct sector){ .may_not = !older || slot >= older->length || older->slots[slot] == 0,
                            .may_clear = older != NULL };
}

/* Where slots do not end with sectors: what one of its slots must show is shown, and the zeros that clear
 * writes beside it are bytes. */
static struct sector of_slots(const struct fs_node *node, const struct fs_node *older,
                              uint64_t differs_since, unsigned first, unsigned last)
{
    struct sector sector = { true, true, older != NULL };

    for (unsigned i = first; i <= last && i < FS_SLOTS && i < node->length; i++) {
        struct sector one = of_slot(node, older, differs_since, i);

        if (one.may_bytes)
            return (struct sector){ .may_bytes = true };
        sector.may_not = sector.may_not && one.may_not;
    }
    return sector;
}

static struct sector wanted(const struct fs_node *node, const struct fs_node *older,
                            uint64_t differs_since, unsigned sector)
{
    uint32_t slot = fs_slot_bytes();
    unsigned first = sector * SECTOR / slot, last = (sector * SECTOR + SECTOR - 1) / slot;

    return slot % SECTOR == 0 ? of_slot(node, older, differs_since, first)
                              : of_slots(node, older, differs_since, first, last);
}

/* ---- what is shown ---- */

struct listed {
    unsigned char as[SECTORS_MAX]; /* enum shown */
    unsigned count;
    uint64_t end;
    enum shown last;
};

/* One range. NULL, or what is wrong with it. */
static const char *add(struct listed *listed, uint64_t start, uint64_t end, enum shown as,
                       uint64_t from, uint64_t to)
{
    bool goes_on = listed->count > 0 && start == listed->end && as == listed->last;

    if (start < listed->end || end <= start || start < from || end > to)
        return "a range that is none of the file, or not in order";
    if (goes_on)
        return "two ranges that are one";
    if ((start % SECTOR != 0 && start != from) || (end % SECTOR != 0 && end != to))
        return "a range that is not of whole sectors";
    for (uint64_t at = start / SECTOR; at * SECTOR < end; at++)
        listed->as[at] = (unsigned char)as;
    listed->count++;
    listed->end = end;
    listed->last = as;
    return NULL;
}

static const char *read_ranges(const char *body, uint64_t from, uint64_t to,
                               struct listed *ret_listed)
{
    const char *at = body, *why = NULL;

    while (!why && (at = strstr(at, "Range><Start>"))) {
        enum shown as =
            at > body + 5 && memcmp(at - 5, "Clear", 5) == 0 ? SHOWN_CLEAR : SHOWN_BYTES;
        char *end;
        uint64_t start = strtoull(at + 13, &end, 10);

        if (strncmp(end, "</Start><End>", 13) != 0)
            return "a range without an end";
        why = add(ret_listed, start, strtoull(end + 13, NULL, 10) + 1, as, from, to);
        at = end;
    }
    return why;
}

const char *fs_compare_ranges(const struct fs_ask *ask, const struct fs_node *node,
                              const struct fs_node *older, uint64_t differs_since,
                              const struct reply *answer)
{
    uint64_t slot = fs_slot_bytes(), shown_end = FS_SLOTS * slot;
    uint64_t length = node->length * slot, from = 0, to = length;
    static _Thread_local struct listed listed;
    const char *body = (const char *)answer->body, *why;
    bool has_more;

    answer->body[answer->body_size] = '\0';
    memset(&listed, 0, sizeof listed);
    if (ask->has_range) {
        from = ask->from * slot;
        to = ask->to * slot < length ? ask->to * slot : length;
    }
    why = read_ranges(body, from, to, &listed);
    if (why)
        return why;
    has_more = strstr(body, "<NextMarker>") != NULL;
    if (ask->page.max > 0 && listed.count > ask->page.max)
        return "more ranges than were asked for";
    if (has_more && (ask->page.max == 0 || listed.count == 0))
        return "a page of ranges that ends early";
    if (to > shown_end)
        to = shown_end;
    if (has_more)
        to = listed.end;
    for (uint64_t at = from / SECTOR; at * SECTOR < to; at++) {
        struct sector right = wanted(node, older, differs_since, (unsigned)at);

        if (listed.as[at] == SHOWN_NOT     ? !right.may_not
            : listed.as[at] == SHOWN_BYTES ? !right.may_bytes
                                           : !right.may_clear)
            return listed.as[at] == SHOWN_NOT ? "a range is missing" : "a range that there is not";
    }
    return NULL;
}
