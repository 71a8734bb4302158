// Queues, and the messages of one: looked at without a trace, put, received and deleted.
import type { DequeuedMessageItem, ServiceListQueuesSegmentResponse } from '@azure/storage-queue';
import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { queueService } from './clients.ts';
import { time } from './format.ts';
import { hrefOf } from './route.ts';
import { Crumbs, Facts, Field, Form, Listing, Pages, Problem, Table, useAction, useLoad } from './ui.tsx';

const PAGE = 200;
const MESSAGES = 32; // the most that the service shows at once

function Queues({ account }: { account: string }) {
    const [marks, setMarks] = useState<string[]>([]);
    const list = useLoad(async () => {
        const pages = (await queueService(account)).listQueues().byPage({ maxPageSize: PAGE, continuationToken: marks.at(-1) });
        return (await pages.next()).value as ServiceListQueuesSegmentResponse;
    }, [account, marks]);

    return <Listing title="Queues" one="queue" list={list} pages={<Pages of={list.value} marks={marks} setMarks={setMarks} />}
        rows={(list.value?.queueItems ?? []).map(({ name }) => ({ name, href: hrefOf('queues', [account, name]) }))}
        fields={<Field label="Name" name="name" required hint="3 to 63 lower-case letters, digits and dashes." />} warning="Its messages go with it."
        create={async (_form, name) => (await queueService(account)).createQueue(name)}
        remove={async (name) => (await queueService(account)).deleteQueue(name)} />;
}

/** Messages that were received are hidden from others for so long, and can be deleted meanwhile. */
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
            <button type="button" class="primary" onClick={() => setDialog('put')}>Put a message</button>
            <button type="button" disabled={busy} onClick={() => void receive()}>Receive</button>
            <button type="button" onClick={peeked.reload}>Reload</button>
            <button type="button" class="danger" onClick={() => setDialog('clear')}>Clear</button>
        </div>
        <Problem of={peeked.problem ?? problem} />
        {peeked.value && <Facts of={[['Messages, about', peeked.value.properties.approximateMessagesCount ?? 0], ...Object.entries(peeked.value.properties.metadata ?? {})]} />}
        {received.length > 0 && <>
            <h2>Received: hidden from others for {HIDDEN_S} s</h2>
            <Table label="Received messages" head={['Text', 'Times', 'Put', 'Actions']} empty="">
                {received.map((message) => <tr key={message.messageId}>
                    <td class="code name">{message.messageText}</td><td class="number">{message.dequeueCount}</td><td>{time(message.insertedOn)}</td>
                    <td><button type="button" class="plain" aria-label={`Delete message ${message.messageId}`} onClick={() => void remove(message)}>Delete</button></td>
                </tr>)}
            </Table>
        </>}
        <h2>The next messages</h2>
        {peeked.value && <Table label="Messages" head={['Text', 'Times received', 'Put', 'Ends']} empty="No message can be seen.">
            {peeked.value.messages.map(({ messageId, messageText, dequeueCount, insertedOn, expiresOn }) => <tr key={messageId}>
                <td class="code name">{messageText}</td><td class="number">{dequeueCount}</td><td>{time(insertedOn)}</td>
                <td>{expiresOn.getFullYear() > 9000 ? 'never' : time(expiresOn)}</td>
            </tr>)}
        </Table>}
        {dialog === 'put' && <Form title="Put a message" action="Put" onClose={() => setDialog(undefined)} onDone={async (form) => {
            const seconds = String(form.get('seconds'));
            await (await client()).sendMessage(String(form.get('text')), { visibilityTimeout: Number(form.get('delay') || 0), messageTimeToLive: seconds ? Number(seconds) : undefined });
            peeked.reload();
        }}>
            <Field label="Text" name="text" rows={6} required />
            <Field label="Seconds until it can be seen" name="delay" type="number" value="0" />
            <Field label="Seconds that it is kept" name="seconds" type="number" hint="Empty: seven days. -1: for ever." />
        </Form>}
        {dialog === 'clear' && <Form title={`Delete all messages of ${queue}?`} action="Clear" danger onClose={() => setDialog(undefined)} onDone={async () => {
            await (await client()).clearMessages();
            setReceived([]);
            peeked.reload();
        }} />}
    </>;
}

export default function QueuesPage({ account, route }: PageProps) {
    const [, queue] = route.parts;

    return queue ? <Messages key={`${account}/${queue}`} account={account} queue={queue} /> : <Queues key={account} account={account} />;
}
