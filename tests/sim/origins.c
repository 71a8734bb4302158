/* See origins.h. */
#include "origins.h"

#include <stdio.h>
#include <string.h>

#include "world.h"

struct version {
    struct version *older;
    uint64_t since;
    unsigned origin; /* 0: none */
};

/* In the world; set before any life begins. */
static struct version **newest;

void origins_begin(void)
{
    newest = world_alloc(sizeof(struct version *));
    *newest = world_alloc(sizeof **newest);
}

void origins_format(unsigned origin, const char *retention, char *to, size_t size)
{
    int used = snprintf(
        to, size, "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceProperties><Cors>");

    if (origin > 0)
        used += snprintf(to + used, size - (size_t)used,
                         "<CorsRule><AllowedOrigins>http://o%u</AllowedOrigins>"
                         "<AllowedMethods>GET,HEAD,PUT,POST,DELETE</AllowedMethods>"
                         "<MaxAgeInSeconds>5</MaxAgeInSeconds><ExposedHeaders></ExposedHeaders>"
                         "<AllowedHeaders></AllowedHeaders></CorsRule>",
                         origin);
    (void)snprintf(to + used, size - (size_t)used, "</Cors>%s</StorageServiceProperties>",
                   retention);
}

void origins_apply(unsigned origin, uint64_t commit)
{
    struct version *made = world_alloc(sizeof *made);

    *made = (struct version){ .older = *newest, .since = commit, .origin = origin };
    *newest = made;
}

void origins_return_to(uint64_t older, uint64_t commit)
{
    const struct version *at = *newest;
    struct version *made;

    while (at->since > older)
        at = at->older;
    if (at == *newest)
        return;
    made = world_alloc(sizeof *made);
    *made = *at;
    made->since = commit;
    made->older = *newest;
    *newest = made;
}

void origins_roll_back(uint64_t commit)
{
    while ((*newest)->since > commit)
        *newest = (*newest)->older;
}

static const struct version *version_at(uint64_t commit)
{
    const struct version *at = *newest;

    while (at->since > commit)
        at = at->older;
    return at;
}

uint64_t origins_changed_before(uint64_t from, uint64_t to)
{
    uint64_t since = version_at(to)->since;

    return since > from ? since : 0;
}

const char *origins_compare(const struct reply *answer, uint64_t commit)
{
    static const char begin[] = "<AllowedOrigins>http://o";
    unsigned origin = version_at(commit)->origin;
    const char *shown;

    answer->body[answer->body_size] = '\0';
    shown = strstr((const char *)answer->body, begin);
    if (!shown)
        return origin == 0 ? NULL : "the rule for another origin is missing";
    return shown[sizeof begin - 1] == (char)('0' + origin) ? NULL : "the rule for another origin";
}

const char *origins_find(const struct ask *ask, const struct reply *answer, uint64_t from,
                         uint64_t *ret_commit)
{
    const char *why = "CORS headers by rules that there were not";
    char allowed[24] = "";

    if (answer->origin[0])
        (void)snprintf(allowed, sizeof allowed, "http://o%u", ask->origin);
    if (strcmp(answer->origin, allowed) != 0)
        return "CORS headers for another origin";
    for (const struct version *at = *newest; at; at = at->older) {
        if ((at->origin == ask->origin) == (allowed[0] != '\0')) {
            *ret_commit = at->since;
            why = NULL;
        }
        if (at->since <= from)
            break;
    }
    return why;
}
