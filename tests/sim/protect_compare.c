/* What responses show of protection and of keys. See protect.h. */
#include "protect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "times.h"

#define SECOND_TICKS UINT64_C(10000000)
#define UNIX_TICKS   UINT64_C(621355968000000000)

static int64_t seconds_of(uint64_t ticks)
{
    return ticks > 0 ? (int64_t)((ticks - UNIX_TICKS) / SECOND_TICKS) : 0;
}

const char *protect_compare_container(const struct protection *protection,
                                      const struct reply *reply)
{
    if (reply->protect.container_has_policy != (protection->mode != NOT_RETAINED))
        return "another word on whether the container has a policy";
    if (reply->protect.container_has_hold != (protection->tags > 0))
        return "another word on whether the container has a legal hold";
    return reply->protect.container_has_versions == protection->has_versions
               ? NULL
               : "another word on whether the container protects versions";
}

const char *protect_compare_all(const struct protection *protection, const struct reply *reply)
{
    static const char *const modes[] = { "", "unlocked", "locked" };
    static const char *const append[] = { "none", "append-blobs", "all" };
    const char *body = (const char *)reply->body;
    char policy[120] = "";

    reply->body[reply->body_size] = '\0';
    if (!strstr(body, "\"versions\":true") != !protection->has_versions)
        return "another word on whether the container protects versions";
    if (!strstr(body, "\"policy\":") != (protection->mode == NOT_RETAINED))
        return "a policy that there is not, or none where there is one";
    if (protection->mode != NOT_RETAINED)
        (void)snprintf(policy, sizeof policy,
                       "\"policy\":\"%s\",\"days\":%u,\"append\":\"%s\",\"extensions\":%u",
                       modes[protection->mode], protection->days, append[protection->append],
                       protection->extensions);
    if (!strstr(body, policy))
        return "another policy of the container";
    if (!strstr(body, "\"closed\":true") != !protection->is_closed)
        return "a container that is closed, or open";
    if (protection->tags > 0 &&
        !strstr(body,
                protection->holds_append ? "\"holdsAppend\":\"all\"" : "\"holdsAppend\":\"none\""))
        return "holds that permit appending, or do not";
    for (unsigned i = 0; i < HOLD_TAGS; i++) {
        const char *end = strstr(body, "\"log\":"), *found;
        char tag[16];

        (void)snprintf(tag, sizeof tag, "\"case%u\"", i);
        found = strstr(body, tag);
        if ((found && found < end) != (bool)(protection->tags >> i & 1))
            return "other tags of legal holds";
    }
    return NULL;
}

const char *protect_compare_blob(const struct shield *shield, unsigned key,
                                 const struct reply *reply)
{
    const struct protect_reply *p = &reply->protect;

    if (p->mode != shield->mode)
        return "another mode of the policy";
    if (p->until_s != (shield->mode == NOT_RETAINED ? 0 : seconds_of(shield->until)))
        return "another end of the policy";
    if (p->has_hold != shield->hold)
        return shield->hold ? "no legal hold" : "a legal hold that there is not";
    return p->has_key == (key > 0) ? NULL : "another word on whether there is a key";
}

static bool has(const char *from, const char *to, const char *text)
{
    const char *at = strstr(from, text);

    return at && at < to;
}

const char *protect_compare_entry(const struct shield *shield, unsigned key, const char *from,
                                  const char *to)
{
    static const char *const modes[] = { "<ImmutabilityPolicyMode>",
                                         "<ImmutabilityPolicyMode>unlocked<",
                                         "<ImmutabilityPolicyMode>locked<" };
    const char *until = strstr(from, "<ImmutabilityPolicyUntilDate>");
    char date[40] = "";

    if (has(from, to, modes[shield->mode]) == (shield->mode == NOT_RETAINED))
        return "another mode of the policy in a list";
    if (until && until < to)
        (void)snprintf(date, sizeof date, "%.29s", until + strlen("<ImmutabilityPolicyUntilDate>"));
    if (shield->mode != NOT_RETAINED && times_http_seconds(date) != seconds_of(shield->until))
        return "another end of the policy in a list";
    if (has(from, to, "<LegalHold>true<") != shield->hold)
        return "another legal hold in a list";
    return has(from, to, "<CustomerProvidedKeySha256>") == (key > 0) ? NULL
                                                                     : "another key in a list";
}
