/* `lagra usage`: counts the storage used by accounts now. */
#include "admin/admin_private.h"

#include "admin/usage_survey.h"

static void write_total(struct json_writer *out, const struct survey_total *total)
{
    json_write_member(out, "account", total->account);
    json_write_member(out, "service", bytes_from_string(total->service));
    json_write_number(out, "objects", total->usage.objects);
    json_write_number(out, "bytes", total->usage.bytes);
    if (total->usage.quota_bytes > 0)
        json_write_number(out, "quota", total->usage.quota_bytes);
}

static void add_total(void *context, const struct survey_total *total)
{
    struct json_writer *out = context;

    if (total->containers == 0 && total->usage.bytes == 0)
        return;
    json_write_begin(out, '{');
    write_total(out, total);
    json_write_number(out, "containers", total->containers);
    json_write_end(out, '}');
}

static void add_container(void *context, const struct survey_container *container)
{
    struct json_writer *out = context;

    json_write_begin(out, '{');
    json_write_member(out, "name", container->name);
    write_total(out, &container->of);
    json_write_end(out, '}');
}

static void skip_total(void *context, const struct survey_total *total)
{
    (void)context;
    (void)total;
}

static void skip_container(void *context, const struct survey_container *container)
{
    (void)context;
    (void)container;
}

void admin_usage(struct admin_call *call)
{
    struct usage_survey *survey = call->admin->usage;
    const struct survey_listener totals = { add_total, skip_container, &call->out };
    const struct survey_listener containers = { skip_total, add_container, &call->out };

    if (usage_survey_now(survey)) {
        admin_fail(call, 500, "InternalError", "Something could not be read; the log says what.");
        return;
    }
    json_write_name(&call->out, "accounts");
    json_write_begin(&call->out, '[');
    usage_survey_read(survey, &totals);
    json_write_end(&call->out, ']');
    json_write_name(&call->out, "containers");
    json_write_begin(&call->out, '[');
    usage_survey_read(survey, &containers);
    json_write_end(&call->out, ']');
}
