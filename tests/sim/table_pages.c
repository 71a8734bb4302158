/* See table_pages.h. rest: Query-Entities, Query-Tables, Query-Timeout-and-Pagination */
#include "table_pages.h"

#include <stdio.h>
#include <string.h>

#include "table_value.h"
#include "views.h"

static bool is_value(const struct table_shown *shown, unsigned property, unsigned value)
{
    static char text[TABLE_VALUE_SIZE];
    struct table_text is = shown->values[property], type = shown->types[property];
    const char *wanted = table_value_type(value);

    table_value_json(value, text);
    if (!is.ptr || is.len != strlen(text) || memcmp(is.ptr, text, is.len) != 0)
        return false;
    if (!wanted)
        return !type.ptr;
    return type.ptr && type.len == strlen(wanted) + 2 &&
           memcmp(type.ptr + 1, wanted, type.len - 2) == 0;
}

const char *table_compare_entity(const struct table_shown *shown,
                                 const struct entity_version *version, bool is_partial)
{
    if (!version)
        return "an entity that there is not";
    if (version->etag != 0 && shown->etag != version->etag)
        return "another ETag than the entity's";
    if (version->etag == 0 && shown->etag <= version->above)
        return "an ETag that is not above the one before";
    if (shown->time_differs)
        return "a Timestamp that is not that of the ETag";
    for (unsigned i = 0; i < TABLE_PROPERTIES; i++) {
        unsigned value = version->values[i];

        if (is_partial && i != TABLE_SELECT_SECOND)
            value = 0;
        else if (is_partial && value == 0) {
            if (!shown->values[i].ptr || strncmp(shown->values[i].ptr, "null", 4) != 0)
                return "a property that was selected, and that the entity has not, is not null";
            continue;
        }
        if (value == 0 ? shown->values[i].ptr != NULL : !is_value(shown, i, value))
            return "another value of a property than the entity's";
    }
    return NULL;
}

/* The place that the tokens name; TABLE_PLACES: there are none. */
static const char *read_place(const struct table_tokens *tokens, unsigned *ret_place)
{
    int partition, row;

    *ret_place = TABLE_PLACES;
    if (!tokens->partition[0])
        return tokens->row[0] ? "a token of a row without one of a partition" : NULL;
    partition = table_token_key(tokens->partition, table_partitions, TABLE_PARTITIONS);
    row = table_token_key(tokens->row, table_rows, TABLE_ROWS);
    if (partition < 0 || row < 0)
        return "tokens that name no entity there ever was";
    *ret_place = (unsigned)partition * TABLE_ROWS + (unsigned)row;
    return NULL;
}

/* Compares the places from `place` to `end` with what is shown from *at on, which it moves. */
static const char *compare_places(const struct table_ask *ask, const struct table_shown *shown,
                                  unsigned count, unsigned place, unsigned end, uint64_t commit,
                                  unsigned *at)
{
    const struct table_query *query = &ask->query;

    for (; place < end; place++) {
        const struct entity_version *is = table_entity_at(ask->table, place, commit);
        const char *why;

        if (!is || !table_sas_opens(&ask->sas, place) || !table_filter_holds(query, place, is))
            continue;
        if (*at == count)
            return "an entity is missing in a page";
        if (!query->is_partial && shown[*at].place != (int)place)
            return "another entity than the next in a page";
        why = table_compare_entity(&shown[(*at)++], is, query->is_partial);
        if (why)
            return why;
    }
    return NULL;
}

const char *table_compare_page(const struct table_ask *ask, const struct table_tokens *tokens,
                               const char *body, uint64_t commit)
{
    const struct table_query *query = &ask->query;
    static struct table_shown shown[TABLE_SHOWN_MAX];
    unsigned count, at = 0, end;
    const char *why = table_read_page(body, shown, &count);

    if (!why)
        why = read_place(tokens, &end);
    if (why)
        return why;
    if (query->top > 0 && count > query->top)
        return "more entities than were asked for";
    if (tokens->partition[0] && end <= query->from && count == 0)
        return "a page that does not go on";
    why = compare_places(ask, shown, count, query->from, end, commit, &at);
    if (why)
        return why;
    return at == count ? NULL : "an entity that should not be in a page";
}

const char *table_compare_tables(const struct table_ask *ask, const struct table_tokens *tokens,
                                 const char *body, uint64_t commit)
{
    int end = TABLES;
    unsigned shown, count = 0;
    const char *why = table_read_tables(body, &shown);

    if (tokens->table[0]) {
        static const char *const lower[TABLES] = { "alpha", "beta2" };

        end = table_token_key(tokens->table, lower, TABLES);
        if (end < 0)
            end = table_token_key(tokens->table, table_names, TABLES);
    }
    if (why || end < 0)
        return why ? why : "a token that names no table there ever was";
    for (unsigned t = 0; t < TABLES; t++) {
        bool wanted =
            t >= ask->query.from && t < (unsigned)end && table_exists(t, views_at(t, commit));

        if ((shown >> t & 1) != wanted)
            return wanted ? "a table is missing" : "a table that there is not";
        count += wanted;
    }
    return ask->query.top > 0 && count > ask->query.top ? "more tables than were asked for" : NULL;
}

bool table_next_page(const struct table_ask *ask, const struct table_tokens *tokens,
                     struct table_query *ret_next)
{
    unsigned place;

    if (!tokens->partition[0] || read_place(tokens, &place))
        return false;
    *ret_next = ask->query;
    ret_next->from = place;
    (void)snprintf(ret_next->next_partition, sizeof ret_next->next_partition, "%s",
                   tokens->partition);
    (void)snprintf(ret_next->next_row, sizeof ret_next->next_row, "%s", tokens->row);
    return true;
}
