// azure-storage-blob for Ruby, from Debian.
import { test } from 'node:test';
import { run, runThroughKills } from './setup.mjs';

const RUBY = '/usr/bin/ruby';
const has = await run(RUBY, ['-e', 'require "azure/storage/blob"']).then(() => true, () => false);

test('azure-storage-blob for Ruby, through kills', { skip: !has }, (t) => runThroughKills(t, RUBY, 'blobs.rb', 2));
