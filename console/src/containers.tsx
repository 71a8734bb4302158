// The containers of an account: a page of them at a time, to make and to delete.
import type { ServiceListContainersSegmentResponse } from '@azure/storage-blob';
import { useState } from 'preact/hooks';
import { ACCESS, ContainerAccess, Lease } from './access.tsx';
import { blobService, containerOf, protectionOf, setProtection } from './clients.ts';
import { time } from './format.ts';
import { hrefOf } from './route.ts';
import { Choice, Deleted, Dialog, Field, Form, Listing, Pages, Problem, useLoad } from './ui.tsx';

const PAGE = 200;
const DAYS = 7; // as Azure's portal proposes
type Access = 'container' | 'blob';

/** Whether the account keeps versions of its blobs, and for how long blobs and containers that are deleted. */
function DataProtection({ account, onClose }: { account: string; onClose: () => void }) {
    const { value, problem } = useLoad(() => protectionOf(account), [account]);
    const [chosen, setChosen] = useState<boolean>();
    const [ofContainers, setOfContainers] = useState<boolean>();
    const title = 'Data protection';

    if (!value)
        return <Dialog title={title} onClose={onClose}>
            <Problem of={problem} />
            <p class="buttons"><button type="button" onClick={onClose}>Close</button></p>
        </Dialog>;
    const enabled = chosen ?? value.enabled, keepsContainers = ofContainers ?? value.containerDays !== undefined;
    return <Form title={title} action="Save" onClose={onClose} onDone={(form) => setProtection(account, {
        versions: form.get('versions') !== null,
        ...enabled ? { enabled, days: Number(form.get('days')), permanent: form.get('permanent') !== null } : { enabled },
        containerDays: keepsContainers ? Number(form.get('container-days')) : undefined,
    })}>
        <label class="field"><input type="checkbox" name="versions" defaultChecked={value.versions} /> Keep what a blob was as a version, whenever it is written or deleted</label>
        <label class="field"><input type="checkbox" name="enabled" checked={enabled} onChange={(event) => setChosen(event.currentTarget.checked)} /> Keep blobs that are deleted or overwritten</label>
        {enabled && <>
            <Field label="For days" name="days" type="number" step="1" value={String(value.days ?? DAYS)} required hint="1 to 365." />
            <label class="field"><input type="checkbox" name="permanent" defaultChecked={value.permanent} /> Clients may delete snapshots that are kept for good</label>
        </>}
        <label class="field"><input type="checkbox" name="containers" checked={keepsContainers} onChange={(event) => setOfContainers(event.currentTarget.checked)} /> Keep containers that are deleted</label>
        {keepsContainers && <Field label="Containers for days" name="container-days" type="number" step="1" value={String(value.containerDays ?? DAYS)} required hint="1 to 365." />}
        <p class="empty">What is kept already keeps its days.</p>
    </Form>;
}

export function Containers({ account }: { account: string }) {
    const [prefix, setPrefix] = useState('');
    const [marks, setMarks] = useState<string[]>([]);
    const list = useLoad(async () => {
        const pages = (await blobService(account)).listContainers({ prefix: prefix || undefined, includeDeleted: true, includeSystem: true })
            .byPage({ maxPageSize: PAGE, continuationToken: marks.at(-1) });
        return (await pages.next()).value as ServiceListContainersSegmentResponse;
    }, [account, prefix, marks]);
    const look = (wanted: string) => {
        setMarks([]);
        setPrefix(wanted);
    };

    const items = list.value?.containerItems ?? [];
    const [accessOf, setAccessOf] = useState<string>();
    const [protection, setProtectionShown] = useState(false);

    return <><Listing title="Containers" one="container" head={['Modified', 'Access', 'Lease']} list={list}
        search={<>
            <form role="search" onSubmit={(event) => {
                event.preventDefault();
                look(String(new FormData(event.currentTarget).get('prefix')));
            }}>
                <Field label="Name begins with" name="prefix" value={prefix} />
                <button type="submit">Search</button>
            </form>
            <button type="button" onClick={() => setProtectionShown(true)}>Data protection…</button>
        </>}
        pages={<Pages of={list.value} marks={marks} setMarks={setMarks} />}
        rows={items.filter((item) => !item.deleted).map(({ name, properties: { lastModified, publicAccess, leaseState } }) =>
            ({ name, href: hrefOf('blobs', [account, name]), cells: [time(lastModified), publicAccess ? `public: ${publicAccess}` : 'private', leaseState] }))}
        fields={<>
            <Field label="Name" name="name" required hint="3 to 63 lower-case letters, digits and dashes." />
            <Choice label="Public access" name="access" of={ACCESS} />
        </>} warning="All blobs in it go with it."
        create={async (form, name) => {
            const access = String(form.get('access'));
            await (await blobService(account)).createContainer(name, { access: access ? access as Access : undefined });
        }}
        remove={async (name) => (await blobService(account)).deleteContainer(name)}
        actions={(name) => {
            const state = items.find((item) => item.name === name && !item.deleted)?.properties.leaseState;
            return <>
                <button type="button" class="plain" aria-label={`Access to ${name}`} onClick={() => setAccessOf(name)}>Access</button>
                <Lease state={state} name={name} onBreak={async () => {
                    await (await containerOf(account, name)).getBlobLeaseClient().breakLease(0);
                    list.reload();
                }} />
            </>;
        }} />
        <Deleted title="Deleted containers" of={items.filter((item) => item.deleted).map(({ name, version, properties }) =>
            ({ name, version, deleted: properties.deletedOn, days: properties.remainingRetentionDays }))} restore={async (name, version) => {
            await (await blobService(account)).undeleteContainer(name, version);
            list.reload();
        }} />
        {protection && <DataProtection account={account} onClose={() => setProtectionShown(false)} />}
        {accessOf && <ContainerAccess account={account} container={accessOf} onClose={() => {
            setAccessOf(undefined);
            list.reload();
        }} />}
    </>;
}
