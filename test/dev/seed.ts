import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { takeLock } from '../../storage/directory-lock.ts';
import { configure } from '../kits/http/harness.ts';
import { PLAIN_WORDS } from '../kits/web/network-words.ts';
import { PASSWORD } from '../kits/web/page-people.ts';
import { seededNetwork } from '../kits/web/seeded-network.ts';

/** Where `npm run dev` keeps its network, unless told. */
export const DEV_DIRECTORY = path.resolve(import.meta.dirname, '../../node_modules/.cache/dev');
/** With the peers that the pages name, thirty. */
const WORKERS = 14;
/** A control plane refuses a history that ends in the future. */
const AGO_MS = 60_000;

/**
 * Replaces a directory by the data of a network with thirty peers and twelve days of history that end now.
 *
 * @throws Error while a control plane runs on it
 */
export async function seed(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  takeLock(directory).release();
  rmSync(directory, { recursive: true });
  mkdirSync(directory, { mode: 0o700 });
  const network = await seededNetwork(PLAIN_WORDS, { endsAt: Date.now() - AGO_MS, directory, workers: WORKERS });
  await network.stop();
  // Its first accounts are made. A start on it would say that it ignores them.
  configure(directory, {});
}

if (import.meta.main) {
  const options = { help: { type: 'boolean', short: 'h' } } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) {
    console.log(`npm run seed [-- DIRECTORY]: replaces DIRECTORY, else ${DEV_DIRECTORY}, by a network with a past.`);
  } else {
    const directory = path.resolve(positionals[0] ?? DEV_DIRECTORY);
    await seed(directory);
    const start = directory === DEV_DIRECTORY ? 'npm run dev' : `npm start -- --config-dir ${directory}`;
    console.log(`Seeded ${directory}.\nStart it with: ${start}\nSign in as admin with: ${PASSWORD}`);
  }
}
