#include "store/rados/cluster_pools.h"

#include <errno.h>
#include <rados/librados.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "store/rados/root.h"

#define SENTENCE_SIZE    400
#define ANSWER_DEPTH     8u
#define NEW_POOL_GROUPS  32u
#define SIZE_LEAST       3.0
#define MIN_SIZE_LEAST   2.0
#define LOST_DISKS_LEAST 2.0 /* of an erasure-coded pool: m */

struct asking {
    rados_t cluster;
    struct arena *arena;
    struct cluster_findings *findings;
};

/* ---- commands of the monitors ---- */

struct argument {
    const char *name, *value;
    uint64_t number; /* if value is NULL */
};

/* *ret_answer: JSON, in the arena. Returns 0, or a negative errno. */
static int ask(const struct asking *asking, const char *prefix, const struct argument *arguments,
               size_t count, struct bytes *ret_answer)
{
    struct text text;
    struct json_writer out = { .to = &text };
    const char *command;
    char *answer = NULL, *status = NULL;
    size_t answer_length = 0, status_length = 0;
    int code;

    text_init(&text, asking->arena, 256);
    json_write_begin(&out, '{');
    json_write_member(&out, "prefix", bytes_from_string(prefix));
    for (size_t i = 0; i < count; i++) {
        if (arguments[i].value)
            json_write_member(&out, arguments[i].name, bytes_from_string(arguments[i].value));
        else
            json_write_number(&out, arguments[i].name, arguments[i].number);
    }
    json_write_member(&out, "format", bytes_from_string("json"));
    json_write_end(&out, '}');
    command = arena_string(asking->arena, text_bytes(&text));
    code = rados_mon_command(asking->cluster, &command, 1, "", 0, &answer, &answer_length, &status,
                             &status_length);
    *ret_answer = arena_copy(asking->arena, bytes_of(answer, answer_length));
    rados_buffer_free(answer);
    rados_buffer_free(status);
    return code;
}

static bool pick(const struct asking *asking, struct bytes answer, const char *name,
                 struct json_member *ret_member)
{
    return json_object_pick(asking->arena, answer, ANSWER_DEPTH, &name, 1, ret_member);
}

/* ---- settings ---- */

