// A certificate is renewed while the server runs: by SIGHUP, and when its files change. decision: 361
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once as event } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';
import { Server } from '../lib/server.mjs';

/** A folder with cert.pem and key.pem of this name; another time: others in their place, each exchanged whole. */
async function newCertificate(folder, name) {
    const [cert, key, template] = ['new-cert.pem', 'new-key.pem', 'template'].map((file) => join(folder, file));
    await writeFile(template, `cn = ${name}\nexpiration_days = 2\nsigning_key\ntls_www_server\n`);
    execFileSync('certtool', ['--generate-privkey', '--key-type', 'ecdsa', '--outfile', key], { stdio: 'ignore' });
    execFileSync('certtool', ['--generate-self-signed', '--load-privkey', key, '--template', template, '--outfile', cert],
        { stdio: 'ignore' });
    await rename(cert, join(folder, 'cert.pem'));
    await rename(key, join(folder, 'key.pem'));
}

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

async function newServer(t) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-certificate-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await newCertificate(folder, 'first');
    const server = await Server.start({ secure: true, args: ['--cert', join(folder, 'cert.pem'), '--key', join(folder, 'key.pem')] });
    t.after(() => server.kill().then(() => server.remove()));
    return { server, folder };
}

test('files that are exchanged are read again, and connections under way go on', async (t) => {
    const { server, folder } = await newServer(t);
    assert.equal(await nameOf(server), 'first');
    const old = await connect(server);
    await newCertificate(folder, 'second');
    await until(() => nameOf(server), 'second');
    old.write(`GET /-/live HTTP/1.1\r\nHost: ${server.host}\r\n\r\n`);
    const [answer] = await event(old, 'data');
    assert.match(answer.toString(), /^HTTP\/1\.1 200 /);
    assert.equal(old.getPeerCertificate().subject.CN, 'first');
    old.destroy();
    await newCertificate(folder, 'third');
    process.kill(server.pid, 'SIGHUP');
    await until(() => nameOf(server), 'third');
});

test('what cannot be used changes nothing, and is said', async (t) => {
    const { server, folder } = await newServer(t);
    await writeFile(join(folder, 'cert.pem'), 'no certificate\n');
    await until(async () => /the certificate stays as it was/.test(server.stderr), true);
    assert.equal(await nameOf(server), 'first');
    await newCertificate(folder, 'second');
    await until(() => nameOf(server), 'second');
});
