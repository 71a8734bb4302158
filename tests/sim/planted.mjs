#!/usr/bin/env node
// Does the test test? planted.mjs --build FOLDER [--seconds N] [--texts] [NAME..]
//
// Each defect below is a change of a few words of the program, made in a copy of one file, which is compiled
// as the build does it and linked into a simulator of its own. The simulator must find each within
// so many seconds (60) of the processor, whatever else the machine does. Without names: all. --texts: only
// whether the words that are to be changed are there. Last line: "planted: N passed, N failed".

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Build, ROOT } from '../lib/changed_program.mjs';

const { values: options, positionals: wanted } = parseArgs({
    allowPositionals: true,
    options: { build: { type: 'string' }, texts: { type: 'boolean', default: false }, seconds: { type: 'string', default: '60' } },
});
const build = new Build(options.build);

/** Two thirds of the clients come by SMB. */
const SMB = ['--faults', '2048', '--clients', '9', '--operations', '60'];

/** And the server's process ends now and then. */
const PERSISTENT = [...SMB, '--faults', '2050', '--lives', '20'];

/** Of files that are long enough for a copy to be pending, which one seed in five has. */
const COPIES = ['--faults', '0', '--lives', '0', '--clients', '6', '--operations', '100'];

/** Few enough for runs in which the account keeps what is deleted. */
const KEEPS = ['--clients', '6', '--operations', '150'];

/** Front ends over one cluster. */
const FRONTS = ['--fronts', '3'];

/** With partitions that are cut all the time. */
const LIMBS = [...FRONTS, '--clients', '12'];

