// OpenDAL: write, append, copy, blocks, list, remove many (batch).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Operator } from 'opendal';
import { account, newContainer, url } from './setup.mjs';

test('OpenDAL', async (t) => {
    const container = await newContainer(t);
    const op = new Operator('azblob', {
        container: container.containerName, endpoint: url, account_name: account.name,
        account_key: account.key,
    });
    const text = async (name) => (await op.read(name)).toString();

    await op.write('a/ä b.txt', 'hello');
    assert.equal(await text('a/ä b.txt'), 'hello');
    await op.write('log', 'one', { append: true });
    await op.write('log', 'two', { append: true });
    assert.equal(await text('log'), 'onetwo');
    await op.copy('a/ä b.txt', 'b/c');
    assert.equal(await text('b/c'), 'hello');
    const writer = await op.writer('blocks', { chunk: 1048576n });
    await writer.write(Buffer.alloc(3e6, 1));
    await writer.write(Buffer.alloc(3e6, 2));
    await writer.close();
    assert.equal((await op.stat('blocks')).contentLength, 6000000n);
    await Promise.all(Array.from({ length: 300 }, (_, i) => op.write(`many/${i}`, 'x')));
    assert.equal((await op.list('many/', { recursive: true })).length, 300);
    await op.removeAll('many/');
    assert.equal((await op.list('many/')).length, 0);
    await op.delete('b/c');
    await assert.rejects(op.stat('b/c'), /NotFound/);
});
