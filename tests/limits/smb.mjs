// The SMB endpoint's sockets: served only when asked for, who gives way, what ends with a stop.

import net from 'node:net';
import { once } from 'node:events';
import { Server } from '../lib/server.mjs';
import { inTime, until } from './clients.mjs';

const SMB = ['--inMemoryPersistence', '--smbPort', '0'];

/** A raw client: what is sent is written here. */
class Raw {
    #socket;
    #received = Buffer.alloc(0);
    isClosed = false;

    static async open(server) {
        const raw = new Raw();

        raw.#socket = net.connect({ port: server.ports.smb, host: server.host, allowHalfOpen: false });
        raw.#socket.on('error', () => {});
        raw.#socket.on('close', () => {
            raw.isClosed = true;
        });
        raw.#socket.on('data', (bytes) => {
            raw.#received = Buffer.concat([raw.#received, bytes]);
        });
        await inTime(once(raw.#socket, 'connect'), 'an SMB connection');
        return raw;
    }

    send(bytes) {
        this.#socket.write(bytes);
    }

    /** The next whole message. */
    async receive() {
        await until(() => this.isClosed || (this.#received.length >= 4 && this.#received.length >= 4 + this.#received.readUInt32BE()),
            'no answer by SMB');
        if (this.#received.length < 4)
            throw new Error('the SMB connection is closed');
        const size = 4 + this.#received.readUInt32BE();
        const message = this.#received.subarray(4, size);

        this.#received = this.#received.subarray(size);
        return message;
    }

    close() {
        this.#socket.destroy();
    }
}

/** NEGOTIATE of 3.0.2 alone, in a frame. ms-smb2: 2.2.1.2, 2.2.3 */
function negotiation() {
    const frame = Buffer.alloc(4 + 64 + 36 + 2);

    frame.writeUInt32BE(frame.length - 4);
    frame.write('\xfeSMB', 4, 'latin1');
    frame.writeUInt16LE(64, 8); // StructureSize; the command is 0
    frame.writeUInt16LE(1, 18); // credits
    frame.writeUInt16LE(36, 68); // StructureSize
    frame.writeUInt16LE(1, 70); // DialectCount
    frame.writeUInt16LE(1, 72); // SecurityMode
    frame.writeUInt16LE(0x0302, 104);
    return frame;
}

/** Negotiates; the dialect that was agreed on. */
async function negotiate(raw) {
    raw.send(negotiation());
    const answer = await raw.receive();

    return { status: answer.readUInt32LE(8), dialect: answer.readUInt16LE(64 + 4) };
}

async function withSmb({ binary }, args, use) {
    const server = await Server.start({ binary, args: [...SMB, ...args] });

    try {
        await use(server);
    } finally {
        await server.stop();
    }
}

/** Nobody listens unless an option says so. */
export async function smb_is_served_when_asked_for(context) {
    const server = await Server.start({ binary: context.binary, args: ['--inMemoryPersistence'] });

    context.assert.equal(server.ports.smb, undefined);
    await server.stop();
    await withSmb(context, [], async (asked) => {
        const raw = await Raw.open(asked);

        context.assert.deepEqual(await negotiate(raw), { status: 0, dialect: 0x0302 });
        raw.close();
    });
}

/** Clients that say nothing shut nobody out: the newest has its answer, and no more than the places are open. */
export async function silent_smb_clients_give_way(context) {
    for (const args of [['--maxConnections', '8'], ['--maxConnectionsPerAddress', '8']])
        await withSmb(context, args, async (server) => {
            const silent = [];

            for (let i = 0; i < 40; i++)
                silent.push(await Raw.open(server));
            const raw = await Raw.open(server);
            context.assert.deepEqual(await negotiate(raw), { status: 0, dialect: 0x0302 });
            await until(() => silent.filter(({ isClosed }) => !isClosed).length < 8, 'silent clients stay');
            for (const client of [raw, ...silent])
                client.close();
        });
}

/** A frame that is too long, and one that is none, end the connection; others go on. */
export async function what_is_no_smb_is_closed(context) {
    await withSmb(context, [], async (server) => {
        const good = await Raw.open(server);

        for (const bytes of [[0, 0xff, 0xff, 0xff], [0x81, 0, 0, 0x44], [0, 0, 0, 0], [0, 0, 0, 4, 0x47, 0x45, 0x54, 0x20]]) {
            const bad = await Raw.open(server);

            bad.send(Buffer.from(bytes));
            await until(() => bad.isClosed, `${bytes} is taken`);
        }
        context.assert.deepEqual(await negotiate(good), { status: 0, dialect: 0x0302 });
        good.close();
    });
}

/** A stop waits for nobody who has nothing in work: it is over, and in order, long before they would be late. */
export async function a_stop_ends_smb_clients(context) {
    const server = await Server.start({ binary: context.binary, args: SMB });
    const [silent, negotiated] = [await Raw.open(server), await Raw.open(server)];

    await negotiate(negotiated);
    await server.stop(); // throws unless the exit code is 0
    await until(() => silent.isClosed && negotiated.isClosed, 'a client stays connected');
}
