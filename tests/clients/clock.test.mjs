// The wall clock of the machine is set while the server runs. decision: 42
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '../lib/http.mjs';
import { Server } from '../lib/server.mjs';
import { sign } from '../lib/sign.mjs';

const HOUR_S = 3600;
const TWO_DAYS_S = 48 * HOUR_S;
const TEN_YEARS_S = 10 * 365 * 24 * HOUR_S;
const LEASE = '0a0b0c0d-0000-4000-8000-000000000001';
const wall = process.env.LAGRA_WALL ?? path.join(path.dirname(process.env.LAGRA_BINARY ?? ''), 'tests/clients/libwall.so');
const skip = existsSync(wall) ? false : 'the library that sets the clock is not built';

/** A server whose wall clock is set by `set(seconds)`. */
async function newServer(t) {
    const folder = await mkdtemp(path.join(tmpdir(), 'lagra-clock-'));
    const file = path.join(folder, 'wall');
    await writeFile(file, '0');
    // The library reads a file of which a sandboxed server knows nothing.
    const server = await Server.start({ env: { LD_PRELOAD: wall, WALL_FILE: file, LAGRA_SANDBOX: 'off' } });
    t.after(async () => {
        await server.kill();
        await server.remove();
        await rm(folder, { recursive: true, force: true });
    });
    let aheadS = 0;
    return {
        get queuePort() {
            return server.ports.queue;
        },
        /** Another process on the same folder, after an orderly end or none. */
        async restart({ isKilled = false } = {}) {
            await (isKilled ? server.kill() : server.stop({ keep: true }));
            await server.restart();
        },
        async set(seconds) {
            aheadS = seconds;
            await writeFile(file, String(seconds));
        },
        /** Waits until the server has said it. */
        async said(text) {
            while (!text.test(server.stderr))
                await delay(5);
        },
        /** A request that is dated by the wall clock as it is now. */
        async ask(method, name, headers = {}, body = '', port = server.port) {
            const request = {
                method, target: `/${server.account}${name}`,
                headers: [['Host', `${server.host}:${port}`],
                    ...(method === 'GET' ? [] : [['Content-Length', String(body.length)]]), ...Object.entries(headers)],
            };
            const connection = await Connection.open(server.host, port);
            try {
                return await connection.exchange(sign(request, { offsetMs: aheadS * 1000 }), Buffer.from(body));
            } finally {
                connection.close();
            }
        },
    };
}

const put = (clock, headers = {}) => clock.ask('PUT', '/box/b', { 'x-ms-blob-type': 'BlockBlob', ...headers }, 'x');
const modified = (answer) => Date.parse(answer.headers.get('last-modified'));
const isAbout = (a, b) => Math.abs(a - b) < 60_000;

test('a wall clock that is set an hour ahead: changes are dated by it, a lease of a minute lasts on', { skip }, async (t) => {
    const clock = await newServer(t);
    assert.equal((await clock.ask('PUT', '/box?restype=container')).status, 201);
    assert.equal((await put(clock)).status, 201);
    const lease = await clock.ask('PUT', '/box/b?comp=lease', {
        'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '60', 'x-ms-proposed-lease-id': LEASE,
    });
    assert.equal(lease.status, 201);
    await clock.set(HOUR_S);
    assert.equal((await put(clock)).status, 412);
    const again = await put(clock, { 'x-ms-lease-id': LEASE });
    assert.equal(again.status, 201);
    assert.ok(isAbout(modified(again), Date.now() + HOUR_S * 1000));
    const broken = await clock.ask('PUT', '/box/b?comp=lease', { 'x-ms-lease-action': 'break' });
    assert.equal(broken.status, 202);
    const left = Number(broken.headers.get('x-ms-lease-time'));
    assert.ok(left > 0 && left < 60, String(left));
    await clock.said(/wall clock was set forward by 3[56]\d\d s: timestamps follow it/);
    await clock.set(0);
    assert.equal((await put(clock, { 'x-ms-lease-id': LEASE })).status, 201);
    await clock.said(/wall clock is 3[56]\d\d s behind/);
});

