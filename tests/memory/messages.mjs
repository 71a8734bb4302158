// What a client can do again and again to queues and messages.

const text = (i) => `<QueueMessage><MessageText>${'m'.repeat(i % 2000)}${i}</MessageText></QueueMessage>`;
const put = async (ask, queue, i, query = '') => {
    const { body } = await ask('queue', 'POST', `/${queue}/messages${query}`, { body: text(i), status: 201 });
    const field = (name) => new RegExp(`<${name}>(.*)</${name}>`).exec(body)[1];

    return { id: field('MessageId'), receipt: encodeURIComponent(field('PopReceipt')) };
};

export async function setup(ask) {
    for (const queue of ['work', 'cleared', 'hidden', 'mine'])
        await ask('queue', 'PUT', `/${queue}`, { status: 201 });
}

export const KINDS = () => ({
    'a queue: create, metadata, ACL, delete': async (ask, i) => {
        await ask('queue', 'PUT', `/que${i}`, { status: 201 });
        await ask('queue', 'PUT', `/que${i}?comp=metadata`, { headers: [['x-ms-meta-n', `${i}`]], status: 204 });
        await ask('queue', 'PUT', `/que${i}?comp=acl`, { body: `<SignedIdentifiers><SignedIdentifier><Id>${i}</Id><AccessPolicy>` +
            '<Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>', status: 204 });
        await put(ask, `que${i}`, i);
        await ask('queue', 'GET', `/que${i}/messages`, { status: 200 });
        await ask('queue', 'DELETE', `/que${i}`, { status: 204 });
    },
    'a queue that stays, and its messages are got': async (ask, i) => {
        await ask('queue', 'PUT', `/stays${i}`, { status: 201 });
        await put(ask, `stays${i}`, i);
        await ask('queue', 'GET', `/stays${i}/messages`, { status: 200 });
    },
    'messages: put, got, deleted': async (ask, i) => {
        await put(ask, 'work', i);
        const { body } = await ask('queue', 'GET', '/work/messages?visibilitytimeout=300', { status: 200 });
        const [, id, receipt] = /<MessageId>(.*)<\/MessageId>[^]*<PopReceipt>(.*)<\/PopReceipt>/.exec(body) ?? [];

        if (id)
            await ask('queue', 'DELETE', `/work/messages/${id}?popreceipt=${encodeURIComponent(receipt)}`, { status: 204 });
    },
    'a message that is updated': async (ask, i) => {
        const { id, receipt } = await put(ask, 'mine', i, '?visibilitytimeout=500');
        const { headers } = await ask('queue', 'PUT', `/mine/messages/${id}?popreceipt=${receipt}&visibilitytimeout=${i % 600}`, { body: text(i + 1), status: 204 });

        await ask('queue', 'DELETE', `/mine/messages/${id}?popreceipt=${receipt}`, { status: [400, 404] });
        await ask('queue', 'DELETE', `/mine/messages/${id}?popreceipt=${encodeURIComponent(headers.get('x-ms-popreceipt'))}`, { status: 204 });
    },
    'messages that expire': (ask, i) => put(ask, 'hidden', i, '?messagettl=1'),
    'messages cleared': async (ask, i) => {
        await put(ask, 'cleared', i);
        await ask('queue', 'GET', '/cleared/messages?peekonly=true&numofmessages=32', { status: 200 });
        await ask('queue', 'DELETE', '/cleared/messages', { status: [204, 500] });
    },
    'queues that are not there': async (ask, i) => {
        await ask('queue', 'GET', `/none${i}/messages`, { status: 404 });
        await ask('queue', 'DELETE', `/work/messages/${i}?popreceipt=${i}`, { status: [400, 404] });
        await ask('queue', 'GET', `/?comp=list&prefix=stays${i}`, { status: 200 });
    },
});
