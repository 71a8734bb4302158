// Clients of others on one file, Azure's for the File REST API and impacket for SMB: the sentence of the plan.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { SHARE } from './rest.mjs';

const { ShareServiceClient, StorageSharedKeyCredential } =
    createRequire(new URL('../clients/package.json', import.meta.url))('@azure/storage-file-share');

function fileClient({ server }, file) {
    const credential = new StorageSharedKeyCredential(DEVELOPMENT.account, DEVELOPMENT.key);
    const service = new ShareServiceClient(`http://${server.host}:${server.ports.file}/${DEVELOPMENT.account}`, credential,
        { retryOptions: { maxTries: 1 } });

    return service.getShareClient(SHARE).rootDirectoryClient.getFileClient(file);
}

const refused = (promise, statusCode, code) => assert.rejects(promise, { statusCode, code });

/** An SMB client holds a file with share mode None: a write by REST is refused, until the file is closed. */
async function azureHeldByNone(context) {
    const { smb, next } = context, name = next(), file = fileClient(context, name);

    await file.create(16);
    await smb.open('a', name, { access: 'RW', share: '' });
    await refused(file.uploadRange('refused', 0, 7), 409, 'SharingViolation');
    await smb.must('write', { name: 'a', offset: 0, text: 'written' });
    await smb.must('close', { name: 'a' });
    await file.uploadRange('!', 7, 1);
    assert.equal(`${await file.downloadToBuffer(0, 8)}`, 'written!');
}

/** An SMB client deletes an open file: REST is refused, and finds nothing after the last close. */
async function azureDeletedWhileOpen(context) {
    const { smb, next } = context, name = next(), file = fileClient(context, name);

    await file.create(16);
    await smb.open('reads', name, { access: 'R' });
    await smb.open('deletes', name, { access: 'D' });
    await smb.must('disposition', { name: 'deletes', deletes: true });
    await smb.must('close', { name: 'deletes' });
    await refused(file.downloadToBuffer(), 409, 'DeletePending');
    await refused(file.uploadRange('refused', 0, 7), 409, 'DeletePending');
    await smb.must('close', { name: 'reads' });
    await refused(file.getProperties(), 404, 'ResourceNotFound');
    await refused(file.uploadRange('refused', 0, 7), 404, 'ResourceNotFound');
}

export const AZURE = { azureHeldByNone, azureDeletedWhileOpen };