test('a wall clock that is set ten years ahead and back: changes are dated as before, and it is logged', { skip }, async (t) => {
    const clock = await newServer(t);
    assert.equal((await clock.ask('PUT', '/box?restype=container')).status, 201);
    await clock.set(TEN_YEARS_S);
    assert.ok(isAbout(modified(await put(clock)), Date.now()));
    await clock.set(0);
    assert.ok(isAbout(modified(await put(clock)), Date.now()));
    await clock.said(/wall clock was set forward by 3153\d{5} s, which is ignored/);
});

/** A queue of a server whose clock is set: what can be got of it, hidden for ten minutes. */
async function newQueue(t) {
    const clock = await newServer(t);
    const ask = (method, name, body) => clock.ask(method, `/que${name}`, {}, body, clock.queuePort);
    const texts = (xml) => [...xml.matchAll(/<MessageText>(\w+)<\/MessageText>/g)].map(([, text]) => text);

    assert.equal((await ask('PUT', '')).status, 201);
    return {
        clock, ask,
        put: async (text, ttlS) => {
            const answer = await ask('POST', `/messages?messagettl=${ttlS}`,
                `<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`);
            assert.equal(answer.status, 201);
        },
        got: async () => texts((await ask('GET', '/messages?numofmessages=32&visibilitytimeout=600')).body.toString()),
        peeked: async () => texts((await ask('GET', '/messages?peekonly=true&numofmessages=32')).body.toString()),
        count: async () => (await ask('GET', '?comp=metadata')).headers.get('x-ms-approximate-messages-count'),
        /** In seconds from the wall clock of the server. */
        times: async (stepS) => {
            const xml = (await ask('GET', '/messages?peekonly=true')).body.toString();
            return (Date.parse(/<ExpirationTime>(.*)<\/ExpirationTime>/.exec(xml)[1]) - Date.now()) / 1000 - stepS;
        },
    };
}

for (const stepS of [-HOUR_S, HOUR_S, TEN_YEARS_S]) {
    test(`a wall clock that is set by ${stepS} s: a hidden message stays hidden, and none expires. decision: 185`, { skip }, async (t) => {
        const { clock, put, got, count } = await newQueue(t);
        await put('hidden', 1200);
        assert.deepEqual(await got(), ['hidden']);
        await put('lasting', 600);
        await clock.set(stepS);
        assert.deepEqual(await got(), ['lasting']);
        await put('later', 600);
        assert.deepEqual(await got(), ['later']);
        await clock.set(0);
        assert.deepEqual(await got(), []);
        assert.equal(await count(), '3');
    });
}

// Two days are not followed before the restart; an hour is, also when nothing is changed after it.
for (const [stepS, isKilled] of [[HOUR_S, false], [HOUR_S, true], [TWO_DAYS_S, false], [TWO_DAYS_S, true]]) {
    test(`a wall clock that is set by ${stepS} s, and a restart ${isKilled ? 'after a kill ' : ''}behind it: times of messages go on. decision: 185`,
        { skip }, async (t) => {
            const { clock, put, got, peeked, count, times } = await newQueue(t);
            await put('hidden', 1200);
            assert.deepEqual(await got(), ['hidden']);
            await put('lasting', 900);
            await clock.set(stepS);
            if (isKilled)
                await put('late', 900);
            assert.equal((await peeked()).includes('lasting'), true);
            await clock.said(/wall clock was set forward/);
            await clock.restart({ isKilled });
            assert.ok(Math.abs((await times(stepS)) - 900) < 60, 'the expiry is shown in the time of the wall clock');
            assert.deepEqual(await got(), ['lasting', ...(isKilled ? ['late'] : [])]);
            await clock.restart();
            assert.deepEqual(await got(), []);
            assert.equal(await count(), isKilled ? '3' : '2');
        });
}
