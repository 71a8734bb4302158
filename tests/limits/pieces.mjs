// Contents in as many pieces as there may be.

import { once } from '../memory/asking.mjs';
import { honest, withServer } from './clients.mjs';

const MiB = 1 << 20;
/* PIECES_MAX, and the bytes of a piece of a copied block. */
const PIECES_MAX = 65536, PIECE_BYTES = 4 * MiB, PIECES_OF_BLOCK = 8;
const BLOB = '/limits/pieces';

const list = (count) => `<BlockList>${'<Committed>aQ==</Committed>'.repeat(count)}</BlockList>`;

/** PIECES_MAX: a block of a copied blob, which has several pieces, is named so often that all have one piece too many. */
export async function copied_blocks_are_named_too_often(context) {
    await withServer(context, ['--inMemoryPersistence'], async (server) => {
        const { assert } = context;

        await once(server, async (ask) => {
            await ask('blob', 'PUT', `${BLOB}?comp=block&blockid=aQ%3D%3D`, { body: Buffer.alloc(PIECES_OF_BLOCK * PIECE_BYTES, 'piece'), status: 201 });
            await ask('blob', 'PUT', `${BLOB}?comp=blocklist`, { body: list(1).replaceAll('Committed', 'Latest'), status: 201 });
            await ask('blob', 'PUT', `${BLOB}-copy`, { headers: [['x-ms-copy-source', `${server.url}${BLOB}`]], status: 202 });
            const refused = await ask('blob', 'PUT', `${BLOB}-copy?comp=blocklist`, { body: list(PIECES_MAX / PIECES_OF_BLOCK + 1) });
            assert.deepEqual([refused.status, refused.headers.get('x-ms-error-code')], [400, 'InvalidBlockList'], `${refused.body}`);
            assert.match(refused.body.toString(), /named too often/);
            await ask('blob', 'PUT', `${BLOB}-copy?comp=blocklist`, { body: list(PIECES_MAX / PIECES_OF_BLOCK), status: 201 });
            const { headers } = await ask('blob', 'HEAD', `${BLOB}-copy`, { status: 200 });
            assert.equal(headers.get('content-length'), `${PIECES_MAX * PIECE_BYTES}`);
            await ask('blob', 'DELETE', `${BLOB}-copy`, { status: 202 });
        });
        await honest(server);
    });
}
