// Queues, and the messages of one: peeked at, added, received and deleted.
import type { DequeuedMessageItem, PeekedMessageItem, QueueItem } from '@azure/storage-queue';
import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { queueService } from './clients.ts';
import { number, time } from './format.ts';
import { type Column, keysOf } from './order.ts';
import { hrefOf } from './route.ts';
import { Listing, nameColumn, pageOf, Table, useList } from './table.tsx';
import { Crumbs, Facts, Field, Form, Loading, Pairs, Problem, useAction, useLoad } from './ui.tsx';

const PAGE = 200;
const MESSAGES = 32; // rest: Peek-Messages

/** Deletes a queue once its name was typed; says how many messages it has. */
function RemoveQueue({ account, queue, onClose, onDone }: { account: string; queue: string; onClose: () => void; onDone: () => void }) {
    const count = useLoad(async () => (await (await queueService(account)).getQueueClient(queue).getProperties()).approximateMessagesCount ?? 0, []);

    return <Form title={`Delete the queue ${queue}?`} action="Delete" danger confirm={queue} isReady={!count.busy} onClose={onClose} onDone={async () => {
        await (await queueService(account)).deleteQueue(queue);
        onDone();
    }}>
        <Loading of={count} />
        {count.value !== undefined && <p role="status" class="amount">{count.value === 0 ? 'The queue is empty.' : `About ${number(count.value)} ${count.value === 1 ? 'message is' : 'messages are'} deleted with it.`}</p>}
    </Form>;
}

function Queues({ account }: { account: string }) {
    const columns = [nameColumn<QueueItem>((name) => hrefOf('queues', [account, name]))];
    const list = useList<QueueItem>(async (mark) => pageOf((await queueService(account)).listQueues().byPage({ maxPageSize: PAGE, continuationToken: mark }),
        ({ queueItems }) => queueItems ?? []), keysOf(columns), PAGE, [account]);

    return <Listing title="Queues" one="queue" list={list} columns={columns}
        fields={<Field label="Name" name="name" required hint="3 to 63 lower-case letters, digits and dashes." />}
        create={async (_form, name) => (await queueService(account)).createQueue(name)}
        removal={(name, onClose, onDone) => <RemoveQueue account={account} queue={name} onClose={onClose} onDone={onDone} />} />;
}

/** How long received messages are invisible to other consumers, and can be deleted here. */
const HIDDEN_S = 60;

function Messages({ account, queue }: { account: string; queue: string }) {
    const client = async () => (await queueService(account)).getQueueClient(queue);
    const [received, setReceived] = useState<DequeuedMessageItem[]>([]);
    const [dialog, setDialog] = useState<'put' | 'clear'>();
    const { problem, busy, run } = useAction();
    const peeked = useLoad(async () => {
        const of = await client();
        const [properties, messages] = await Promise.all([of.getProperties(), of.peekMessages({ numberOfMessages: MESSAGES })]);
        return { properties, messages: messages.peekedMessageItems };
    }, [account, queue]);
    const receive = () => run(async () => {
        const { receivedMessageItems } = await (await client()).receiveMessages({ numberOfMessages: MESSAGES, visibilityTimeout: HIDDEN_S });
        setReceived(receivedMessageItems);
        peeked.reload();
    });
    const remove = (message: DequeuedMessageItem) => run(async () => {
        await (await client()).deleteMessage(message.messageId, message.popReceipt);
        setReceived((all) => all.filter(({ messageId }) => messageId !== message.messageId));
        peeked.reload();
    });

    return <>
        <Crumbs of={[['Queues', hrefOf('queues', [account])], [queue, hrefOf('queues', [account, queue])]]} />
        <h1>{queue}</h1>
        <div class="tools">
            <button type="button" class="primary" onClick={() => setDialog('put')}>Add message</button>
            <button type="button" disabled={busy} onClick={() => void receive()}>Receive messages</button>
            <button type="button" onClick={peeked.reload}>Reload</button>
            <button type="button" class="danger" onClick={() => setDialog('clear')}>Clear queue…</button>
        </div>
        <Loading of={peeked} />
        <Problem of={problem} />
        {peeked.value && <Facts of={[['Approximate message count', number(peeked.value.properties.approximateMessagesCount ?? 0)]]} />}
        {peeked.value && <Pairs of={peeked.value.properties.metadata} />}
        {received.length > 0 && <>
            <h2>Received messages, invisible to other consumers for {HIDDEN_S} s</h2>
            <Table label="Received messages" columns={[...RECEIVED, { title: 'Actions', kind: 'actions', cell: (message) =>
                <button type="button" class="plain" aria-label={`Delete message ${message.messageId}`} onClick={() => void remove(message)}>Delete</button> }]}
            of={received} keyOf={({ messageId }) => messageId} empty="" />
        </>}
        <h2>First visible messages</h2>
        {peeked.value && <Table label="Messages" columns={PEEKED} of={peeked.value.messages} keyOf={({ messageId }) => messageId} empty="There are no visible messages." />}
        {dialog === 'put' && <Form title="Add a message" action="Add" onClose={() => setDialog(undefined)} onDone={async (form) => {
            const seconds = String(form.get('seconds'));
            await (await client()).sendMessage(String(form.get('text')), { visibilityTimeout: Number(form.get('delay') || 0), messageTimeToLive: seconds ? Number(seconds) : undefined });
            peeked.reload();
        }}>
            <Field label="Text" name="text" rows={6} required />
            <Field label="Visibility timeout, seconds" name="delay" type="number" value="0" />
            <Field label="Time to live, seconds" name="seconds" type="number" hint="Leave empty for seven days. -1 means that it never expires." />
        </Form>}
        {dialog === 'clear' && <Form title={`Delete ${peeked.value?.properties.approximateMessagesCount ? `all ${number(peeked.value.properties.approximateMessagesCount)} messages` : 'all messages'} of ${queue}?`} action="Clear" danger onClose={() => setDialog(undefined)} onDone={async () => {
            await (await client()).clearMessages();
            setReceived([]);
            peeked.reload();
        }} />}
    </>;
}

const RECEIVED: Column<DequeuedMessageItem>[] = [
    { title: 'Text', kind: 'name', cell: ({ messageText }) => <code>{messageText}</code> },
    { title: 'Dequeue count', kind: 'number', by: ({ dequeueCount }) => dequeueCount, cell: ({ dequeueCount }) => number(dequeueCount) },
    { title: 'Added', kind: 'time', by: ({ insertedOn }) => insertedOn, cell: ({ insertedOn }) => time(insertedOn) },
];
const PEEKED: Column<PeekedMessageItem>[] = [
    { title: 'Text', kind: 'name', cell: ({ messageText }) => <code>{messageText}</code> },
    { title: 'Dequeue count', kind: 'number', by: ({ dequeueCount }) => dequeueCount, cell: ({ dequeueCount }) => number(dequeueCount) },
    { title: 'Added', kind: 'time', by: ({ insertedOn }) => insertedOn, cell: ({ insertedOn }) => time(insertedOn) },
    { title: 'Expires', kind: 'time', by: ({ expiresOn }) => expiresOn, cell: ({ expiresOn }) => expiresOn.getFullYear() > 9000 ? 'never' : time(expiresOn) },
];

export default function QueuesPage({ account, route }: PageProps) {
    const [, queue] = route.parts;

    return queue ? <Messages key={`${account}/${queue}`} account={account} queue={queue} /> : <Queues key={account} account={account} />;
}