static void find(const struct asking *asking, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void find(const struct asking *asking, const char *format, ...)
{
    char sentence[SENTENCE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    asking->findings->count++;
    asking->findings->say(sentence);
}

/* Of a pool. 0: it has none of that name, or it is no number. */
static double setting(const struct asking *asking, const char *pool, const char *name)
{
    const struct argument arguments[] = { { "pool", pool, 0 }, { "var", name, 0 } };
    struct json_member member;
    struct bytes answer;
    double number = 0;

    if (ask(asking, "osd pool get", arguments, 2, &answer) ||
        !pick(asking, answer, name, &member) || !json_number(&member, &number))
        return 0;
    return number;
}

/* Of a member that may be a number in quotes. */
static double quoted_number(const struct asking *asking, struct bytes answer, const char *name)
{
    struct json_member member;
    double number = 0;

    if (!pick(asking, answer, name, &member))
        return 0;
    member.kind = JSON_NUMBER;
    return json_number(&member, &number) ? number : 0;
}

/* The profile of an erasure-coded pool; ptr NULL: it is replicated. */
static struct bytes profile_of(const struct asking *asking, const char *pool)
{
    const struct argument arguments[] = { { "pool", pool, 0 },
                                          { "var", "erasure_code_profile", 0 } };
    struct json_member member;
    struct bytes answer;

    if (ask(asking, "osd pool get", arguments, 2, &answer) ||
        !pick(asking, answer, "erasure_code_profile", &member))
        return (struct bytes){ NULL, 0 };
    return json_text(&member);
}

static void check_replicas(const struct asking *asking, const char *pool)
{
    double size = setting(asking, pool, "size"), min_size = setting(asking, pool, "min_size");

    if (size < SIZE_LEAST)
        find(asking, "pool %s keeps %.0f replicas: 3 are wanted (ceph osd pool set %s size 3)",
             pool, size, pool);
    if (min_size < MIN_SIZE_LEAST)
        find(asking,
             "pool %s acknowledges what %.0f replica has: min_size 2 is wanted (ceph osd pool set "
             "%s min_size 2)",
             pool, min_size, pool);
}

static void check_coding(const struct asking *asking, const char *pool, struct bytes profile)
{
    const struct argument argument = { "name", arena_string(asking->arena, profile), 0 };
    struct bytes answer;
    double k, m;

    if (ask(asking, "osd erasure-code-profile get", &argument, 1, &answer)) {
        find(asking, "pool %s: its erasure code profile cannot be read", pool);
        return;
    }
    k = quoted_number(asking, answer, "k");
    m = quoted_number(asking, answer, "m");
    if (m < LOST_DISKS_LEAST)
        find(asking, "pool %s bears the loss of %.0f OSD: a profile with m=2 or more is wanted",
             pool, m);
    if (setting(asking, pool, "min_size") < k + 1)
        find(asking,
             "pool %s acknowledges what no OSD may be lost of: min_size %.0f is wanted (ceph osd "
             "pool set %s min_size %.0f)",
             pool, k + 1, pool, k + 1);
}

static void check_manager(const struct asking *asking)
{
    struct json_member member;
    struct bytes answer;

    if (ask(asking, "mgr stat", NULL, 0, &answer) || !pick(asking, answer, "available", &member) ||
        member.kind != JSON_TRUE)
        find(asking, "the cluster has no ceph-mgr: nobody stops writes before an OSD is so full "
                     "that it ends");
}

/* ---- pools ---- */

static int make_pool(const struct asking *asking, const char *pool)
{
    const struct argument make[] = { { "pool", pool, 0 },
                                     { "pg_num", NULL, NEW_POOL_GROUPS },
                                     { "pool_type", "replicated", 0 } };
    const struct argument size[] = { { "pool", pool, 0 }, { "var", "size", 0 }, { "val", "3", 0 } };
    const struct argument least[] = { { "pool", pool, 0 },
                                      { "var", "min_size", 0 },
                                      { "val", "2", 0 } };
    const struct argument use[] = { { "pool", pool, 0 }, { "app", "lagra", 0 } };
    struct bytes answer;
    int code = ask(asking, "osd pool create", make, 3, &answer);

    if (!code)
        code = ask(asking, "osd pool set", size, 3, &answer);
    if (!code)
        code = ask(asking, "osd pool set", least, 3, &answer);
    if (!code)
        code = ask(asking, "osd pool application enable", use, 2, &answer);
    return code ? code : rados_wait_for_latest_osdmap(asking->cluster);
}

/* Looks for the store's first object, whether or not it is there: the pool's OSDs answer. */
static const char *look_into(const struct asking *asking, const char *pool)
{
    rados_ioctx_t open;
    int code = rados_ioctx_create(asking->cluster, pool, &open);

    if (code)
        return code == -ENOENT ? "there is no such pool" : "a pool cannot be opened";
    code = rados_stat(open, ROOT_OBJECT, NULL, NULL);
    rados_ioctx_destroy(open);
    if (code == -EPERM || code == -EACCES)
        return "the cluster's user may not read a pool";
    return code && code != -ENOENT ? "the OSDs of a pool do not answer" : NULL;
}

static const char *check_pool(const struct asking *asking, const char *pool, bool has_records,
                              enum cluster_pools_wish wish)
{
    struct bytes profile;
    const char *problem;

    if (wish == POOLS_MAKE && rados_pool_lookup(asking->cluster, pool) == -ENOENT &&
        make_pool(asking, pool))
        return "a pool cannot be made";
    problem = look_into(asking, pool);
    if (problem)
        return problem;
    profile = profile_of(asking, pool);
    if (profile.ptr && has_records)
        return "records need a replicated pool: an erasure-coded one keeps pieces only";
    if (profile.ptr)
        check_coding(asking, pool, profile);
    else
        check_replicas(asking, pool);
    return NULL;
}

static const char *check_pools(const struct asking *asking, const struct cluster_place *place,
                               enum cluster_pools_wish wish)
{
    const char *problem = check_pool(asking, place->records, true, wish);

    if (!problem && strcmp(place->pieces, place->records) != 0)
        problem = check_pool(asking, place->pieces, false, wish);
    if (!problem)
        check_manager(asking);
    return problem;
}

bool cluster_pools(const struct cluster_place *place, enum cluster_pools_wish wish,
                   struct cluster_findings *findings, const char **ret_problem)
{
    struct asking asking = { .findings = findings };
    const char *problem = NULL;

    if (rados_create(&asking.cluster, NULL) < 0) {
        *ret_problem = "librados cannot be used";
        return false;
    }
    if (rados_conf_read_file(asking.cluster, place->conf) < 0)
        problem = "the cluster's configuration cannot be read";
    else if (rados_conf_set(asking.cluster, "client_mount_timeout", CLUSTER_PATIENCE_S) < 0 ||
             rados_conf_set(asking.cluster, "rados_mon_op_timeout", CLUSTER_PATIENCE_S) < 0 ||
             rados_conf_set(asking.cluster, "rados_osd_op_timeout", CLUSTER_PATIENCE_S) < 0)
        problem = "librados takes no timeouts";
    else if (rados_connect(asking.cluster) < 0)
        problem = "the cluster does not answer";
    if (!problem) {
        asking.arena = arena_new(16u << 20);
        problem = check_pools(&asking, place, wish);
        arena_free(asking.arena);
    }
    rados_shutdown(asking.cluster);
    *ret_problem = problem;
    return !problem;
}
