// The containers of an account, those of the service among them: a page of them at a time, to create and to delete.
import type { ContainerItem } from '@azure/storage-blob';
import { useState } from 'preact/hooks';
import { ACCESS, ContainerAccess, Lease } from './access.tsx';
import { blobService, containerOf, protectionOf, setProtection } from './clients.ts';
import { time } from './format.ts';
import { walkBlobs } from './list.ts';
import { type Column, keysOf } from './order.ts';
import { RemoveNamed, type Walk } from './remove.tsx';
import { hrefOf } from './route.ts';
import { Deleted, Listing, nameColumn, pageOf, useList } from './table.tsx';
import { Choice, Dialog, Field, Form, Problem, useLoad } from './ui.tsx';

const PAGE = 200;
const DAYS = 7; // the default of Azure's portal
type Access = 'container' | 'blob';

const ABOUT: Record<string, string> = {
    $logs: 'Storage Analytics logs. The server writes a line for each request here while logging is turned on in the service properties, and deletes old logs if a retention is set there. They count as stored data.',
    $blobchangefeed: 'Change feed: a log of the changes to blobs, written by the service.',
    $root: 'Root container: its blobs are also reachable without a container name.',
    $web: 'Static website: its blobs are served as web pages once that is turned on in the service properties.',
};
/** What the service uses a container for. */
export const aboutContainer = (name: string) => ABOUT[name];
const isOfService = (name: string) => name === '$logs' || name === '$blobchangefeed';

/** Edits versioning and soft delete of an account. */
function DataProtection({ account, onClose }: { account: string; onClose: () => void }) {
    const { value, problem, reload } = useLoad(() => protectionOf(account), [account]);
    const [chosen, setChosen] = useState<boolean>();
    const [ofContainers, setOfContainers] = useState<boolean>();
    const title = 'Data protection';

    if (!value)
        return <Dialog title={title} onClose={onClose}>
            <Problem of={problem} retry={reload} />
            <p class="buttons"><button type="button" onClick={onClose}>Close</button></p>
        </Dialog>;
    const enabled = chosen ?? value.enabled, keepsContainers = ofContainers ?? value.containerDays !== undefined;
    return <Form title={title} action="Save" onClose={onClose} onDone={(form) => setProtection(account, {
        versions: form.get('versions') !== null,
        ...enabled ? { enabled, days: Number(form.get('days')), permanent: form.get('permanent') !== null } : { enabled },
        containerDays: keepsContainers ? Number(form.get('container-days')) : undefined,
    })}>
        <label class="field"><input type="checkbox" name="versions" defaultChecked={value.versions} /> Versioning: keep the previous version whenever a blob is written or deleted</label>
        <label class="field"><input type="checkbox" name="enabled" checked={enabled} onChange={(event) => setChosen(event.currentTarget.checked)} /> Soft delete for blobs: retain deleted and overwritten blobs</label>
        {enabled && <>
            <Field label="Retention of blobs, days" name="days" type="number" step="1" value={String(value.days ?? DAYS)} required hint="1 to 365." />
            <label class="field"><input type="checkbox" name="permanent" defaultChecked={value.permanent} /> Allow clients to delete retained snapshots permanently</label>
        </>}
        <label class="field"><input type="checkbox" name="containers" checked={keepsContainers} onChange={(event) => setOfContainers(event.currentTarget.checked)} /> Soft delete for containers: retain deleted containers</label>
        {keepsContainers && <Field label="Retention of containers, days" name="container-days" type="number" step="1" value={String(value.containerDays ?? DAYS)} required hint="1 to 365." />}
        <p class="empty">Items that are retained already keep their retention.</p>
    </Form>;
}

/** The blobs of a container, for their count. */
const blobsIn = (account: string, name: string): Walk => (signal) => walkBlobs(account, name, '', { signal });

const COLUMNS = (account: string): Column<ContainerItem>[] => [
    nameColumn((name) => hrefOf('blobs', [account, name]), aboutContainer),
    { title: 'Modified', kind: 'time', by: ({ properties }) => properties.lastModified, cell: ({ properties }) => time(properties.lastModified) },
    { title: 'Public access', by: ({ properties }) => properties.publicAccess ?? '', cell: ({ properties: { publicAccess } }) => publicAccess ? `public: ${publicAccess}` : 'private' },
    { title: 'Lease', by: ({ properties }) => properties.leaseState, cell: ({ properties }) => properties.leaseState },
];

export function Containers({ account, isTree }: { account: string; isTree: boolean }) {
    const [prefix, setPrefix] = useState('');
    const columns = COLUMNS(account);
    const list = useList<ContainerItem>(async (mark) => pageOf((await blobService(account)).listContainers({ prefix: prefix || undefined, includeDeleted: true, includeSystem: true })
        .byPage({ maxPageSize: PAGE, continuationToken: mark }), ({ containerItems }) => containerItems), keysOf(columns), PAGE, [account, prefix]);
    const [accessOf, setAccessOf] = useState<string>();
    const [protection, setProtectionShown] = useState(false);

    return <><Listing title="Containers" one="container" list={list} about={isTree && 'This account has a hierarchical namespace (Data Lake Storage).'} rows={list.rows.filter((item) => !item.deleted)} columns={columns}
        search={<>
            <form role="search" onSubmit={(event) => {
                event.preventDefault();
                setPrefix(String(new FormData(event.currentTarget).get('prefix')));
            }}>
                <Field label="Name prefix" name="prefix" value={prefix} />
                <button type="submit">Search</button>
            </form>
            <button type="button" onClick={() => setProtectionShown(true)}>Data protection…</button>
        </>}
        fields={<>
            <Field label="Name" name="name" required hint="3 to 63 lower-case letters, digits and dashes." />
            <Choice label="Public access" name="access" of={ACCESS} />
        </>}
        create={async (form, name) => {
            const access = String(form.get('access'));
            await (await blobService(account)).createContainer(name, { access: access ? access as Access : undefined });
        }}
        canDelete={({ name }) => !isOfService(name)}
        removal={(name, onClose, onDone) => <RemoveNamed kind="container" name={name} one="blob" walk={blobsIn(account, name)} onClose={onClose} onDone={onDone}
            remove={async () => (await blobService(account)).deleteContainer(name)}>
            <p>Its blobs, with their snapshots and versions, are deleted too.</p>
        </RemoveNamed>}
        actions={({ name, properties }) => !isOfService(name) && <>
            <button type="button" class="plain" aria-label={`Access policies of ${name}`} onClick={() => setAccessOf(name)}>Access policies</button>
            <Lease state={properties.leaseState} name={name} onBreak={async () => {
                await (await containerOf(account, name)).getBlobLeaseClient().breakLease(0);
                list.reload();
            }} />
        </>} />
        <Deleted title="Deleted containers" of={list.rows.filter((item) => item.deleted).map(({ name, version, properties }) =>
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
