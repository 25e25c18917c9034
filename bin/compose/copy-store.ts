import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Contents } from '../../storage/copy/contents.ts';
import { type CopyResult, copyStore, type Progress } from '../../storage/copy/copy.ts';
import type { WorkspaceDigest } from '../../storage/copy/digest.ts';
import { credentialsFile } from '../../storage/credentials.ts';
import { buildKeyring, nameOfKeys } from '../../storage/keyring.ts';
import { headsIn } from '../../storage/log-heads.ts';
import { isShared, STORE_URL, storeAt } from '../../storage/open.ts';
import { checkLosses } from './check-installation.ts';
import { type Config, loadConfig } from './config.ts';
import { type KeyLocation, keyLocationOf, storedCredentials } from './installation.ts';
import { locking } from './locking.ts';
import { servedStartRefusal } from './served-installation.ts';
import { storeUrl } from './store-url.ts';

interface CopyCommand {
  readonly configDir: string;
  /** The URL of a store, or `@` and the name of a file that has it. */
  readonly to: string;
  /** Tells people how far it is. */
  say(line: string): void;
}

/** `meshd copy` (docs/deploy.md). */
export const storeCopies = {
  async copy({ configDir, to, say }: CopyCommand): Promise<string> {
    const [config, url] = [loadConfig(process.env, configDir), urlIn(to)];
    const [from, keys] = [sourceUrl(config), keyLocationOf(config)];
    return locking(configDir, async () => {
      const credentials = storedCredentials(keys);
      if (!credentials) {
        throw new Error(`${configDir} has no credentials.json: name the --config-dir of meshd, or its MESH_KEYS_FILE.`);
      }
      const now = Date.now();
      await using opened = new AsyncDisposableStack();
      const source = opened.adopt(await storeAt(from).openSource(), (each) => each.close());
      const target = opened.adopt(await storeAt(url).openTarget(now), (each) => each.close());
      if (!(await source.moved())) await requireWhole(keys, from);
      const copied = await copyStore({
        source,
        target,
        installation: buildKeyring(credentials).logs.originOf(''),
        keys: nameOfKeys(credentials),
        now,
        progress: eachSeconds(say),
        whole: (written) => storeHeads(configDir, written),
      });
      const places = { from: source.place, to: target.place, isNamed: config.env.MESH_STORE_URL !== undefined };
      return copyReport(copied, { ...places, target: kindOf(url, configDir), ...keys });
    });
  },

  async cancel({ configDir }: Pick<CopyCommand, 'configDir'>): Promise<string> {
    return locking(configDir, async () => {
      await using opened = new AsyncDisposableStack();
      const from = sourceUrl(loadConfig(process.env, configDir));
      const source = opened.adopt(await storeAt(from).openSource(), (each) => each.close());
      const moved = await source.moved();
      if (!moved) return `${source.place} is the database in use, and was not moved: nothing was to be done. ${WHICH}`;
      await source.release();
      return [
        `${source.place} can be started on again, as it was.`,
        moved.done
          ? `Start no meshd on ${moved.to} any more: what was written there since is not here, and a start says so.`
          : `What was copied to ${moved.to} is not whole, and no meshd starts on it.`,
      ].join('\n');
    });
  },
};

const WHICH =
  'What is taken back is the store that MESH_STORE_URL names, or mesh.db in the configuration directory where it is not set.';

function sourceUrl(config: Config): string {
  const url = storeUrl(config);
  if (!isShared(storeAt(url))) throw new Error('MESH_STORE_URL names a store in memory, which ends with its meshd.');
  return url;
}

/** A URL with a password is best read from a file: other users of the machine see the arguments of a command. */
function urlIn(to: string): string {
  const url = to.startsWith('@') ? readFileSync(to.slice(1), 'utf8').trim() : to;
  const isKnown = STORE_URL.isKnown(url) || !/^[a-z][a-z0-9+.-]*:/.test(url);
  if (!isKnown) throw new Error(`--to ${STORE_URL.rule}.`);
  if (!isShared(storeAt(url))) throw new Error('--to names a store in memory, which would end with this command.');
  return url;
}

