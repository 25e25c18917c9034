import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Copied, copyStore, type Progress } from '../../storage/copy/copy.ts';
import type { WorkspaceDigest } from '../../storage/copy/digest.ts';
import { hasCredentials } from '../../storage/credentials.ts';
import { isServed, isShared, openCopySource, openCopyTarget, STORE_URL, storeFile } from '../../storage/open.ts';
import { loadConfig } from './config.ts';
import { judgeLosses } from './judge-installation.ts';
import { locking } from './locking.ts';
import { whyNoStartServed } from './served-installation.ts';
import { installationOf } from './store-files.ts';
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
    const [from, url] = [sourceUrl(configDir), urlIn(to)];
    return locking(configDir, async () => {
      if (!hasCredentials(configDir)) {
        throw new Error(`${configDir} has no credentials.json: name the --config-dir of meshd.`);
      }
      const now = Date.now();
      await using opened = new AsyncDisposableStack();
      const source = opened.adopt(await openCopySource(from), (each) => each.close());
      const target = opened.adopt(await openCopyTarget(url, now), (each) => each.close());
      if (!(await source.moved())) await requireWhole(configDir, from);
      const progress = eachSeconds(say);
      const copied = await copyStore({ source, target, installation: installationOf(configDir), now, progress });
      return inWords(copied, { from: source.place, to: target.place, isServed: isServed(url) });
    });
  },

  async cancel({ configDir }: Pick<CopyCommand, 'configDir'>): Promise<string> {
    return locking(configDir, async () => {
      await using opened = new AsyncDisposableStack();
      const source = opened.adopt(await openCopySource(sourceUrl(configDir)), (each) => each.close());
      const moved = await source.moved();
      if (!moved) return `${source.place} is the database in use: nothing was to be done.`;
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

function sourceUrl(configDir: string): string {
  const url = storeUrl(loadConfig(process.env, configDir));
  if (!isShared(url)) throw new Error('MESH_STORE_URL names a store in memory, which ends with its meshd.');
  return url;
}

/** A URL with a password is best read from a file: other users of the machine see the arguments of a command. */
function urlIn(to: string): string {
  const url = to.startsWith('@') ? readFileSync(to.slice(1), 'utf8').trim() : to;
  const isKnown = STORE_URL.isKnown(url) || !/^[a-z][a-z0-9+.-]*:/.test(url);
  if (!isKnown) throw new Error(`--to ${STORE_URL.rule}.`);
  if (!isShared(url)) throw new Error('--to names a store in memory, which would end with this command.');
  return url;
}

/** What a start asks. @throws Error */
async function requireWhole(configDir: string, url: string): Promise<void> {
  const { refusal } = await judgeLosses(configDir, storeFile(url));
  const why = refusal ?? (isServed(url) ? await whyNoStartServed(configDir, url) : undefined);
  if (why !== undefined) throw new Error(why);
}

const TELL_EACH_MS = 2_000;

function eachSeconds(say: (line: string) => void): (step: Progress) => void {
  let told = performance.now();
  return ({ doing, entries, of }) => {
    if (performance.now() - told < TELL_EACH_MS) return;
    told = performance.now();
    const share = of === 0 ? 100 : Math.floor((100 * entries) / of);
    const what = doing === 'copy' ? 'copied' : 'read back and compared';
    say(`${what}: ${entries} of ${of} entries of the logs, and what they wrote (${share} %)`);
  };
}

interface Places {
  readonly from: string;
  readonly to: string;
  readonly isServed: boolean;
}

function inWords({ workspaces, aside }: Copied, places: Places): string {
  const { from, to } = places;
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
    places.isServed
      ? 'Start meshd now with MESH_STORE_URL set to what was given here, the same --config-dir, and without --standalone.'
      : 'Start meshd --standalone now, with the same --config-dir, and with MESH_STORE_URL set to it unless it is mesh.db there.',
    `No meshd starts on ${from} any more. It is kept as it was: meshd copy --cancel there takes it back.`,
  ].join('\n');
}

function digestOfAll(workspaces: readonly WorkspaceDigest[]): string {
  return createHash('sha256').update(JSON.stringify(workspaces)).digest('hex');
}
