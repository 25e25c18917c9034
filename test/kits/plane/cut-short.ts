import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SYSTEM_WORKSPACE } from '../../../core/base/ids.ts';
import { type Store, StoreError } from '../../../core/base/ports.ts';
import { KINDS, type Kind } from '../../../core/base/record.ts';
import { buildJobs } from '../../../plane/periodic.ts';
import { buildIdentityKit, type IdentityKit, START } from './identity-kit.ts';

/** Longer than any call, than a workspace has to be old to count as gone, and than an address rests. */
const LATER_MS = 2 * 3_600_000;

/** Calls as the administrator of the installation. */
export type Ask = (name: string, raw: Record<string, unknown>, workspace?: string) => Promise<unknown>;
type Call = (ask: Ask) => Promise<unknown>;

/** What a call leaves whose process died after so many of its commits, once another one has done what is due. */
export interface Outcome {
  /** Commits that it made. */
  readonly commits: number;
  /** Every record but what names its workspace in it, ids and instants apart. */
  readonly records: readonly string[];
}

/** A store that is made once, and copied for each call that is cut short on it. */
export async function buildCutShort<T>(furnish: (kit: IdentityKit) => Promise<T>) {
  const directory = await mkdtemp(path.join(tmpdir(), 'mesh-cut-short-'));
  const origin = path.join(directory, 'origin.db');
  const furnished = async () => {
    await using kit = await buildIdentityKit({ path: origin });
    return await furnish(kit);
  };
  const made = await furnished();
  let copies = 0;
  return {
    made,

    /** @param after commits after which nothing is written any more; none without */
    async outcome(call: Call, after = Number.POSITIVE_INFINITY): Promise<Outcome> {
      const file = path.join(directory, `copy-${++copies}.db`);
      await copyFile(origin, file);
      const commits = await cutShort(file, call, after);
      return { commits, records: await carriedOn(file) };
    },
    async [Symbol.asyncDispose]() {
      await rm(directory, { recursive: true });
    },
  };
}

async function cutShort(file: string, call: Call, after: number): Promise<number> {
  await using kit = await buildIdentityKit({ path: file });
  const bearer = await kit.admin();
  const store = dyingAfter(kit.services.store, after);
  try {
    await call((name, raw, workspace) =>
      kit.call(name, raw, { bearer, ...(workspace !== undefined && { workspace }) }),
    );
  } catch (error) {
    if (!store.hasDied()) throw error;
  }
  return store.commits();
}

/** From now on it lets so many commits through that change something, and none after. */
function dyingAfter(store: Store, after: number) {
  const commit = store.commit.bind(store);
  let made = 0;
  let hasDied = false;
  store.commit = async (...batch) => {
    if (made >= after) {
      hasDied = true;
      throw new StoreError('unavailable', 'the process has died');
    }
    const done = await commit(...batch);
    if (done.changes.length > 0) made += 1;
    return done;
  };
  return { commits: () => made, hasDied: () => hasDied };
}

async function carriedOn(file: string): Promise<readonly string[]> {
  await using kit = await buildIdentityKit({ path: file, now: START + LATER_MS });
  for (let round = 1; round <= 3; round += 1) {
    for (const job of buildJobs(kit.services, kit.gate)) await job.run();
    kit.clock.time += LATER_MS;
  }
  return await recordsOf(kit.services.store);
}

async function recordsOf(store: Store): Promise<readonly string[]> {
  const slugs = new Map((await store.list(SYSTEM_WORKSPACE, 'Workspace')).items.map(({ uid, name }) => [uid, name]));
  const found: string[] = [];
  for (const workspace of await store.workspaces()) {
    const place = workspace === SYSTEM_WORKSPACE ? 'installation' : (slugs.get(workspace) ?? 'gone');
    for (const kind of Object.keys(KINDS) as Kind[]) {
      for (const { name, labels, annotations, spec, status } of (await store.list(workspace, kind)).items) {
        found.push(comparable(`${place} ${kind} ${JSON.stringify({ name, labels, annotations, spec, status })}`));
      }
    }
  }
  return found.toSorted();
}

/** Ids are drawn anew each time, and what is done later is done at another instant. */
function comparable(text: string): string {
  return text
    .replace(/\b([a-z]+)_[a-z2-7]{26}\b/g, '$1')
    .replace(/\b\d{13}\b/g, 'instant')
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'instant');
}
