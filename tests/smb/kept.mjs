// Handles that outlast their connection, and the server: docs/smb.md. Each test has a client of its own; those that
// cut it go on with another one.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { OPERATIONS, SHARE, shown } from './rest.mjs';
import { SmbClient } from './smb_client.mjs';

const NOT_FOUND = 'C0000034';
const PATIENCE_MS = 60000;

const handlesOf = async (rest, file) => `${(await rest.must(file, OPERATIONS['List Handles'])).body}`;
const forceClose = (rest, file) => rest.must(file, OPERATIONS['Force Close Handles']);

/** Comes back to the handle, once the server has noticed that its connection is gone. */
async function comesBack(smb, parameters) {
    const end = Date.now() + PATIENCE_MS;
    let answer;

    do
        answer = await smb.do('return_to', parameters);
    while (answer.status === NOT_FOUND && Date.now() < end);
    assert.equal(answer.status, '00000000');
}

/** A client that is cut finds its handle, with the bytes and the share mode; and a list shows when. */
async function durableHandleIsFoundAgain({ rest, smb, next, port }) {
    const file = await rest.fresh(next()), guid = randomUUID();
    const id = await smb.openDurable('a', file, { access: 'RW', share: '' }, guid);

    await smb.must('write', { name: 'a', offset: 0, text: 'mine' });
    await smb.stop();
    const again = await SmbClient.start(port, SHARE);
    await comesBack(again, { name: 'b', id, guid });
    assert.match(await handlesOf(rest, file), /<LastReconnectTime>/);
    assert.equal((await again.must('read', { name: 'b', offset: 0, length: 4 })).text, 'mine');
    assert.equal((await again.do('return_to', { name: 'c', id, guid })).status, NOT_FOUND);
    await again.must('close', { name: 'b' });
    await again.stop();
    assert.doesNotMatch(await handlesOf(rest, file), /<Handle>/);
}

/** Each operation that its oplock or share mode is in the way of ends it, without a wait for who cannot answer. */
async function restEndsADurableHandle({ rest, next, port }) {
    for (const [name, status] of [['Get File', '200'], ['Get File Properties', '200'], ['Put Range', '201'],
        ['Set File Metadata', '200'], ['Create File', '201'], ['Delete File', '202']]) {
        const file = await rest.fresh(next()), guid = randomUUID();
        const smb = await SmbClient.start(port, SHARE), again = await SmbClient.start(port, SHARE);
        const id = await smb.openDurable('a', file, { access: 'RW', share: 'RWD' }, guid);

        await smb.stop();
        assert.equal(shown(await rest.ask(file, OPERATIONS[name])), status, name);
        assert.equal((await again.do('return_to', { name: 'b', id, guid })).status, NOT_FOUND, name);
        await again.stop();
    }
}

/** Lists show it while its client is away, and it can be closed by force. */
async function keptHandleIsListedAndClosed({ rest, smb, next, port }) {
    const file = await rest.fresh(next()), guid = randomUUID();
    const id = await smb.openDurable('a', file, { access: 'RW', share: '' }, guid);

    await smb.stop();
    assert.match(await handlesOf(rest, file), /<Handle>/);
    await forceClose(rest, file);
    assert.doesNotMatch(await handlesOf(rest, file), /<Handle>/);
    const again = await SmbClient.start(port, SHARE);
    assert.equal((await again.do('return_to', { name: 'b', id, guid })).status, NOT_FOUND);
    await again.stop();
}

/** kill -9: what persists is in the way of others, is listed, and is found by its client; what does not is gone. */
async function persistentHandleOutlivesAKill({ rest, smb, next, server, port }) {
    const [kept, lost] = [await rest.fresh(next()), await rest.fresh(next())], guid = randomUUID();
    const id = await smb.openDurable('a', kept, { access: 'RW', share: '' }, guid, true);
    const other = await smb.openDurable('b', lost, { access: 'RW', share: '' }, randomUUID());

    await smb.must('write', { name: 'a', offset: 0, text: 'kept' });
    await smb.must('lock', { name: 'a', offset: 0, length: 4, flags: 0x12 });
    await smb.must('flush', { name: 'a' });
    await server.kill();
    await server.restart();
    assert.equal(shown(await rest.ask(kept, OPERATIONS['Put Range'])), '409 SharingViolation');
    assert.equal(shown(await rest.ask(lost, OPERATIONS['Put Range'])), '201');
    assert.match(await handlesOf(rest, kept), /<Handle>/);
    const again = await SmbClient.start(port, SHARE);
    assert.equal((await again.do('return_to', { name: 'b', id: other, guid, persists: true })).status, NOT_FOUND);
    assert.equal((await again.do('return_to', { name: 'a', id, guid })).status, NOT_FOUND);
    await again.must('return_to', { name: 'a', id, guid, persists: true });
    assert.equal((await again.must('read', { name: 'a', offset: 0, length: 4 })).text, 'kept');
    await again.must('lock', { name: 'a', offset: 0, length: 4, flags: 4 });
    await again.must('close', { name: 'a' });
    assert.equal(shown(await rest.ask(kept, OPERATIONS['Put Range'])), '201');
    await again.stop();
}

export const KEPT = { durableHandleIsFoundAgain, restEndsADurableHandle, keptHandleIsListedAndClosed,
    persistentHandleOutlivesAKill };
