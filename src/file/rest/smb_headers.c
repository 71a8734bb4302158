/* SMB properties of a directory or file in headers. */
#include "file/rest/smb_headers.h"

#include "acl/permission_store.h"
#include "service/answer.h"
#include "service/http_headers.h"
#include "service/metadata.h"

/* ---- attributes ---- */

static const struct attribute {
    uint32_t bit;
    const char *name;
} attributes[] = {
    { ATTRIBUTE_READ_ONLY, "ReadOnly" },
    { ATTRIBUTE_HIDDEN, "Hidden" },
    { ATTRIBUTE_SYSTEM, "System" },
    { ATTRIBUTE_DIRECTORY, "Directory" },
    { ATTRIBUTE_ARCHIVE, "Archive" },
    { ATTRIBUTE_TEMPORARY, "Temporary" },
    { ATTRIBUTE_OFFLINE, "Offline" },
    { ATTRIBUTE_NOT_CONTENT_INDEXED, "NotContentIndexed" },
    { ATTRIBUTE_NO_SCRUB_DATA, "NoScrubData" },
};

struct bytes smb_attributes_text(struct arena *arena, uint32_t bits)
{
    struct text out;

    if (bits == 0)
        return bytes_from_string("None");
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        if (bits == attributes[i].bit)
            return bytes_from_string(attributes[i].name);
    }
    text_init(&out, arena, 64);
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        if (!(bits & attributes[i].bit))
            continue;
        if (out.len > 0)
            text_add_string(&out, " | ");
        text_add_string(&out, attributes[i].name);
    }
    return text_bytes(&out);
}

/* Returns false if the name is unknown. "None" has no bit. */
static bool find_attribute(struct bytes name, uint32_t *ret_bit)
{
    *ret_bit = 0;
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        if (bytes_is_nocase(name, attributes[i].name)) {
            *ret_bit = attributes[i].bit;
            return true;
        }
    }
    return bytes_is_nocase(name, "None");
}

/* Returns true if the value means "unchanged". rest: Set-File-Properties, Copy-File */
static bool is_kept(enum smb_default rule, struct bytes text)
{
    return (rule == SMB_OF_CHANGE && bytes_is_nocase(text, "preserve")) ||
           (rule == SMB_OF_COPY && bytes_is_nocase(text, "source"));
}

/* rest: Create-File "x-ms-file-attributes"; semantics 8.1 */
static enum error read_attributes(struct call *call, enum smb_default missing, enum tree_kind kind,
                                  struct smb_given *given)
{
    static const char header[] = "x-ms-file-attributes";
    struct bytes text = call_header(call, header), rest = text, name;
    uint32_t bits = missing != SMB_OF_CHANGE && kind == TREE_FILE ? ATTRIBUTE_ARCHIVE : 0, bit;

    given->has_attributes = missing != SMB_OF_CHANGE;
    if (is_kept(missing, text)) {
        given->has_attributes = false;
    } else if (text.len > 0) {
        bits = missing == SMB_OF_COPY ? 0 : bits;
        given->has_attributes = true;
        while (rest.ptr) {
            bytes_cut(rest, '|', &name, &rest);
            if (!find_attribute(bytes_trim(name), &bit) ||
                (bit == ATTRIBUTE_DIRECTORY && kind == TREE_FILE))
                return call_fail_header(call, E_InvalidHeaderValue, header, text);
            bits |= bit;
        }
    }
    given->attributes = bits & ~(uint32_t)ATTRIBUTE_DIRECTORY;
    return OK;
}

/* ---- times ---- */

/* Start of Windows time, 1601-01-01. decision: 326 */
#define TIME_MIN UINT64_C(504911232000000000)

static enum error read_time(struct call *call, const char *name, enum smb_default rule,
                            enum smb_time_kind missing, struct smb_time *ret_time)
{
    struct bytes text = call_header(call, name);

    *ret_time = (struct smb_time){ .kind = missing };
    if (text.len == 0) /* an empty value counts as absent (recorded) */
        return OK;
    if (bytes_is_nocase(text, "now"))
        ret_time->kind = TIME_NOW;
    else if (is_kept(rule, text))
        ret_time->kind = TIME_KEPT;
    else if (instant_parse_iso(text, &ret_time->at) && ret_time->at >= TIME_MIN)
        ret_time->kind = TIME_GIVEN;
    else
        return call_fail_header(call, E_InvalidHeaderValue, name, text);
    return OK;
}