/** Checks the store as a start does. @throws Error */
async function requireWhole(keys: KeyLocation, url: string): Promise<void> {
  const { file, servers } = storeAt(url);
  const why = servers ? await servedStartRefusal(keys, url) : await checkLosses(keys.configDir, file);
  if (why !== undefined) throw new Error(why);
}

/** Other control planes have signed too: what they signed last is held against the copy from its first start on. */
async function storeHeads(configDir: string, written: Contents): Promise<void> {
  const heads = headsIn(configDir);
  for (const { name } of await written.heads()) {
    let newest: string | undefined;
    for await (const { note } of written.rows(name, 'checkpoints')) newest = note;
    if (newest !== undefined) await heads.keep(name, newest);
  }
}

const PROGRESS_INTERVAL_MS = 2_000;

function eachSeconds(say: (line: string) => void): (step: Progress) => void {
  let told = performance.now();
  return ({ doing, entries, of }) => {
    if (performance.now() - told < PROGRESS_INTERVAL_MS) return;
    told = performance.now();
    const share = of === 0 ? 100 : Math.floor((100 * entries) / of);
    const what = doing === 'copy' ? 'copied' : 'read back and compared';
    say(`${what}: ${entries} of ${of} entries of the logs, and what they wrote (${share} %)`);
  };
}

interface CopyPlan extends KeyLocation {
  readonly from: string;
  readonly to: string;
  /** True if MESH_STORE_URL names the source of the copy. */
  readonly isNamed: boolean;
  readonly target: Target;
}

/** Kept by servers, a file that has to be named, or the one that a start takes where none is. */
type Target = 'served' | 'file' | 'default';

function kindOf(url: string, configDir: string): Target {
  const { file, servers } = storeAt(url);
  if (servers) return 'served';
  return file?.path === path.resolve(configDir, 'mesh.db') ? 'default' : 'file';
}

function copyReport({ workspaces, aside }: CopyResult, places: CopyPlan): string {
  const { from, to, isNamed } = places;
  const sum = (of: (each: WorkspaceDigest) => number) => workspaces.reduce((all, each) => all + of(each), 0);
  return [
    `${to} holds all that ${from} does. Both were read and compared:`,
    `  ${workspaces.length} workspaces (that of the installation is one), each at its revision, with the same root of its log`,
    `  ${sum(({ parts }) => parts.log.rows)} entries of the logs, with their hashes`,
    `  ${sum(({ parts }) => parts.records.rows)} records, with ${sum(({ unique }) => unique)} unique values`,
    `  ${sum(({ parts }) => parts.versions.rows)} earlier versions of them`,
    `  ${sum(({ parts }) => parts.checkpoints.rows)} checkpoints`,
    `  SHA-256 of all of it, the same of both: ${digestOfAll(workspaces)}`,
    ...(aside === undefined ? [] : [`What was at the place of ${to} is kept as ${aside}.`]),
    ...howToStart(places),
    `No meshd starts on ${from} any more. It is kept as it was. To have it back, without what is written to the other one from now on:`,
    `meshd copy --cancel, ${isNamed ? 'with MESH_STORE_URL as it is now' : 'without MESH_STORE_URL'}.`,
  ].join('\n');
}

function howToStart({ target, to, configDir, keysFile }: CopyPlan): string[] {
  const keys = credentialsFile(configDir);
  if (target === 'served') {
    return [
      'Start meshd now with MESH_STORE_URL set to what was given here: one with --standalone and the same --config-dir,',
      `or several without, each with MESH_KEYS_FILE naming ${keysFile ?? `a copy of ${keys}`} (docs/cluster.md).`,
    ];
  }
  return [
    target === 'default'
      ? 'Start meshd --standalone now, with the same --config-dir, and without MESH_STORE_URL: it is the file that is taken then.'
      : `Start meshd --standalone now, with the same --config-dir, and with MESH_STORE_URL=${to}.`,
    ...(keysFile === undefined
      ? []
      : [`Copy ${keysFile} to ${keys} first, with mode 0600, and leave MESH_KEYS_FILE out.`]),
  ];
}

function digestOfAll(workspaces: readonly WorkspaceDigest[]): string {
  return createHash('sha256').update(JSON.stringify(workspaces)).digest('hex');
}
