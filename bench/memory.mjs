// Memory where it could grow: a Put Blob of 4,000 MiB, and 5,000 connections that do nothing.

import net from 'node:net';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { formatHead } from '../tests/lib/http.mjs';
import { sign } from '../tests/lib/sign.mjs';
import { memoryMiB } from './process.mjs';
import { ACCOUNT } from './targets.mjs';

const MiB = 1024 * 1024;
const BLOB_MIB = 4000;
const CONNECTIONS = 5000;

async function putLargeBlob(target) {
    const socket = net.connect(target.port, '127.0.0.1');
    const request = sign({
        method: 'PUT', target: `/${ACCOUNT}/memory/large`,
        headers: [['Host', `127.0.0.1:${target.port}`], ['Content-Length', `${BLOB_MIB * MiB}`], ['x-ms-blob-type', 'BlockBlob']],
    });
    const part = Buffer.alloc(MiB, 7);
    const answered = once(socket, 'data');

    socket.write(formatHead(request));
    for (let i = 0; i < BLOB_MIB; i++) {
        if (!socket.write(part))
            await once(socket, 'drain');
    }
    const status = (await answered)[0].toString('latin1').slice(9, 12);
    socket.destroy();
    if (status !== '201')
        throw new Error(`Put Blob of ${BLOB_MIB} MiB: ${status}`);
}

async function measurePut(start, createContainer) {
    const target = await start();

    try {
        await createContainer(target, 'memory');
        const began = performance.now();
        await putLargeBlob(target);
        const seconds = (performance.now() - began) / 1000;
        console.log(`Put Blob of ${BLOB_MIB} MiB: ${Math.round(BLOB_MIB / seconds)} MiB/s, ` +
            `at most ${Math.round(memoryMiB(target.pid, 'VmHWM'))} MiB resident`);
    } finally {
        await target.stop();
    }
}

async function measureIdle(start) {
    const target = await start();
    const sockets = [];

    try {
        for (let i = 0; i < CONNECTIONS; i++) {
            const socket = net.connect(target.port, '127.0.0.1');
            await once(socket, 'connect');
            sockets.push(socket);
        }
        await delay(1000);
        console.log(`${CONNECTIONS} idle connections: ${Math.round(memoryMiB(target.pid, 'VmRSS'))} MiB resident`);
    } finally {
        sockets.forEach((socket) => socket.destroy());
        await target.stop();
    }
}

/** start: starts a fresh server */
export async function measureMemory(start, createContainer) {
    await measurePut(start, createContainer);
    await measureIdle(start);
}