// name, file, [from, to].. once, [from, to].. everywhere, the service whose requests show it (blob), and options of
// the simulator that the defect needs.
const DEFECTS = [
    { name: 'log-not-synced', file: 'src/store/embedded/syncer.c',
        change: [['keyspace_write_log(syncer->keyspace, syncer->sync)',
            'keyspace_write_log(syncer->keyspace, false)']] },
    { name: 'answer-before-sync', file: 'src/service/durable.c',
        change: [['enum store_result result = flow->batch ? batch_settled(flow) : store_settled(d->store, d->seen);',
            'enum store_result result = d->store ? STORE_OK : STORE_WAIT;']] },
    { name: 'refusal-before-sync', file: 'src/service/decision.c',
        change: [['decision_saw(d, snapshot_sequence(part->before));', '']] },
    { name: 'clock-before-snapshot', file: 'src/service/deciding.c',
        change: [['    enum error e = d->service->locate(d, &d->partition);\n',
            '    instant early = clock_now();\n' +
            '    enum error e = d->service->locate(d, &d->partition);\n'],
        ['    decision_read_clock(d);\n    return e;', '    d->now = early;\n    return e;']] },
    { name: 'any-without-a-lease', file: 'src/service/operation.c',
        change: [['operation->lease == LEASE_RULE_WHEN_LEASED && d->input->lease_id != NULL', 'operation->lease == LEASE_RULE_WHEN_LEASED']] },
    { name: 'overwritten-not-kept', file: 'src/blob/create_blob.c',
        change: [['    if (retention->expires > 0 && !was_kept', '    if (retention->expires > 0 && !blocks && !was_kept']], args: KEEPS },
    { name: 'soft-deleted-go-with-the-others', file: 'src/blob/delete_blob.c',
        change: [['base.has_deleted || base.newest_version > 0 ? MARK_LIVE_GONE : MARK_GONE', 'MARK_GONE']], args: KEEPS },
    { name: 'days-of-what-comes-back-again', file: 'src/blob/keep_blob.c',
        change: [['    if (retention.expires > 0 && deletion.expires > d->now)', '    if (retention.expires > 0 && retention.expires < deletion.expires)']], args: KEEPS },
    { name: 'soft-deleted-never-ends', file: 'src/blob/keep_blob.c',
        change: [['    if (deletion->at > 0)\n        expire_deleted_defer(d->changes, deletion, ref.at, ref.at);\n', '']], args: KEEPS },
    { name: 'piece-freed-beside-reader', file: 'src/store/embedded/commit.c',
        change: [['    if (!stripe_keep_freed(stripe, freed))\n', '']],
        args: ['--faults', '256', '--aim', '5', '--lives', '0', '--clients', '8', '--operations', '200'] },
    { name: 'piece-freed-before-durable', file: 'src/store/embedded/reclaim.c',
        change: [['if (!syncer_covers(&embedded->syncer, freed->sequence))', 'if (!embedded)']],
        args: ['--faults', '3', '--aim', '5', '--lives', '30', '--clients', '8', '--operations', '200'] },
    { name: 'piece-not-synced', file: 'src/store/embedded/extent_syncer.c',
        change: [['if (!embedded->sync)', 'if (embedded)']] },
    { name: 'directory-not-synced', file: 'src/store/embedded/extents.c',
        change: [['|| (!named && extent_folder_sync(extents->folder))', '|| (false && named)']] },
    { name: 'piece-freed-beside-an-older-reader', file: 'src/store/embedded/stripes.c',
        change: [['        if (keep_freed(view->older, freed))', '        if (!view)']],
        args: ['--faults', '256', '--aim', '5', '--lives', '0', '--clients', '40', '--operations', '40'] },
    { name: 'state-of-an-older-reader-lost', file: 'src/store/embedded/stripes.c',
        change: [['    view->state = rocksdb_create_snapshot(embedded->keyspace.db);',
            '    view->state = view->older && view->older->state ? NULL : rocksdb_create_snapshot(embedded->keyspace.db);']] },
    { name: 'runs-of-the-member-before-freed', file: 'src/content/content_chain.c',
        change: [['        result = subtract_neighbour(before, arena, backward, true, &dead);', '        (void)backward;']] },
    { name: 'runs-of-the-member-behind-freed', file: 'src/content/content_chain.c',
        change: [['        result = subtract_neighbour(before, arena, forward, false, &dead);', '        (void)forward;']] },
    { name: 'second-part-not-guarded', file: 'src/store/embedded/commit.c',
        change: [['    for (size_t i = 0; i < commit->count; i++)\n        if (snapshot_is_old(', '    for (size_t i = 0; i < 1; i++)\n        if (snapshot_is_old(']],
        args: ['--clients', '16', '--operations', '60'] },
    { name: 'lock-dropped', file: 'src/store/embedded/commit.c',
        change: [['    lock_stripes(commit->stripes, commit->stripe_count);\n    if (is_unchanged(commit)) {\n        instant',
            '    if (is_unchanged(commit)) {\n        instant'],
        ['    unlock_stripes(commit->stripes, commit->stripe_count);\n    return result;', '    return result;']] },
    { name: 'conflict-ignored', file: 'src/store/embedded/commit.c',
        change: [['    if (is_unchanged(commit)) {\n        instant', '    if (commit) {\n        instant']] },
    { name: 'wake-lost', file: 'src/store/embedded/syncer.c',
        change: [['    if (syncer->idle)\n        pthread_cond_signal(&syncer->work);', '']] },
    { name: 'wake-before-wait', file: 'src/service/wait.c',
        change: [['    if (atomic_exchange(&pause->state, PAUSE_SUSPENDED) == PAUSE_WOKEN)\n' +
            '        exchange_resume(pause->exchange);', '    atomic_store(&pause->state, PAUSE_SUSPENDED);']] },
    { name: 'retry-after-failed-sync', file: 'src/store/embedded/extent_file.c',
        change: [['result = fdatasync(fd);', 'result = fdatasync(fd) < 0 ? fdatasync(fd) : 0;']],
        args: ['--faults', '6', '--aim', '5', '--lives', '20', '--clients', '3', '--operations', '300'] },
    { name: 'budget-not-returned', file: 'src/store/embedded/io_pool.c',
        change: [['pool->queued_count--;', ';']], all: [['IO_QUEUED_MAX', '12']] },
    { name: 'stale-record-cache', file: 'src/store/embedded/record_cache.c',
        change: [['    if (i < CACHED_RECORDS)\n        fill_slot(set, i, key, value);\n', '    (void)value;\n    (void)i;\n']] },
    { name: 'newer-state-read', service: 'queue', file: 'src/store/embedded/snapshots.c',
        change: [['if (snapshot_read_options(snapshot) == read)', 'if (read)']],
        args: ['--faults', '1', '--lives', '40', '--clients', '16', '--operations', '40'] },
    { name: 'early-check-taken-for-the-check', file: 'src/service/operation.c',
        change: [['    e = operation_check(d);\n    if (!e && d->malformed) {',
            '    e = d->input->conditions.given ? d->operation->subject ? d->operation->subject(d) : OK\n' +
            '                                   : operation_check(d);\n    if (!e && d->malformed) {']] },
    { name: 'conditions-by-etag-only-once', file: 'src/concurrency/etag.c',
        change: [['now > before.v ? now : before.v + 1', 'before.v + 1']] },
    { name: 'note-after-wake', file: 'src/store/embedded/syncer.c',
        change: [['        write_record(syncer, target);\n', ''],
            ['        woken = wake_ready(syncer);\n', '        woken = wake_ready(syncer);\n        write_record(syncer, target);\n']],
        args: ['--faults', '129', '--lives', '3', '--clients', '6'] },
    { name: 'start-not-noted', file: 'src/store/embedded/open.c',
        change: [['    if (!result && proof.has_logs)\n        result = syncer_record_start(folder->fd, embedded->synced, proof.sequence);\n', '']],
        args: ['--faults', '130', '--aim', '2', '--lives', '4', '--clients', '4', '--operations', '600'] },
    { name: 'new-records-not-synced', file: 'src/store/embedded/open.c',
        change: [['    result = records_sync_all(folder->fd);\n', '    result = STORE_OK;\n']],
        args: ['--lives', '3', '--clients', '4', '--operations', '20'] },
    { name: 'page-of-two-states', file: 'src/blob/list_blobs.c',
        change: [['    if (is_full(page)) {', '    if (is_full(page) && page->shown > 1) {']] },
    { name: 'search-begins-anew', file: 'src/blob/find_blobs.c',
        change: [['resumes ? from->name : bytes_of("", 0)', 'bytes_of("", 0)']] },
    { name: 'append-loses-its-race', file: 'src/service/work.c',
        change: [['    e = deciding_commit(&work->decision);\n', '    e = deciding_commit(&work->decision);\n' +
            '    if (e == DECIDE_AGAIN && strcmp(work->decision.operation->name, "Append Block") == 0)\n        e = OK;\n']] },
    { name: 'append-at-an-old-offset', file: 'src/blob/append_blob.c',
        change: [['    r->offset = blob.content.length;', '    r->offset = p->has_position ? p->position : blob.content.length;'],
            ['if (p->has_position && p->position != length)', 'if (p->has_position && p->position > length)']] },
    { name: 'diff-forgets-cleared-page', file: 'src/content/sparse_ranges.c',
        change: [['if (was && !is && !list_add(', 'if (was && !is && (uint64_t)stamp == 0 && !list_add(']] },
    { name: 'copy-shares-its-source', file: 'src/blob/copy_blob.c',
        change: [['    target->copy = copy_of(p, COPY_SUCCESS, d->now);',
            '    if (target->type == BLOB_APPEND)\n        target->content = p->source_blob.content;\n' +
            '    target->copy = copy_of(p, COPY_SUCCESS, d->now);']] },
    { name: 'copy-is-back-at-once', file: 'src/blob/copy_blob.c',
        change: [['    target->tier = TIER_ARCHIVE;\n', '']] },
    { name: 'revoked-policy-opens', file: 'src/auth/permit.c',
        change: [['    if (!policy)\n        return refuse(ret_detail, "SAS identifier',
            '    if (!policy) {\n        *ret_permissions = bytes_from_string("racwdlt");\n        return OK;\n    }\n' +
            '    if (!policy)\n        return refuse(ret_detail, "SAS identifier']] },
    { name: 'sas-of-another-type', file: 'src/auth/permit.c',
        change: [['        return E_AuthorizationResourceTypeMismatch;', '        return OK;']] },
    { name: 'policy-not-guarded', file: 'src/service/decision.c',
        change: [['    if (!decision_rests_on_policy(d))\n', '']] },
    { name: 'part-answered-and-not-done', file: 'src/service/batch.c',
        change: [['    if (part->error)\n        answer_error(', '    if (part->error && part->error != E_SnapshotsPresent)\n        answer_error(']] },
    { name: 'part-committed-into-the-void', file: 'src/service/exchange.c',
        change: [['enum error e = work_commit(flow->current);',
            'enum error e = flow->batch && flow->current->decision.now % 2 ? OK : work_commit(flow->current);']] },
    { name: 'part-lost-by-its-group', file: 'src/service/deciding.c',
        change: [['store_commit(first->store, parts, count, now,',
            'store_commit(first->store, parts, count - (count > 1), now,']] },
    { name: 'tag-index-left-behind', file: 'src/blob/delete_blob.c',
        change: [['    tag_index_update(d->changes, d->arena, blob->tags, bytes_of(NULL, 0));\n', '']] },
    { name: 'archived-blob-read', file: 'src/blob/get_blob.c',
        change: [['    e = blob_refuse_archived(&r->blob);', '    e = OK;']] },
    { name: 'half-closed-client-cut', file: 'src/http/exchange.c',
        change: [['        return step_between(connection);',
            '        return step_between(connection);\n    if (connection->ended)\n        return TURN_ENDS;']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'answer-of-the-one-before', file: 'src/http/exchange.c',
        change: [['    input_use(&live->connection->net.input, bytes);',
            '    input_use(&live->connection->net.input, bytes > 9000 ? bytes - 1 : bytes);']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'worker-not-woken', file: 'src/net/wake.c',
        change: [['    if (!first && current != worker)', '    if (first && current != worker)']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'bytes-of-another-client', file: 'src/net/worker.c',
        change: [['    input_keep(&connection->input);', '    (void)input_keep;']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'continue-not-said', file: 'src/http/exchange.c',
        change: [['return live->expects ? answer_continue(live) : TURN_GOES_ON;', 'return TURN_GOES_ON;']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'continue-said-to-the-refused', file: 'src/http/exchange.c',
        change: [['if (step == HTTP_RESPOND && (live->expects || is_too_much(live)))', 'if (step == HTTP_RESPOND && is_too_much(live))']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'continue-said-without-a-body', file: 'src/http/request.c',
        change: [['own.expects_continue && request->content_length != 0 &&', 'own.expects_continue &&']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'expectation-passed-over', file: 'src/http/request.c',
        change: [['    if (own.expects_other)\n        return 417;\n', '']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'chunk-line-short-by-one', service: 'queue', file: 'src/http/chunks.c',
        change: [['CHUNK_TRAILER_MAX : CHUNK_LINE_MAX)', 'CHUNK_TRAILER_MAX : CHUNK_LINE_MAX - 1)']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'chunk-line-long-by-one', service: 'queue', file: 'src/http/chunks.c',
        change: [['CHUNK_TRAILER_MAX : CHUNK_LINE_MAX)', 'CHUNK_TRAILER_MAX : CHUNK_LINE_MAX + 1)']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'trailer-short-by-one', service: 'queue', file: 'src/http/chunks.c',
        change: [['CHUNK_TRAILER_MAX : CHUNK_LINE_MAX)', 'CHUNK_TRAILER_MAX - 1 : CHUNK_LINE_MAX)']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'trailer-long-by-one', service: 'table', file: 'src/http/chunks.c',
        change: [['CHUNK_TRAILER_MAX : CHUNK_LINE_MAX)', 'CHUNK_TRAILER_MAX + 1 : CHUNK_LINE_MAX)']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'chunk-size-beyond-its-range', service: 'queue', file: 'src/http/chunks.c',
        change: [['(uint64_t)INT64_MAX >> 4', 'UINT64_MAX >> 4']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'chunk-size-in-two-pieces', service: 'table', file: 'src/http/chunks.c',
        change: [['        if (at == input.len)\n            break;\n',
            '        if (at == input.len) {\n            chunks->left = chunks->place == CHUNK_SIZE ? 0 : chunks->left;\n            break;\n        }\n']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'cut-chunks-taken-for-whole', service: 'queue', file: 'src/http/exchange.c',
        change: [['        return receive(live->connection, CONNECTION_INPUT_BYTES);\n    case CHUNK_RUN:',
            '        switch (receive(live->connection, CONNECTION_INPUT_BYTES)) {\n        case TURN_GOES_ON:\n            return TURN_GOES_ON;\n' +
            '        case TURN_WAITS:\n            return TURN_WAITS;\n        default:\n' +
            '            return live->stage == STAGE_BODY ? step_end(live) : TURN_ENDS;\n        }\n    case CHUNK_RUN:']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'stalled-body-waited-for', service: 'queue', file: 'src/net/limits.c',
        change: [['    if (silence > limits->body_stall_s * 1000ull)', '    if (silence > limits->body_stall_s * 9000ull)'],
            ['    if (age > limits->body_rate_grace_s * 1000ull &&', '    if (age > limits->body_rate_grace_s * 9000ull &&']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'put-in-chunks-taken', file: 'src/service/route.c',
        change: [['!call_header(call, "content-length").ptr)', 'call->request->content_length == 0 && !call_header(call, "content-length").ptr)']],
        args: ['--faults', '1283', '--lives', '2'] },
    { name: 'rule-shown-by-a-failed-store', file: 'src/service/durable.c',
        change: [['    if (store_settled(d->store, flow->work.cors.seen) != STORE_OK)\n        flow->work.cors = (struct cors){ .enabled = false };\n', '']],
        args: ['--faults', '6', '--aim', '1', '--lives', '40', '--clients', '32', '--operations', '30'] },
    { name: 'manifest-not-settled', service: 'queue', file: 'src/store/embedded/records_proof.c',
        change: [['fsync(fd) == 0 && fsync(proof->records) == 0;', 'fd >= 0;']],
        args: ['--faults', '3', '--aim', '3', '--lives', '100', '--clients', '2', '--operations', '300'] },
    { name: 'shortage-taken-for-damage', file: 'src/store/embedded/records_proof.c',
        change: [['if (errno == ENOENT)', 'if (errno == ENOENT || errno == EMFILE)']],
        args: ['--faults', '17', '--lives', '40', '--clients', '2', '--operations', '200'] },
    { name: 'listing-cut-short', file: 'src/store/embedded/records_files.c',
        change: [['    if (error) {', '    if (error && files.count == 0) {']],
        args: ['--faults', '6', '--aim', '6', '--lives', '60', '--clients', '4', '--operations', '60'] },
    { name: 'short-write-taken-for-whole', file: 'src/store/embedded/extent_file.c',
        change: [['        offset += (uint64_t)written;\n', '        break;\n        offset += (uint64_t)written;\n']],
        args: ['--faults', '33', '--lives', '3', '--clients', '4', '--operations', '200'] },
    { name: 'interrupted-write-is-final', file: 'src/store/embedded/extent_file.c',
        change: [['        if (written < 0 && errno == EINTR)\n            continue;\n', '']],
        args: ['--faults', '33', '--lives', '3', '--clients', '4', '--operations', '200'] },
    { name: 'unwritten-note-is-final', file: 'src/store/embedded/syncer.c',
        change: [['    (void)write_note(syncer->synced, sequence);', '    if (!write_note(syncer->synced, sequence))\n        syncer->failed(syncer->context);']],
        args: ['--faults', '4', '--aim', '4', '--lives', '3', '--clients', '4', '--operations', '200'] },
    { name: 'full-disk-is-final', file: 'src/store/embedded/stage_write.c',
        change: [['    if (result == STORE_IO)\n        embedded_fail(embedded);\n    /* The kernel', '    if (result)\n        embedded_fail(embedded);\n    /* The kernel']],
        args: ['--faults', '8', '--aim', '5', '--lives', '3', '--clients', '4', '--operations', '200'] },
    { name: 'unreadable-piece-is-final', file: 'src/store/embedded/piece_read.c',
        change: [['        verified_add_unreadable(&fetch->embedded->verified, &fetch->piece);',
            '        embedded_fail(fetch->embedded);']],
        args: ['--faults', '4', '--aim', '5', '--lives', '3', '--clients', '4', '--operations', '200'] },
    { name: 'damaged-piece-sent', file: 'src/store/embedded/piece_read.c',
        change: [['    if (crc32c(0, to, sector_length(piece, sector)) != piece->sector_crc[sector]) {', '    if (!piece) {']],
        args: ['--faults', '129', '--lives', '4', '--clients', '4', '--operations', '400'] },
    { name: 'damaged-log-accepted', file: 'src/store/embedded/records_proof.c',
        change: [['    if (!result && candidate->chain.sequence < proof->durable)', '    if (!result && !proof)']],
        args: ['--faults', '129', '--lives', '4', '--clients', '4', '--operations', '400'] },
    { name: 'pending-copy-forgotten', file: 'src/blob/pending_copy.c',
        change: [['    changes_defer(d->changes, d->now, TASK_COPY_BLOB,\n' +
            '                  bytes_of(pending->source.id.b, sizeof pending->source.id.b));', '']] },
    { name: 'aborted-copy-goes-on', file: 'src/blob/copy_blob.c',
        change: [['    if (state->blob.copy.status != COPY_PENDING || !guid_equal(&state->blob.copy.id, id))\n' +
            '        return E_NoPendingCopyOperation;\n    result = pending_copy_read',
            '    result = pending_copy_read'],
            ['    pending_copy_delete(d->changes);\n', '']] },
    { name: 'write-beside-pending-copy', file: 'src/blob/subject.c',
        change: [['? E_PendingCopyOperation', '? OK']] },
    { name: 'lease-outlived', file: 'src/concurrency/lease.c',
        change: [['return lease->ends == 0 || now < lease->ends ? LEASE_LEASED : LEASE_EXPIRED;',
            'return LEASE_LEASED;']] },

    { name: 'space-never-collected', file: 'src/store/embedded/commit.c',
        change: [['            collector_add(&commit->embedded->collector, &dropped[k]);', '            (void)dropped[k];']] },
    { name: 'space-collected-by-one-step', file: 'src/store/embedded/collector.c',
        change: [['        while (!result && !must_stop(collector)) {', '        if (!must_stop(collector)) {'],
            ['        if (!result)\n            return STORE_WAIT; /* it goes on', '        if (must_stop(collector))\n            return STORE_WAIT; /* it goes on'],
            ['        if (result != STORE_NOT_FOUND) {', '        if (result && result != STORE_NOT_FOUND) {']],
        all: [['CURSOR_RECORDS  4096', 'CURSOR_RECORDS  1'], ['BATCH_RECORDS   256', 'BATCH_RECORDS   1']] },
    { name: 'content-collected-by-one-step', file: 'src/service/deferred_tasks.c',
        change: [['    if (!result && more)\n        decision_defer_collection', '    if (result && more)\n        decision_defer_collection']] },
    { name: 'deleted-snapshot-read', file: 'src/blob/blob_record.c',
        change: [['return snapshot_marks_apply(&marks, snapshot) ? STORE_OK : STORE_NOT_FOUND;',
            'return snapshot_marks_apply(&marks, snapshot) || snapshot->deletion.at == 0 ? STORE_OK : STORE_NOT_FOUND;']] },
    { name: 'deleted-snapshot-listed', file: 'src/blob/list_blobs.c',
        change: [['blob_snapshot_ref(page->marks.items[0].until + 1)', 'blob_snapshot_ref(page->marks.items[0].from)'],
            ['    return snapshot_marks_apply(&page->marks, blob);', '    return true;']] },
    { name: 'later-snapshot-deleted', file: 'src/blob/snapshot_changes.c',
        change: [['.kind = kind, .until = d->now, .at = d->now,', '.kind = kind, .until = d->now + TICKS_PER_SECOND, .at = d->now + TICKS_PER_SECOND,']] },
    { name: 'snapshots-deleted-by-one-step', file: 'src/blob/snapshot_changes.c',
        change: [['    if (goes_on)\n', '    if (!goes_on)\n']] },
    { name: 'blocks-never-expire', file: 'src/blob/expire_blocks.c',
        change: [['changes_defer(changes, total->task_due, TASK_EXPIRE_BLOCKS,',
            'changes_defer(changes, total->task_due, TASK_EXPIRE_BLOCKS + 0x7000,']] },
    { name: 'holders-left-behind', file: 'src/content/content_holders.c',
        change: [['    if (holders <= 1) {\n        changes_delete(changes, RECORD_INNER, bytes_of(key, sizeof key));', '    if (holders <= 1) {']] },
    { name: 'policy-start-ignored', file: 'src/auth/permit.c',
        change: [['check_times(sas->start > 0 ? sas->start : policy->start, expiry,', 'check_times(sas->start, expiry,']] },
    { name: 'policy-and-sas-say-both', file: 'src/auth/permit.c',
        change: [['(sas->permissions.ptr && policy->permission.ptr))', '!policy)']] },
    { name: 'policy-and-sas-of-a-queue-say-both', service: 'queue', file: 'src/auth/permit.c',
        change: [['(sas->permissions.ptr && policy->permission.ptr))', '!policy)']] },
    { name: 'policy-and-sas-of-a-table-say-both', service: 'table', file: 'src/auth/permit.c',
        change: [['(sas->permissions.ptr && policy->permission.ptr))', '!policy)']] },
    { name: 'key-expiry-ignored', file: 'src/auth/sas.c',
        change: [['if (now >= key->start && now < key->expiry)', 'if (now >= key->start)']] },
    { name: 'key-start-ignored', file: 'src/auth/sas.c',
        change: [['if (now >= key->start && now < key->expiry)', 'if (now < key->expiry)']] },
    { name: 'address-of-another', file: 'src/auth/sas.c', change: [['|| peer < from || peer > to)', '|| peer > to)']] },
    { name: 'mark-cleared-behind-its-target', file: 'src/store/embedded/syncer.c',
        change: [['        atomic_store(&syncer->dirty, false);\n        target = keyspace_sequence(syncer->keyspace);\n',
            '        target = keyspace_sequence(syncer->keyspace);\n        atomic_store(&syncer->dirty, false);\n']],
        args: ['--faults', '0', '--lives', '0', '--clients', '3', '--operations', '60'] },
    { name: 'batch-goes-on-at-the-wrong-part', file: 'src/service/batch.c',
        change: [['        batch->next = batch->group[0];', '        batch->next = batch->group[count - 1];']],
        args: ['--clients', '16', '--operations', '60'] },
    { name: 'cors-seen-before-durable', file: 'src/service/durable.c',
        change: [['    return store_settled(d->store, flow->work.cors.seen);', '    return STORE_OK;']] },
    { name: 'weak-tag-matches', file: 'src/concurrency/etag.c',
        change: [['ret_etag->v = is_weak ? 0 : value_of(tag);', 'ret_etag->v = value_of(tag);']] },
    { name: 'tag-wrong-by-one', file: 'src/concurrency/conditions.c',
        change: [['list->tags[i].v == etag.v)', 'list->tags[i].v - etag.v + 1 < 2)']] },
    { name: 'write-ends-with-its-unit', file: 'src/content/sparse_write.c',
        change: [['                                      const struct body *body)\n{\n    uint64_t end = offset + body->length;\n\n    for (uint64_t unit = offset / UNIT_BYTES; unit <= (end - 1) / UNIT_BYTES; unit++) {',
            '                                      const struct body *body)\n{\n    uint64_t end = offset + body->length;\n\n    for (uint64_t unit = offset / UNIT_BYTES; unit <= offset / UNIT_BYTES; unit++) {']] },
    { name: 'instant-given-twice', file: 'src/base/clock.c',
        change: [['now = ours > last ? ours : last + 1;', 'now = ours >= last ? ours : last + 1;']] },

    { name: 'message-got-by-two', service: 'queue', file: 'src/service/work.c',
        change: [['    e = deciding_commit(&work->decision);\n', '    e = deciding_commit(&work->decision);\n' +
            '    if (e == DECIDE_AGAIN && strcmp(work->decision.operation->name, "Get Messages") == 0)\n        e = OK;\n']] },
    { name: 'message-in-two-places', service: 'queue', file: 'src/queue/message.c',
        change: [['    if (message_place(before) != message_place(after))\n', '    if (message_place(before) != message_place(after) && before->dequeued > 0)\n']] },
    { name: 'old-receipt-accepted', service: 'queue', file: 'src/queue/message.c',
        change: [['    if (result == STORE_NOT_FOUND)\n        return snapshot_is_gone(d->before) ? DECIDE_AGAIN : E_MessageNotFound;\n    if (result)\n        return decision',
            '    if (result == STORE_NOT_FOUND) {\n        struct scan *scan = message_scan_order(d->before, 0);\n' +
            '        while (!(result = scan_next(scan, NULL, &record)) && message_read_order(&record, ret_message) &&\n' +
            '               !guid_equal(&ret_message->id, &claim->id))\n            ;\n        scan_close(scan);\n' +
            '        return result ? E_MessageNotFound : OK;\n    }\n    if (result)\n        return decision']] },
    { name: 'delete-forgotten-by-a-crash', service: 'queue', file: 'src/service/work.c',
        change: [['    e = deciding_commit(&work->decision);\n', '    uint64_t seen = work->decision.seen;\n' +
            '    e = deciding_commit(&work->decision);\n' +
            '    if (strcmp(work->decision.operation->name, "Delete Message") == 0)\n        work->decision.seen = seen;\n']] },
    { name: 'message-collected-early', service: 'queue', file: 'src/queue/expire_messages.c',
        change: [['if (expiring->due > run->now ||', 'if (expiring->due > run->now + 2 * TICKS_PER_SECOND ||']] },
    { name: 'collection-stops', service: 'queue', file: 'src/queue/expire_messages.c',
        change: [['arm(d, next > soon ? next : soon, now);',
            'write_collection(d->changes, d->arena, (struct collection){ .due = soon, .from = next });']] },
    { name: 'collection-passes-what-is-put-later', service: 'queue', file: 'src/queue/expire_messages.c',
        change: [['next > soon ? next : soon, now);', 'next > soon ? next : soon, next);']] },
    { name: 'moved-message-not-searched', service: 'queue', file: 'src/queue/expire_messages.c',
        change: [['    if (result != STORE_NOT_FOUND || searched <= expiring->due)', '    if (result != STORE_NOT_FOUND)']] },
    { name: 'moved-message-not-noted', service: 'queue', file: 'src/queue/expire_messages.c',
        change: [['message->changes > 0 && !message->forwarded', 'message->changes > 1 && !message->forwarded']] },
    { name: 'message-hidden-beyond-its-expiry', service: 'queue', file: 'src/queue/message.c',
        change: [['return expires_first ? message->expires : message->visible', 'return message->visible']] },
    { name: 'expired-message-got', service: 'queue', file: 'src/queue/get_messages.c',
        change: [['if (message.expires > search->now)', 'if (message.expires + TICKS_PER_SECOND > search->now)']] },
    { name: 'mark-above-a-visible-message', service: 'queue', file: 'src/queue/get_messages.c',
        change: [['if (search->end > message->visible)', 'if (search->end > message->visible + TICKS_PER_SECOND)']] },
    { name: 'front-of-an-older-state-kept', service: 'queue', file: 'src/store/embedded/cursor.c',
        change: [['    if (!atomic_load(&snapshot->view)) {\n        if (!stripe->front)', '    if (stripe) {\n        if (!stripe->front)']] },
    { name: 'message-count-not-kept', service: 'queue', file: 'src/queue/message.c',
        change: [['changes_count(changes, message_counter, -1);', 'if (message->dequeued < 2)\n        changes_count(changes, message_counter, -1);']] },
    { name: 'put-beside-a-clear', service: 'queue', file: 'src/queue/message_operations.c',
        change: [['    queue.space = p->space;\n', '    (void)p;\n']] },
    { name: 'message-hidden-until-a-step', service: 'queue', file: 'src/base/clock.c',
        change: [['    return t - steps_until(t);', '    return t;']], args: ['--faults', '512', '--lives', '2'] },
    { name: 'steps-forgotten-by-a-start', service: 'queue', file: 'src/store/record_value.c',
        change: [['        checkpoint.steps = be64_get(value.ptr + 8);\n', '']], args: ['--faults', '515', '--lives', '12'] },
    { name: 'step-of-days-taken-for-time', service: 'queue', file: 'src/store/record_value.c',
        change: [['        checkpoint.pending = be64_get(value.ptr + 16);\n', '']], args: ['--faults', '515', '--lives', '12'] },
    { name: 'peek-by-the-wall-clock', service: 'queue', file: 'src/queue/get_messages.c',
        change: [['    struct search s = { .now = message_now(d), .wanted = p->count, .found = &r->list };',
            '    struct search s = { .now = d->now, .wanted = p->count, .found = &r->list };']], args: ['--faults', '512', '--lives', '2'] },
    { name: 'receipt-wrong-by-one', service: 'queue', file: 'src/queue/message.c',
        change: [['|| ret_message->changes != claim->receipt.changes)', '|| ret_message->changes - claim->receipt.changes > 1)']] },
    { name: 'transaction-half-applied', service: 'table', file: 'src/service/transaction.c',
        change: [['    if (!e)\n        changes_append(', '    if (!e && index != 1)\n        changes_append(']] },
    { name: 'transaction-refused-and-done', service: 'table', file: 'src/service/transaction.c',
        change: [['return decision_is_unfinished(e) ? e : fail_part(work, i, e);',
                'return decision_is_unfinished(e) ? e : i > 1 ? OK : fail_part(work, i, e);']] },
    { name: 'if-match-not-judged-at-commit', service: 'table', file: 'src/store/embedded/commit.c',
        change: [['    if (is_unchanged(commit)) {\n        instant', '    if (commit) {\n        instant']] },
    { name: 'merge-loses-a-property', service: 'table', file: 'src/table/entity.c',
        change: [['        merged[to.count++] = newer ? *newer : base->properties[i];',
            '        if (newer || i < 3)\n            merged[to.count++] = newer ? *newer : base->properties[i];']] },
    { name: 'page-loses-an-entity', service: 'table', file: 'src/table/query_entities.c',
        change: [['    if (is_full(page)) {',
            '    if (is_full(page) && !page->complete) {\n        page->complete = true;\n        return STORE_OK;\n    }\n    if (is_full(page)) {']] },
    { name: 'page-of-entities-of-two-states', service: 'table', file: 'src/table/query_entities.c',
        change: [['        result = add_range(&page, &ranges.ranges[i]);', `    {
        result = add_range(&page, &ranges.ranges[i]);
        space_iterator_close(page.iterator);
        usleep(100);
        page.iterator = space_iterator_open(d->store, table->space, page.place.partition, page.place.row, d->access);
        decision_saw(d, space_iterator_sequence(page.iterator));
    }`]] },
    { name: 'page-of-a-table-that-is-gone', service: 'table', file: 'src/table/query_entities.c',
        change: [['    if (!result && page.complete && space_iterator_is_gone(page.iterator))', '    if (result == STORE_CORRUPT)']] },
    { name: 'page-seen-before-durable', service: 'table', file: 'src/table/query_entities.c',
        change: [['    decision_saw(d, space_iterator_sequence(page.iterator));\n', '']],
        args: ['--faults', '67', '--lives', '60', '--clients', '40', '--operations', '20'] },
    { name: 'entity-of-a-table-that-is-gone', service: 'table', file: 'src/table/subject.c',
        change: [['return snapshot_is_gone(d->before) ? DECIDE_AGAIN : OK;', 'return OK;']] },
    { name: 'key-range-passed-by-a-write', service: 'table', file: 'src/table/subject.c',
        change: [['    if (key_limits_hold(&limits, place))\n        return OK;', '    if (key_limits_hold(&limits, place) || decision_may_change(d))\n        return OK;']] },
    { name: 'key-range-passed-by-a-page', service: 'table', file: 'src/table/query_entities.c',
        change: [['    if (key_limits_end_before(&page->limits, at))\n        return STORE_NOT_FOUND;\n', '']] },
    { name: 'revoked-policy-opens-a-table', service: 'table', file: 'src/auth/permit.c',
        change: [['    if (!policy)\n        return refuse(ret_detail, "SAS identifier',
            '    if (!policy) {\n        *ret_permissions = bytes_from_string("raud");\n        return OK;\n    }\n' +
            '    if (!policy)\n        return refuse(ret_detail, "SAS identifier']] },
    { name: 'policy-of-a-table-not-guarded', service: 'table', file: 'src/service/decision.c',
        change: [['    if (!decision_rests_on_policy(d))\n', '']] },
    { name: 'etag-stands-still', service: 'table', file: 'src/table/entity_operations.c',
        change: [['d->subject.etag = etag_after(d->subject.etag, d->now);',
            'd->subject.etag.v = d->subject.exists ? d->subject.etag.v : d->now;']] },
    { name: 'filter-range-too-narrow', service: 'table', file: 'src/table/filter_ranges.c',
        change: [['    case FILTER_LESS_EQUAL:\n        add_interval(&to, c->field, everything.from, behind);',
            '    case FILTER_LESS_EQUAL:\n        add_interval(&to, c->field, everything.from, key);'],
        ['    case FILTER_GREATER_EQUAL:\n        add_interval(&to, c->field, key, none);',
            '    case FILTER_GREATER_EQUAL:\n        add_interval(&to, c->field, behind, none);']] },
    { name: 'int64-compared-as-double', service: 'table', file: 'src/table/filter.c',
        change: [['        return (a->as.integer > b->as.integer) - (a->as.integer < b->as.integer);',
            '        return ((double)a->as.integer > (double)b->as.integer) - ((double)a->as.integer < (double)b->as.integer);']] },
    { name: 'bytes-compared-with-a-sign', service: 'table', file: 'src/table/filter.c',
        change: [['        return memcmp(a->as.guid.b, b->as.guid.b, sizeof a->as.guid.b);',
            '        return (signed char)a->as.guid.b[0] - (signed char)b->as.guid.b[0];']] },
    { name: 'path-of-two-moments', service: 'file', file: 'src/tree/lookup.c',
        change: [['TREE_FAILED : confirm(tree);', 'TREE_FAILED : TREE_OK;\n    (void)tree;']],
        args: ['--clients', '24', '--operations', '30', '--lives', '0', '--faults', '0'] },
    { name: 'move-of-a-directory-not-said', service: 'file', file: 'src/tree/change.c',
        change: [['            note_move(tree);', '            ;']] },
    { name: 'entries-left-in-the-count', service: 'file', file: 'src/tree/change.c',
        change: [['    result = count_entries(tree, source, -1);', '    result = count_entries(tree, source, 0);']] },
    { name: 'rename-refused-by-two-moments', service: 'file', file: 'src/file/rename.c',
        change: [['    if (e && !decision_is_unfinished(e)) {', '    if (!ret_shown) {']],
        args: ['--clients', '8', '--operations', '40', '--lives', '0', '--faults', '0'] },
    { name: 'sum-seen-later-taken-for-damage', service: 'file', file: 'src/file/share_usage.c',
        change: [['    if (confirmed)', '    if (!d)']] },
    { name: 'name-not-kept-for-a-snapshot', service: 'file', file: 'src/tree/change.c',
        change: [['    keep_entry(tree, from);', '    (void)from;']] },
    { name: 'bytes-not-kept-for-a-snapshot', service: 'file', file: 'src/file/file_record.c',
        change: [['        old.content = content_snapshot(tree_change(tree, part), &file->content);', '        (void)part;']] },
    { name: 'bytes-of-a-replaced-file-left', service: 'file', file: 'src/file/new_file.c',
        change: [['    file_delete(d, old, &state->file);', '    (void)old;']] },
    { name: 'bytes-of-a-copy-left', service: 'file', file: 'src/file/new_file.c',
        change: [['content_sparse(d->now - 1, length)', 'content_sparse(d->now, length)']] },
    { name: 'pending-copy-of-another-version', service: 'file', file: 'src/source/copy_run.c', args: COPIES,
        change: [['if (etag.ptr && !bytes_equal(etag, source->etag))', 'if (!etag.ptr)']] },
    { name: 'pending-copy-forgotten-by-a-restart', service: 'file', file: 'src/source/copy_run.c', args: [...COPIES, '--faults', '3', '--lives', '20'],
        change: [['    changes_defer(d->changes, d->now + (full ? FULL_TICKS : LOOK_TICKS), task->kind, task->payload);', '    (void)full;']] },
    { name: 'pending-copy-written-to', service: 'file', file: 'src/file/file_content.c', args: COPIES,
        change: [['    if (file->copy.status == COPY_PENDING)\n        return E_PendingCopyOperation;\n    if (offset <= size', '    if (offset <= size']] },
    { name: 'bytes-of-an-ended-copy-left', service: 'file', file: 'src/file/pending_file.c', args: COPIES,
        change: [['    content_newest_delete(d->changes, &pending->target.content, &d->leaves_more);\n', '    (void)pending;\n']] },
    { name: 'pending-copy-of-a-blob-looked-for-among-files', service: 'file', file: 'src/source/copy_run.c', args: COPIES,
        change: [['c->found.pending->is_other && here->all && i <', '!here->service && i <']] },
    { name: 'page-of-names-without-a-marker', service: 'file', file: 'src/file/list_files.c',
        change: [['i < found->count ? found->entries[i].name.given : found->next', 'found->next']] },
    { name: 'name-of-another-not-shown', service: 'file', file: 'src/file/entry_file.c',
        change: [['    while (result == STORE_NOT_FOUND) {', '    while (result == STORE_CORRUPT) {']] },
    { name: 'lease-passed-by-a-rename', service: 'file', file: 'src/file/rename.c',
        change: [['        e = lease_check_write(d->lease_resource, &source->lease, asked->source_lease, d->now);', '        e = OK;']] },
    { name: 'lease-lost-by-a-new-file', service: 'file', file: 'src/file/new_file.c',
        change: [['    file->lease = state->file.lease;\n', '']] },
    { name: 'broken-lease-stays', service: 'file', file: 'src/file/path_subject.c',
        change: [['    lease_forget_if_ended(&file->lease, d->now);\n', '']] },
    { name: 'lease-of-a-share-not-broken', service: 'file', file: 'src/file/share_operations.c',
        change: [['    r->id = share.lease.id;', '    if (p->request.action == LEASE_BREAK)\n        share.lease = file_state(d)->share.lease;\n' +
            '    share_write(d->changes, d->arena, share_snapshot_key(file_asked(d)->snapshot), &share);\n    r->id = share.lease.id;'],
            ['        return e;\n    share_write(d->changes, d->arena, share_snapshot_key(file_asked(d)->snapshot), &share);\n', '        return e;\n']] },
    { name: 'ranges-compared-with-themselves', service: 'file', file: 'src/file/range_operations.c',
        change: [['    tree.at = share.generation;\n', '']] },
    { name: 'source-read-from-its-beginning', service: 'file', file: 'src/source/own_source.c',
        change: [['&open->facts.content, open->offset, open->length);', '&open->facts.content, 0, open->length);']] },
    { name: 'creator-writes-over-a-file', service: 'file', file: 'src/auth/permit.c',
        change: [['    return facts->known && facts->exists ? E_UnauthorizedBlobOverwrite : OK;', '    return OK;']] },
    { name: 'file-deleted-by-who-may-write', service: 'file', file: 'src/file/rest/operations.c',
        change: [['ROW("Delete File", DELETE, PATH, "", NULL, WRITES, MAY("o", "d", "d",', 'ROW("Delete File", DELETE, PATH, "", NULL, WRITES, MAY("o", "d", "dw",']] },
    { name: 'moved-node-read-at-its-old-name', service: 'file', file: 'src/tree/lookup.c',
        change: [['    if (directory && snapshot_is_newest(directory))', '    if (directory)']] },
    { name: 'file-inherits-as-a-directory', service: 'file', file: 'src/file/permission_store.c',
        change: [['inherited(d->arena, descriptor, is_root, for_directory, maker);',
            'inherited(d->arena, descriptor, is_root, true || for_directory, maker);']] },
    { name: 'permission-of-the-directory-taken-as-it-is', service: 'file', file: 'src/file/permission_store.c',
        change: [['        descriptor = inherited(d->arena, descriptor, is_root, for_directory, maker);',
            '        descriptor = maker ? descriptor : inherited(d->arena, descriptor, is_root, for_directory, maker);']] },
    { name: 'permission-kept-again', service: 'file', file: 'src/file/permission_store.c',
        change: [['        if (bytes_equal(there, descriptor))\n            break;\n    }\n    *ret', '    }\n    *ret']] },
    { name: 'quota-of-one-sum', service: 'file', file: 'src/file/share_usage.c',
        change: [['        *ret_total += sums->bytes[i];', '        *ret_total = sums->bytes[i];']] },
    { name: 'write-in-a-deleted-share', service: 'file', file: 'src/file/delete_share.c',
        change: [['    tree_close(&tree);', '    (void)tree;']] },
    { name: 'snapshots-lost-by-a-restore', service: 'file', file: 'src/file/delete_share.c',
        change: [['        result = read_snapshots(d, p->deleted, &snapshots);', '        result = read_snapshots(d, 0, &snapshots);']] },
    { name: 'dropped-space-taken-for-damage', service: 'file', file: 'src/service/decision.c',
        change: [['        if (has_dropped_space(d))', '        if (!d)']] },
    { name: 'previous-snapshot-of-another-moment', service: 'file', file: 'src/file/range_operations.c',
        change: [['        result = check_subject(d, owner->before);', '        result = STORE_OK;']],
        args: ['--clients', '40', '--operations', '45', '--faults', '0', '--lives', '0'] },
    { name: 'share-mode-not-checked', service: 'file', file: 'src/concurrency/opens.c', args: SMB,
        change: [['    return (use->access & ~open->share) == 0 && (open->access & ~use->share) == 0;',
            '    return (use->access & ~open->share) == 0;']] },
    { name: 'share-mode-not-checked-by-rest', service: 'file', file: 'src/file/pass.c', args: SMB,
        change: [['    e = gate_pass(gate, use);', '    e = use == REST_READS ? OK : gate_pass(gate, use);']] },
    { name: 'bytes-of-an-open-file-copied', service: 'file', file: 'src/service/inner.c', args: SMB,
        change: [['    call->input.is_source = true;\n', '']] },
    { name: 'lock-not-honoured-by-rest', service: 'file', file: 'src/file/range_operations.c', args: SMB,
        change: [['    return e ? e : file_pass_read(d, r->part.offset, r->part.length);', '    return e;']] },
    { name: 'lock-not-honoured-by-smb', service: 'file', file: 'src/concurrency/byte_locks.c', args: SMB,
        change: [['    return (!held->is_exclusive || held->owner != owner) &&', '    return held->is_exclusive && held->owner != owner &&']] },
    { name: 'waiting-lock-not-woken', service: 'file', file: 'src/file/gate_bytes.c', args: SMB,
        change: [['    gate->locks_changed = true;\n    gate_wakes(gate);', '    gate->locks_changed = true;']] },
    { name: 'delete-pending-file-listed', service: 'file', file: 'src/file/list_files.c', args: SMB,
        change: [['state->tree.at ? STORE_OK : pending_leave_out(d, &found)', 'STORE_OK']] },
    { name: 'delete-pending-file-read', service: 'file', file: 'src/concurrency/opens.c', args: SMB,
        change: [['    if (opens->is_delete_pending && !use->ignores_pending)', '    if (opens->is_delete_pending && use->is_open)']] },
    { name: 'file-deleted-beside-a-handle', service: 'file', file: 'src/file/gate_handles.c', args: SMB,
        change: [['    *ret_deletes = gate->set.open_count == 0 && gate->set.is_delete_pending;', '    *ret_deletes = gate->set.is_delete_pending;']] },
    { name: 'delete-not-awaited', service: 'file', file: 'src/smb/close.c', args: [...SMB, '--faults', '2050', '--lives', '20'],
        change: [['close->close.deleted || request->open->has_written', 'request->open->has_written']] },
    { name: 'break-not-awaited', service: 'file', file: 'src/concurrency/opens.c', args: SMB,
        change: [['    [REST_WRITES]   = { .access = ACCESS_WRITE, .share = ACCESS_ALL,\n' +
            '                        .strips = CACHING_ALL, .waits_for = CACHING_WRITE,', '    [REST_WRITES]   = { .access = ACCESS_WRITE, .share = ACCESS_ALL,\n' +
            '                        .strips = CACHING_ALL,']] },
    { name: 'writes-cached-beside-an-open', service: 'file', file: 'src/concurrency/opens.c', args: SMB,
        change: [['    return other->meets & meets ? wants & (uint8_t)~CACHING_WRITE : wants;', '    (void)meets;\n    return other ? wants : 0;']] },
    { name: 'handle-that-is-away-bars', service: 'file', file: 'src/file/gate_settle.c', args: SMB,
        change: [['    return open->away_until > 0 && (!open->persists ||', '    return open->away_until > 0 && (open->persists &&']] },
    { name: 'handle-kept-though-a-break-is-under-way', service: 'file', file: 'src/file/gate_away.c', args: SMB,
        change: [['return entry && (entry->caching.holds & CACHING_HANDLE) && !caching_is_breaking(entry);', 'return entry && (entry->caching.holds & CACHING_HANDLE);']] },
    { name: 'handle-that-has-ended-taken-for-damage', service: 'file', file: 'src/file/gate_away.c',
        change: [['        result = decision_confirm(d);\n        result = result ? result : STORE_CORRUPT;\n', '        result = STORE_CORRUPT;\n']],
        args: [...SMB, '--lives', '0'] },
    { name: 'flush-not-awaited', service: 'file', file: 'src/smb/commands.c', args: [...SMB, '--faults', '2050', '--lives', '20'],
        change: [['ROW(FLUSH,            24,  FILE,     COMPOUND,   LASTING', 'ROW(FLUSH,            24,  FILE,     COMPOUND,   COMMITTED']] },
    { name: 'write-through-not-awaited', service: 'file', file: 'src/smb/write.c', args: [...SMB, '--faults', '2050', '--lives', '20'],
        change: [['        request->lasting = LASTING;', '        request->lasting = COMMITTED;']] },
    { name: 'close-after-writes-not-awaited', service: 'file', file: 'src/smb/close.c', args: [...SMB, '--faults', '2050', '--lives', '20'],
        change: [['close->close.deleted || request->open->has_written', 'close->close.deleted']] },
    { name: 'read-of-what-a-crash-takes', service: 'file', file: 'src/smb/commands.c', args: [...SMB, '--faults', '2050', '--lives', '20'],
        change: [['ROW(READ,             49,  FILE,     COMPOUND,   SEEN', 'ROW(READ,             49,  FILE,     COMPOUND,   COMMITTED']] },
    { name: 'name-made-in-a-directory-that-goes', service: 'file', file: 'src/file/handle_open.c', args: SMB,
        change: [['    return e ? e : gate_add_name(&gate, false);', '    return e;']] },
    { name: 'directory-renamed-above-an-open-file', service: 'file', file: 'src/file/handle_rename.c', args: SMB,
        change: [['decision_fail_store(d, result) : E_AuthorizationPermissionMismatch;', 'decision_fail_store(d, result) : OK;']] },
    { name: 'directory-with-names-to-be-deleted', service: 'file', file: 'src/file/handle_info.c', args: SMB,
        change: [['    return count > 0 ? E_DirectoryNotEmpty : OK;', '    return OK;']] },
    { name: 'list-goes-on-at-its-beginning', service: 'file', file: 'src/file/handle_list.c', args: SMB,
        change: [['list->next.name.ptr ? list->next.name : page->pattern.prefix;', 'page->pattern.prefix;']] },
    { name: 'pattern-without-its-last-marks', service: 'file', file: 'src/file/name_pattern.c', args: SMB,
        change: [['!sets_meet(&here, &pattern->one_or_dot) && ', '']] },
    { name: 'persistent-open-not-awaited', service: 'file', file: 'src/smb/create.c', args: PERSISTENT,
        change: [['create->open.lasts || open->durable.kind == DURABLE_PERSISTENT', 'create->open.lasts']] },
    { name: 'lock-of-a-persistent-handle-not-awaited', service: 'file', file: 'src/smb/lock.c', args: PERSISTENT,
        change: [['        request->lasting = LASTING; /*', '        request->lasting = COMMITTED; /*']] },
    { name: 'persistent-handle-never-over', service: 'file', file: 'src/file/open_record.c', args: PERSISTENT,
        change: [['open->away_until > now', '(open->away_until > now || now > 0)']] },
    { name: 'break-of-an-earlier-process-under-way', service: 'file', file: 'src/file/open_record.c', args: PERSISTENT,
        change: [['        if (!is_answered[i])', '        if (!is_answered[i] && i > CACHINGS_MAX)']] },
    { name: 'break-of-an-earlier-process-forgotten', service: 'file', file: 'src/file/open_record.c', args: PERSISTENT,
        change: [['caching_settle(&set->cachings[i], set->cachings[i].caching.breaks_to);', 'caching_settle(&set->cachings[i], set->cachings[i].caching.holds);']] },
    { name: 'locks-of-an-earlier-process-lost', service: 'file', file: 'src/file/open_record.c', args: PERSISTENT,
        change: [['        if (open_set_find(set, (*ret_locks)[i].owner))', '        if (open_set_find(set, (*ret_locks)[i].owner) &&\n            open_set_find(set, (*ret_locks)[i].owner)->epoch == open_epoch())']] },
    { name: 'delete-of-an-earlier-process-pending', service: 'file', file: 'src/file/open_record.c', args: PERSISTENT,
        change: [['pending && set.open_count > 0;', 'pending;']] },
    { name: 'handle-not-kept-from-the-start-on', service: 'file', file: 'src/file/open_record.c', args: PERSISTENT,
        change: [['        o.away_until = open_epoch_end_of(o.epoch, o.kept_ticks);', '        o.away_until += 0;']] },
    { name: 'handle-that-has-ended-comes-back', service: 'file', file: 'src/file/open_epoch.c', args: PERSISTENT,
        change: [['        if (starts.of[i].at > of &&', '        if (starts.of[i].at > of && starts.count == 0 &&']] },
    { name: 'handle-ended-by-a-restart', service: 'file', file: 'src/file/open_epoch.c', args: PERSISTENT,
        change: [['starts.of[i].lasted >= ticks', 'starts.of[i].lasted < ticks']] },
    { name: 'locks-of-an-earlier-process-counted', service: 'file', file: 'src/file/gate.c', args: PERSISTENT,
        change: [['gate->set.left_count > 0 && gate->set.lock_count > 0 ? gate_drop_locks(gate) : OK;', 'OK;']] },
    { name: 'rename-by-rest-not-told', service: 'file', file: 'src/file/rename.c', args: SMB,
        change: [['    if (!e)\n        e = notify_rename(d, from, &state->place);', '    if (!e && !d->operation)\n        e = notify_rename(d, from, &state->place);']] },
    { name: 'changes-told-twice', service: 'file', file: 'src/smb/change_notify.c', args: SMB,
        change: [['    forget(watch);\n    watch->has_overflowed = false;', '    watch->has_overflowed = false;']] },
    { name: 'watcher-not-woken', service: 'file', file: 'src/smb/change_notify.c', args: SMB,
        change: [['    atomic_store(&connection->changes_come, true);\n    smb_post_news(connection);', '    atomic_store(&connection->changes_come, true);']] },
    { name: 'watch-that-outlives-its-handle', service: 'file', file: 'src/smb/change_notify.c', args: SMB,
        change: [['        request_cancel(notify->request, STATUS_NOTIFY_CLEANUP);', '        (void)notify;']] },
    { name: 'replayed-open-made-twice', service: 'file', file: 'src/smb/create_again.c', args: SMB,
        change: [['    if (!open)\n        return STATUS_SUCCESS;', '    if (!open || open->is_fresh)\n        return STATUS_SUCCESS;']] },
    { name: 'replay-of-an-open-in-work', service: 'file', file: 'src/smb/create_again.c', args: SMB,
        change: [['    if (!open->is_open)\n        return STATUS_FILE_NOT_AVAILABLE;', '    if (!open->is_open)\n        return STATUS_SUCCESS;']] },
    { name: 'not-equal-finds-equal', service: 'table', file: 'src/table/filter_ranges.c',
        change: [['    case FILTER_NOT_EQUAL:\n        add_interval(&to, c->field, everything.from, key);\n        add_interval(&to, c->field, behind, none);',
            '    case FILTER_NOT_EQUAL:\n        add_interval(&to, c->field, everything.from, key);']] },
    { name: 'table-left-in-the-store', service: 'table', file: 'src/store/embedded/commit.c',
        change: [['            collector_add(&commit->embedded->collector, &dropped[k]);', '            (void)dropped[k];']] },
    { name: 'rados-guard-left-out', file: 'src/store/rados/shard_op.c', args: FRONTS,
        change: [['    port_compare(op, key, partition_header_write(op->arena, &first->seen));\n', '']] },
    { name: 'rados-settled-too-early', service: 'file', file: 'src/store/rados/resolve.c', args: [...FRONTS, '--clients', '16'],
        change: [['    case FATE_OPEN:\n        break;', '    case FATE_OPEN:\n        settle(r);\n        return;']] },
    { name: 'rados-unknown-outcome-answered', file: 'src/service/deciding.c', args: [...FRONTS, '--faults', '68'],
        change: [['        return DECIDE_UNKNOWN;', '        return E_ServerBusy;']] },
    { name: 'rados-own-attempt-not-known', file: 'src/store/rados/shard_rows.c', args: [...FRONTS, '--faults', '4'],
        change: [['    if (partition_header_remembers(now, attempt) || partition_header_equal(now, after))', '    if (attempt.number == 0)']] },
    { name: 'rados-lock-not-looked-after', file: 'src/store/rados/transaction.c', args: [...FRONTS, '--faults', '1', '--clients', '12', '--operations', '12'],
        change: [['                                 .tasks = &member->task,\n', '']] },
    { name: 'rados-fence-not-checked', file: 'src/store/rados/shard_op.c', args: [...FRONTS, '--faults', '64'],
        change: [['            port_compare(op, row_key_fence(op->arena, c->attempt.incarnation), none);\n', '            (void)none;\n']] },
    { name: 'rados-lock-takes-any-state', service: 'file', file: 'src/store/rados/shard_op.c', args: FRONTS,
        change: [['    port_compare(op, key, partition_header_write(op->arena, &first->seen));\n',
            '    if (!first->checks)\n        port_compare(op, key, partition_header_write(op->arena, &first->seen));\n']] },
    { name: 'rados-guards-without-changes-left-out', service: 'file', file: 'src/store/rados/commit.c', args: [...FRONTS, '--clients', '16'],
        change: [['        result = add_part(c, &parts[i]);', '        result = parts[i].changes ? add_part(c, &parts[i]) : STORE_OK;']] },
    { name: 'rados-slot-of-its-own-commit-awaited', service: 'file', file: 'src/store/rados/transaction.c',
        args: ['--fronts', '2', '--clients', '1', '--operations', '300', '--faults', '0'],
        change: [['        while (!member->is_limb && taken >> member->slot & 1)', '        while (false && taken >> member->slot & 1)']] },
    { name: 'rados-index-of-one-shard-alone', file: 'src/store/rados/lane.c', args: FRONTS,
        change: [['    if (bounds->next > 0 && (!lane->behind', '    if (bounds->next == 1 && (!lane->behind']] },
    { name: 'rados-hold-of-others-not-honoured', file: 'src/store/rados/own_tasks.c', args: [...FRONTS, '--faults', '256'],
        change: [['rados_oldest_opened(rados) > applied && beat_oldest_of_others(rados->beat) > applied &&', 'rados_oldest_opened(rados) > applied &&']] },
    { name: 'rados-hold-not-honoured', file: 'src/store/rados/own_tasks.c', args: [...FRONTS, '--faults', '256'],
        change: [['rados_oldest_opened(rados) > applied && beat_oldest_of_others(rados->beat) > applied &&', 'beat_oldest_of_others(rados->beat) > applied &&']] },
    { name: 'rados-limb-of-any-version', file: 'src/store/rados/view_limbs.c', args: LIMBS,
        change: [['        return view_end(view, STORE_CONFLICT);\n    if', '        return STORE_OK;\n    if']] },
    { name: 'rados-limb-listed-unchanged', file: 'src/store/rados/commit_limbs.c', args: LIMBS,
        change: [['partition_version_after(seen, c->now)', 'seen->version']] },
    { name: 'rados-limb-cut-unguarded', service: 'table', file: 'src/store/rados/shard_op.c', args: LIMBS,
        change: [['    port_compare(op, key, partition_header_write(op->arena, &first->seen));\n',
            '    if (!first->after || !first->after->has_limbs || partition_is_locked(&first->seen) ||\n' +
            '        partition_is_locked(first->after))\n' +
            '        port_compare(op, key, partition_header_write(op->arena, &first->seen));\n']] },
    { name: 'rados-limb-cut-of-an-earlier-state', service: 'table', file: 'src/store/rados/limb_cut.c', args: LIMBS,
        change: [['    struct transaction *t = transaction_new(c->shards, s->arena, s->now, &commit.owner);\n',
            '    struct transaction *t = transaction_new(c->shards, s->arena, s->now, &commit.owner);\n' +
            '    struct home_read again = { .max = 1 };\n' +
            '    (void)read_home(c->shards, &c->plan.home, s->arena, &again);\n' +
            '    s->home = again.header;\n']] },
];

function mutate(defect) {
    let text = readFileSync(path.join(ROOT, defect.file), 'utf8');

    for (const [from, to] of defect.change) {
        if (!text.includes(from))
            throw new Error(`${defect.file} has no longer: ${from}`);
        text = text.replace(from, to);
    }
    for (const [from, to] of defect.all ?? []) {
        if (!text.includes(from))
            throw new Error(`${defect.file} has no longer: ${from}`);
        text = text.replaceAll(from, to);
    }
    return text;
}

/** A simulator with the defect in it. Files with points at atomics are compiled for it alone. */
function make(defect) {
    const folder = path.join(build.folder, 'tests/sim/planted', defect.name);

    return build.link('tests/sim/simulate', build.compile(defect.file, mutate(defect), folder, 'simulate_'), folder);
}

/** From "N seeds, N requests, .. N in a second of the processor". */
function done(output) {
    const [, seeds, requests, rate] =
        output.match(/(\d+) seeds, (\d+) requests, .* (\d+) in a second of the processor/) ?? [];

    return { seeds: Number(seeds ?? 0), seconds: Number(rate) > 0 ? requests / rate : 0 };
}

/** Seed after seed, until one fails or the time is over. */
function search(program, args) {
    let output = '', seed = 1, seconds = 0, status = 0;

    while (status === 0 && seconds < options.seconds) {
        ({ status, output } = build.run(program, ['--no-shrink', '--seed', String(seed), '--seconds', '10', ...args]));
        const { seeds, seconds: more } = done(output);
        if (status === 0 && seeds === 0)
            throw new Error(output);
        seed += seeds;
        seconds += more;
    }
    return { found: status === 1 && seconds <= options.seconds, output, seconds };
}

const count = { passed: 0, failed: 0 };
const unknown = wanted.filter((name) => !DEFECTS.some((defect) => defect.name === name));

if (unknown.length > 0)
    throw new Error(`no such defect: ${unknown.join(', ')}`);
DEFECTS.forEach(mutate); // a defect whose text is gone is an error at once
for (const defect of options.texts ? [] : DEFECTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    let found = false, output = '', seconds = 0;

    try {
        ({ found, output, seconds } = search(make(defect), ['--service', defect.service ?? 'blob', ...(defect.args ?? [])]));
    } catch (error) {
        output = error.message;
    }
    count[found ? 'passed' : 'failed']++;
    const why = (output.match(/fails: (.*)/) ?? [])[1] ?? output.trim().split('\n').at(-1);
    const seed = (output.match(/^seed (\d+) fails: /m) ?? [])[1] ?? 'none';
    console.log(`${found ? 'found ' : 'MISSED'} ${defect.name}: seed ${seed}, ${seconds.toFixed(1)} s: ${why}`);
}
console.log(`planted: ${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed === 0 ? 0 : 1;
