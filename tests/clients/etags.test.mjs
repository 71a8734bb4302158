// Which operations change an ETag, and which answer one. semantics 0.5, 2.1: a table over every
// operation that is built; the columns are those of `lagra operations`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { etagNow, send, TABLE } from './operations.mjs';
import { raw, rawRefused } from './raw.mjs';
import { newBlob } from './setup.mjs';

for (const [name, method, level, query, headers, body, effect, before, wrong] of TABLE) {
    const which = headers['x-ms-lease-action'] ?? Object.keys(headers)[0] ?? '';

    test(`${name} ${method} ${which} ${headers[which] ?? ''}: ${effect}`, async (t) => {
        const { container } = await newBlob(t);
        const own = container.containerName;
        t.after(() => raw('DELETE', `/${own}-new?restype=container`));
        for (const request of before)
            assert.ok((await send(own, ...request)).status < 300);
        const was = await etagNow(own, level);

        // An error of the operation's own changes nothing.
        const failing = await send(own, method, wrong.level ?? level, query + (wrong.more ?? ''),
            { ...headers, ...wrong.headers }, wrong.body ?? body);
        assert.ok(failing.status >= 400, `${failing.status}`);
        assert.ok(failing.code);
        assert.equal(failing.headers.get('etag'), undefined);
        assert.equal(await etagNow(own, level), was);

        const answer = await send(own, method, level, query, headers, body);
        assert.ok(answer.status < 300, answer.text);
        const etag = answer.headers.get('etag');
        assert.equal(etag !== undefined, ['returned', 'changed', 'own'].includes(effect),
            'answers an ETag');
        assert.equal(answer.headers.get('last-modified') !== undefined, etag !== undefined);
        const now = await etagNow(own, level);
        if (effect === 'gone') {
            assert.equal(now, undefined);
        } else if (level === 'new') {
            assert.match(etag, /^"0x[0-9A-F]+"$/);
        } else if (effect === 'changed') {
            assert.equal(now, etag);
            assert.ok(BigInt(JSON.parse(now)) > BigInt(JSON.parse(was)), `${was} -> ${now}`);
        } else {
            assert.equal(now, was);
            if (effect === 'returned')
                assert.equal(etag, was);
            if (effect === 'own')
                assert.notEqual(etag, was);
        }
    });
}

test('the table above has every operation that is built', () => {
    const text =
        execFileSync(process.env.LAGRA_BINARY, ['operations', '--json'], { encoding: 'utf8' });
    const built =
        JSON.parse(text).filter((row) => row.service === 'blob' &&
            row.built).map((row) => row.name);
    const tested = new Set(TABLE.map(([name]) => name));
    tested.add('Get Blob Properties'); // HEAD of a blob, as the table has it
    // These have none, or no ETag before: batch, service, tokens, copy, soft delete and protection have tests of their own;
    // expiry is of hierarchical accounts (expiry.test.mjs).
    for (const name of ['Blob Batch', 'Get Blob Service Stats', 'Get User Delegation Key', 'Preflight Blob Request',
        'Abort Copy Blob', 'Incremental Copy Blob', 'Get Static Website Content', 'Undelete Blob', 'Restore Container', 'Set Blob Expiry',
        'Set Blob Immutability Policy', 'Delete Blob Immutability Policy', 'Set Blob Legal Hold'])
        tested.add(name);
    assert.deepEqual([...new Set(built)].filter((name) => !tested.has(name)), []);
});

test('two changes in one tick have two ETags, the later one the greater', async (t) => {
    // semantics 0.3
    const { container } = await newBlob(t);
    const own = container.containerName;
    let last = 0n;
    for (let n = 0; n < 200; n++) {
        const answer =
            await send(own, 'PUT', 'blob', 'comp=metadata', { 'x-ms-meta-n': String(n) }, '');
        const etag = BigInt(JSON.parse(answer.headers.get('etag')));
        assert.ok(etag > last);
        last = etag;
    }
});

test('an ETag of a blob does not come back with its name', async (t) => {
    // semantics 0.3: a name that is used again has a newer ETag
    const { container, etag } = await newBlob(t);
    const own = container.containerName;
    await send(own, 'DELETE', 'blob', '', {}, '');
    const again = await send(own, 'PUT', 'blob', '', { 'x-ms-blob-type': 'BlockBlob' }, 'content');
    assert.notEqual(again.headers.get('etag'), etag);
    await rawRefused(send(own, 'DELETE', 'blob', '', { 'If-Match': etag }, ''), 412,
        'ConditionNotMet');
});
