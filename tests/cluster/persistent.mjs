// A persistent SMB handle through a failover: the new owner keeps others out, and its client finds it with what was written.

import { randomUUID } from 'node:crypto';
import { SmbClient } from '../smb/smb_client.mjs';

const SHARE = 'persistent';
const VERSION = ['x-ms-version', '2025-01-05'];

const ask = (member, method, target, headers = [], body = undefined) =>
    member.ask(method, target, { service: 'file', headers: [VERSION, ...headers], body });

async function must(wanted, ...request) {
    const { status, body } = await ask(...request);

    if (status !== wanted)
        throw new Error(`${request[1]} ${request[2]}: ${status}, not ${wanted}: ${body}`);
}

const putRange = (member, file) => ask(member, 'PUT', `${file}?comp=range`,
    [['x-ms-write', 'update'], ['x-ms-range', 'bytes=0-3']], Buffer.from('rest'));

/** replace: has another machine take over, and returns it */
export async function persistentHandle(machine, replace) {
    const { member } = machine, name = `f-${randomUUID()}`, file = `/${SHARE}/${name}`, guid = randomUUID(), problems = [];
    const made = await ask(member, 'PUT', `/${SHARE}?restype=share`);

    if (made.status !== 201 && made.status !== 409)
        throw new Error(`Create Share: ${made.status}`);
    await must(201, member, 'PUT', file, [['x-ms-type', 'file'], ['x-ms-content-length', '8']]);
    const smb = await SmbClient.start(member.ports.smb, SHARE);
    const id = await smb.openDurable('a', name, { access: 'RW', share: '' }, guid, true);

    await smb.must('write', { name: 'a', offset: 0, text: 'kept' });
    await smb.must('flush', { name: 'a' });
    const other = (await replace()).member;
    await smb.stop();
    const refused = await putRange(other, file);
    if (refused.status !== 409)
        problems.push(`Put Range beside a handle that shares nothing: ${refused.status}, not 409`);
    const again = await SmbClient.start(other.ports.smb, SHARE);

    try {
        await again.must('return_to', { name: 'a', id, guid, persists: true });
        const { text } = await again.must('read', { name: 'a', offset: 0, length: 4 });
        if (text !== 'kept')
            problems.push(`the file reads ${text} after the failover`);
        await again.must('close', { name: 'a' });
    } finally {
        await again.stop();
    }
    const { status } = await putRange(other, file);
    return status === 201 ? problems : [...problems, `Put Range after the handle was closed: ${status}`];
}