/* ---- all properties ---- */

/* Rejects headers of NFS shares, which are not supported. decision: 323 */
static enum error refuse_nfs(struct call *call)
{
    static const char *const names[] = {
        "x-ms-owner",
        "x-ms-group",
        "x-ms-mode",
        "x-ms-file-file-type",
        "x-ms-file-property-semantics",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0] && !call->loose; i++) {
        if (call_header(call, names[i]).ptr)
            return call_fail_header(call, E_UnsupportedHeader, names[i],
                                    call_header(call, names[i]));
    }
    return OK;
}

enum error smb_require(struct call *call)
{
    static const char *const names[] = { "x-ms-file-attributes", "x-ms-file-creation-time",
                                         "x-ms-file-last-write-time", "x-ms-file-permission" };

    if (!call_since(call, "2019-02-02") || call_since(call, "2021-06-08") || call->loose)
        return OK;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bool is_permission = i == sizeof names / sizeof names[0] - 1;

        if (is_permission && call_header(call, "x-ms-file-permission-key").ptr)
            continue;
        if (!call_header(call, names[i]).ptr)
            return call_fail_header(call, E_MissingRequiredHeader, names[i], bytes_of(NULL, 0));
    }
    return OK;
}

enum error smb_read(struct call *call, enum smb_default missing, enum tree_kind kind,
                    struct smb_given *ret_given)
{
    bool new = missing != SMB_OF_CHANGE;
    enum smb_time_kind time = new ? TIME_NOW : TIME_KEPT;
    enum error e = refuse_nfs(call);

    if (!e)
        e = read_attributes(call, missing, kind, ret_given);
    if (!e)
        e = read_time(call, "x-ms-file-creation-time", missing, time, &ret_given->created);
    if (!e)
        e = read_time(call, "x-ms-file-last-write-time", missing, time, &ret_given->written);
    if (!e)
        e = read_time(call, "x-ms-file-change-time", missing, TIME_NOW, &ret_given->changed);
    return e ? e
             : permission_read(call, new ? PERMISSION_INHERITED : PERMISSION_KEPT,
                               &ret_given->permission);
}

/* ---- responses ---- */

void answer_smb(struct answer *a, const struct file_shown *shown)
{
    const struct file *file = &shown->file;

    if (!call_since(a->call, "2019-02-02"))
        return;
    answer_iso_date(a, "x-ms-file-change-time", file->changed);
    answer_iso_date(a, "x-ms-file-last-write-time", file->written);
    answer_iso_date(a, "x-ms-file-creation-time", file->created);
    answer_header(a, "x-ms-file-permission-key", permission_key(a->arena, file->permission));
    answer_header(a, "x-ms-file-attributes", smb_attributes_text(a->arena, file->attributes));
    answer_u64(a, "x-ms-file-id", shown->id);
    answer_u64(a, "x-ms-file-parent-id", shown->parent);
}

/* Returns true if responses report encryption: recorded from 2016-10-16 on, though documented
 * for 2017-04-17. decision: 880 */
static bool shows_encryption(const struct answer *a)
{
    return call_since(a->call, "2016-10-16");
}

void answer_encrypted(struct answer *a)
{
    if (shows_encryption(a))
        answer_string(a, "x-ms-request-server-encrypted", "true");
}

void answer_file_properties(struct answer *a, const struct file_shown *shown)
{
    const struct file *file = &shown->file;

    metadata_answer(a, file->metadata);
    if (file->kind == TREE_FILE) {
        answer_http_properties(a, &file->http);
        answer_string(a, "x-ms-type", "File");
        if (call_since(a->call, "2019-02-02") && !shown->is_of_snapshot)
            answer_lease(a, &file->lease);
        answer_copy(a, &file->copy);
    }
    if (shows_encryption(a))
        answer_string(a, "x-ms-server-encrypted", "true");
    answer_smb(a, shown);
}
