// A certificate is renewed while the server runs: by SIGHUP, and when its files change. decision: 361
import assert from 'node:assert/strict';
import { once as event } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';
import { newCertificate } from '../lib/certificate.mjs';
import { run } from '../lib/program.mjs';
import { ANY_PORTS, freePorts, Server } from '../lib/server.mjs';

async function connect(server) {
    const socket = tls.connect({ host: server.host, port: server.port, rejectUnauthorized: false });
    await event(socket, 'secureConnect');
    return socket;
}

/** The name in the certificate that a new connection is shown. */
async function nameOf(server) {
    const socket = await connect(server);
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return CN;
}

async function until(what, wanted) {
    for (let i = 0; await what() !== wanted; i++) {
        assert.ok(i < 600, `not ${wanted} within a minute`);
        await delay(100);
    }
}

async function newFolder(t) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-certificate-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    return folder;
}

async function newServer(t, args = []) {
    const folder = await newFolder(t);
    newCertificate(folder, { name: 'first' });
    const server = await Server.start({ secure: true, args: ['--cert', join(folder, 'cert.pem'), '--key', join(folder, 'key.pem'), ...args] });
    t.after(() => server.kill().then(() => server.remove()));
    return { server, folder };
}

test('files that are exchanged are read again, and connections under way go on', async (t) => {
    const { server, folder } = await newServer(t);
    assert.equal(await nameOf(server), 'first');
    const old = await connect(server);
    newCertificate(folder, { name: 'second' });
    await until(() => nameOf(server), 'second');
    old.write(`GET /-/live HTTP/1.1\r\nHost: ${server.host}\r\n\r\n`);
    const [answer] = await event(old, 'data');
    assert.match(answer.toString(), /^HTTP\/1\.1 200 /);
    assert.equal(old.getPeerCertificate().subject.CN, 'first');
    old.destroy();
    newCertificate(folder, { name: 'third' });
    process.kill(server.pid, 'SIGHUP');
    await until(() => nameOf(server), 'third');
});

test('what cannot be used changes nothing, and is said', async (t) => {
    const { server, folder } = await newServer(t);
    await writeFile(join(folder, 'cert.pem'), 'no certificate\n');
    await until(async () => /the previous certificate remains in use/.test(server.stderr), true);
    assert.equal(await nameOf(server), 'first');
    newCertificate(folder, { name: 'second' });
    await until(() => nameOf(server), 'second');
});

test('what is wrong with a certificate is said of the file that is wrong', async (t) => {
    const folder = await newFolder(t);
    const other = await newFolder(t);
    const [cert, key] = ['cert.pem', 'key.pem'].map((file) => join(folder, file));
    newCertificate(folder, { name: 'first' });
    newCertificate(other, { name: 'other' });
    const wrong = join(folder, 'wrong.pem');
    await writeFile(wrong, 'no certificate\n');
    for (const [args, message] of [
        [['--cert', wrong, '--key', key], `${wrong} has no readable certificate (PEM): `],
        [['--cert', cert, '--key', wrong], `${wrong} has no readable private key (PEM, not encrypted): `],
        [['--cert', cert, '--key', join(other, 'key.pem')], `the private key of ${join(other, 'key.pem')} does not belong to the certificate of ${cert}\n`],
        [['--cert', key, '--key', cert], `${key} has no readable certificate (PEM): `],
    ]) {
        const { code, errors } = await run(['--inMemoryPersistence', ...ANY_PORTS, '--managementPort', '0', ...args]);
        assert.equal(code, 1);
        assert.ok(errors.startsWith(`lagra: ${message}`), errors);
        assert.equal(errors.split('\n').length, 2, errors);
    }
});

test('metrics say when the certificate expires, also after a renewal', async (t) => {
    const [port] = await freePorts(1);
    const { server, folder } = await newServer(t, ['--managementPort', `${port}`]);
    const days = async () => {
        const text = await new Promise((resolve, reject) => https.get(`https://127.0.0.1:${port}/metrics`, { rejectUnauthorized: false },
            (answer) => answer.setEncoding('utf8').toArray().then((parts) => resolve(parts.join('')))).on('error', reject));
        const [, expires] = text.match(/^lagra_certificate_expires_timestamp_seconds(?:\{\})? (\S+)$/m);
        return Math.round((Number(expires) - Date.now() / 1000) / 86400);
    };
    assert.equal(await days(), 2);
    newCertificate(folder, { name: 'second', days: 40 });
    await until(() => nameOf(server), 'second');
    assert.equal(await days(), 40);
});
