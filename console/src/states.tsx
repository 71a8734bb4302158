// Snapshots and versions of a blob: shown, promoted and deleted.
import type { BlobClient, ContainerClient } from '@azure/storage-blob';
import { bytes, daysLeft } from './format.ts';
import { Table } from './table.tsx';

export interface State {
    kind: 'snapshot' | 'version';
    id: string; // its time
    size?: number | undefined;
    type?: string | undefined;
    isArchived: boolean;
    isDeleted: boolean;
    daysKept?: number | undefined;
}

export const clientOf = (blob: BlobClient, { kind, id }: State) => kind === 'snapshot' ? blob.withSnapshot(id) : blob.withVersion(id);
export const queryOf = ({ kind, id }: State) => `${kind === 'snapshot' ? 'snapshot' : 'versionid'}=${encodeURIComponent(id)}`;

/** All snapshots and previous versions. */
export async function statesOf(container: ContainerClient, name: string): Promise<State[]> {
    const states: State[] = [];

    for await (const { name: other, snapshot, versionId, isCurrentVersion, deleted, properties } of
        container.listBlobsFlat({ prefix: name, includeSnapshots: true, includeVersions: true, includeDeleted: true })) {
        if (other !== name)
            break;
        const id = snapshot || (isCurrentVersion ? undefined : versionId);
        if (id)
            states.push({ kind: snapshot ? 'snapshot' : 'version', id, size: properties.contentLength, type: properties.contentType,
                isArchived: properties.accessTier === 'Archive', isDeleted: deleted, daysKept: properties.remainingRetentionDays });
    }
    return states;
}

/** shown: the one whose content is shown. */
export function States({ kind, of, shown, onShow, onPromote, onDelete }: {
    kind: State['kind']; of: State[]; shown: State | undefined; onShow: (state: State | undefined) => void; onPromote: (state: State) => void; onDelete: (state: State) => void;
}) {
    const label = kind === 'snapshot' ? 'Snapshots' : 'Versions';

    return <>
        <h3>{label}</h3>
        <Table label={label} of={of.filter((state) => state.kind === kind)} keyOf={({ id }) => id} empty="None." columns={[
            { title: 'Created', kind: 'time', by: ({ id }) => id, cell: ({ id, isDeleted }) => (isDeleted ? <del>{id}</del> : id) },
            { title: 'Size', kind: 'number', by: ({ size }) => size, cell: ({ size }) => bytes(size) },
            { title: 'Actions', kind: 'actions', cell: (state) => state.isDeleted ? `deleted, ${daysLeft(state.daysKept)}` : <>
                <button type="button" class="plain" aria-label={`${shown?.id === state.id ? 'Hide' : 'Show'} ${state.id}`} onClick={() => onShow(shown?.id === state.id ? undefined : state)}>
                    {shown?.id === state.id ? 'Hide' : 'Show'}</button>
                <button type="button" class="plain" aria-label={`Promote ${state.id}`} onClick={() => onPromote(state)}>Promote</button>
                <button type="button" class="plain" aria-label={`Delete ${state.id}`} onClick={() => onDelete(state)}>Delete</button>
            </> },
        ]} />
    </>;
}
