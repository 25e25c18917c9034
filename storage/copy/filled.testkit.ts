import { rootOf } from '../../core/audit/tree.ts';
import type { Store } from '../../core/base/ports.ts';
import type { Kind, RecordDraft } from '../../core/base/record.ts';
import { draft, outcome, peer, START, type TestClock, WHY, WS } from '../contract/kit.ts';

const DAY_MS = 86_400_000;
const OTHER = 'w_other';
/** Revisions of the first workspace that were compacted away, but for one that is kept. */
const COMPACTED = 4;
const KEPT = 2;
/** More than a page of a copy. */
const MANY = 600;

/** Everything that a store can hold: names of any text, deletions, names taken again, unique values, events, compaction, checkpoints. */
export async function fill(store: Store, clock: TestClock): Promise<void> {
  const create = (record: RecordDraft, ws = WS) => store.commit(ws, [{ op: 'create', record }], WHY);
  const update = async (name: string, over: object) => {
    const { revision = 0 } = (await store.get(WS, peer(name))) ?? {};
    return store.commit(WS, [{ op: 'update', record: draft(name, over), revision }], WHY);
  };
  await create(draft('a', { unique: ['ip:10.0.0.1', 'pubkey:a'] }));
  await create(draft('B-ÄÖ', { uid: 'p_b', unique: ['ip:10.0.0.2'] }));
  for (let n = 0; n < 5; n += 1) await update('a', { spec: { n }, unique: [`ip:10.0.1.${n}`] });
  await store.commit(
    WS,
    [
      { op: 'delete', key: peer('b-äö') },
      { op: 'create', record: draft('B-ÄÖ', { uid: 'p_b2' }) },
    ],
    WHY,
  );
  await create(draft('gone'));
  await store.commit(WS, [{ op: 'delete', key: peer('gone') }], WHY);
  await store.commit(OTHER, [{ op: 'create', record: draft('z', { unique: ['ip:10.0.0.1'] }) }], WHY);
  await store.commit(
    WS,
    [{ op: 'create', record: draft('t', { kind: 'Token', uid: 't_1', unique: ['token:1'] }) }],
    WHY,
  );
  const member = draft('m', { kind: 'Member', uid: 'm_1' });
  await create(member);
  await store.record(WS, [{ type: 'login', actor: 'user:ada', result: 'refused', origin: '192.0.2.1' }]);
  await keepCheckpoint(store, clock.now());
  clock.set(START + DAY_MS);
  await store.compact(WS, COMPACTED, [KEPT]);
  await Promise.all(Array.from({ length: MANY }, (_, n) => create(draft(`many-${n}`))));
  await update('a', { spec: { large: 'x'.repeat(20_000) }, unique: ['ip:10.0.1.4'] });
  await keepCheckpoint(store, clock.now());
}

async function keepCheckpoint(store: Store, at: number): Promise<void> {
  const tree = store.auditTree(WS);
  const size = await tree.size();
  const root = await rootOf(size, (ids) => tree.hashes(ids));
  await tree.keepCheckpoint({ at, size, note: `a note of ${size} and ${Buffer.from(root).toString('base64')}` });
}

/** All that a store answers about what it holds, as far as its callers see it. */
export async function answersOf(store: Store): Promise<unknown> {
  const workspaces: unknown[] = [];
  for (const ws of await store.workspaces()) {
    const revision = await store.revision(ws);
    const tree = store.auditTree(ws);
    const size = await tree.size();
    const past = await Promise.all(
      [0, 1, KEPT, 3, COMPACTED, 6, revision - 1, revision].map((at) =>
        outcome(store.list(ws, 'MeshPeer', { asOf: { revision: at } })),
      ),
    );
    const lists = await Promise.all(
      (['MeshPeer', 'Token', 'Member'] satisfies Kind[]).map((kind) => store.list(ws, kind)),
    );
    workspaces.push({
      ws,
      revision,
      lists,
      past,
      kept: await store.keptFrom(ws),
      inForce: await store.revisionAt(ws, START),
      histories: await Promise.all(['a', 'b-äö', 'gone'].map((name) => store.history(ws, peer(name)))),
      versions: await outcome(store.versions(ws, 'MeshPeer', { after: COMPACTED, upTo: revision })),
      commits: await outcome(store.commits(ws, COMPACTED, 1_000)),
      audit: await store.audit(ws, { limit: 1_000 }),
      unique: await Promise.all(['ip:10.0.0.1', 'ip:10.0.0.2', 'ip:10.0.1.4'].map((value) => store.lookup(value, ws))),
      size,
      roots: await Promise.all([1, 2, 7, size].map((at) => (at > size ? undefined : rootOf(at, tree.hashes)))),
      entries: await tree.entries(0, size),
      checkpoints: await tree.checkpoints(10),
      bytes: await store.sizeBetween(ws, COMPACTED, revision),
    });
  }
  return { workspaces, token: await store.lookup('token:1') };
}

/**
 * Checks that a copy works as a store: adds the next entry to the tree, and returns the refusal of a duplicate unique value.
 */
export async function writeOn(store: Store): Promise<unknown> {
  await store.commit(WS, [{ op: 'create', record: draft('new') }], WHY);
  const taken = draft('other', { unique: ['ip:10.0.1.4'] });
  return outcome(store.commit(WS, [{ op: 'create', record: taken }], WHY));
}
