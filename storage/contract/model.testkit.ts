import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Op, Store } from '../../core/base/ports.ts';
import { foldName, type RecordDraft, type StoredRecord } from '../../core/base/record.ts';
import { draft, type OpenStore, opened, outcome, peer, START, stored, WHY } from './kit.ts';

/** The model that the store must equal: every state ever, in full. */
type State = ReadonlyMap<string, StoredRecord>;

type Step =
  | { readonly do: 'put'; readonly name: string; readonly spec: number; readonly unique: readonly string[] }
  | { readonly do: 'delete'; readonly name: string };

const NAMES = ['a', 'B', 'c-1', 'D.2'];
const name = fc.constantFrom(...NAMES, 'A', 'b');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('put' as const),
    name,
    spec: fc.nat(3),
    unique: fc.uniqueArray(fc.constantFrom('ip:1', 'ip:2', 'ip:3'), { maxLength: 2 }),
  }),
  fc.record({ do: fc.constant('delete' as const), name }),
);
/** Hundreds of histories are played; a slow machine may take many seconds. */
const PROPERTY_TIMEOUT_MS = 60_000;
const batches = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 25 });

/** A workspace with a history that was played there, and what the store must know of it. */
interface Played {
  readonly ws: string;
  readonly states: readonly State[];
}

/** Each history is of a workspace of its own, beside those of the others. */
export function modelContract(open: OpenStore): void {
  let workspaces = 0;
  const playOn = async (store: Store, history: readonly (readonly Step[])[]): Promise<Played> => {
    workspaces += 1;
    const ws = `w_model_${workspaces}`;
    return { ws, states: await play(store, ws, history) };
  };

  describe('random histories', { timeout: PROPERTY_TIMEOUT_MS }, () => {
    test('are read back as of every revision and instant as a naive model has them', async () => {
      const store = await opened(open);
      await fc.assert(
        fc.asyncProperty(batches, async (history) => {
          const { ws, states } = await playOn(store, history);
          for (const [revision, state] of states.entries()) {
            const items = itemsOf(state);
            expect(await store.list(ws, 'MeshPeer', { asOf: { revision } })).toEqual({ items, revision });
            for (const key of NAMES) {
              expect(await store.get(ws, peer(key), { revision })).toEqual(state.get(foldName(key)));
            }
          }
          const last = states.at(-1) ?? new Map();
          expect(await store.list(ws, 'MeshPeer')).toEqual({ items: itemsOf(last), revision: states.length - 1 });
          for (const value of ['ip:1', 'ip:2', 'ip:3']) {
            expect(await store.lookup(value, ws)).toEqual(itemsOf(last).find(({ unique }) => unique.includes(value)));
          }
        }),
        { numRuns: 40 },
      );
    });

    test('rebuild every state from their commits, applied in order', async () => {
      const store = await opened(open);
      await fc.assert(
        fc.asyncProperty(batches, async (history) => {
          const { ws, states } = await playOn(store, history);
          const rebuilt = new Map<string, StoredRecord>();
          for (const { revision, changes } of await store.commits(ws, 0, 1_000)) {
            for (const { type, record, before } of changes) {
              expect(before).toEqual(rebuilt.get(foldName(record.name)));
              if (type === 'deleted') rebuilt.delete(foldName(record.name));
              else rebuilt.set(foldName(record.name), record);
            }
            expect(itemsOf(rebuilt)).toEqual(itemsOf(states[revision] ?? new Map()));
          }
        }),
        { numRuns: 40 },
      );
    });

    test('name the versions of any span, and since when all are kept, as a naive model has them', async () => {
      const span = fc.record({ after: fc.nat(25), upTo: fc.nat(25), compacted: fc.nat(25) });
      const store = await opened(open);
      await fc.assert(
        fc.asyncProperty(batches, span, async (history, { after, upTo, compacted }) => {
          const { ws, states } = await playOn(store, history);
          const mark = Math.min(compacted, states.length - 1);
          await store.compact(ws, mark, []);
          const kept = states.length > 1 ? { revision: Math.max(1, mark), at: START } : undefined;
          expect(await store.keptFrom(ws)).toEqual(kept);
          const read = await outcome(store.versions(ws, 'MeshPeer', { after, upTo }));
          if (after < mark) expect(read).toMatchObject({ code: 'compacted' });
          else {
            const all = versionsIn(states, after, upTo);
            expect(new Set(read as never)).toEqual(new Set(all));
            for (const name of NAMES) {
              const own = all.filter((version) => foldName(version.name) === foldName(name));
              expect(await store.versions(ws, 'MeshPeer', { after, upTo, name })).toEqual(own);
            }
          }
        }),
        { numRuns: 60 },
      );
    });

    test('stay readable at every kept revision after any compactions', async () => {
      const compactions = fc.array(fc.record({ upTo: fc.nat(25), keep: fc.array(fc.nat(25), { maxLength: 4 }) }), {
        minLength: 1,
        maxLength: 3,
      });
      const store = await opened(open);
      await fc.assert(
        fc.asyncProperty(batches, compactions, async (history, calls) => {
          const { ws, states } = await playOn(store, history);
          let readable = [...states.keys()];
          let mark = 0;
          for (const { upTo, keep } of calls) {
            await store.compact(ws, upTo, keep);
            mark = Math.max(mark, Math.min(upTo, states.length - 1));
            readable = readable.filter((revision) => revision >= mark || keep.includes(revision));
          }
          for (const [revision, state] of states.entries()) {
            const read = await outcome(store.list(ws, 'MeshPeer', { asOf: { revision } }));
            if (readable.includes(revision)) expect(read).toEqual({ items: itemsOf(state), revision });
            else expect(read).toMatchObject({ code: 'compacted' });
          }
        }),
        { numRuns: 60 },
      );
    });
  });
}

/** Plays the batches on the store and the model alike. @returns the state at each revision, from 0 */
async function play(store: Store, ws: string, history: readonly (readonly Step[])[]): Promise<State[]> {
  const states: State[] = [new Map()];
  let ids = 0;
  for (const steps of history) {
    const before = states.at(-1) ?? new Map();
    const revision = states.length;
    const next = new Map(before);
    const ops = steps.map((each) => opOf(each, before, `p_${ids++}`));
    const code = applyAll(next, ops, { ws, revision });
    const answer = await outcome(store.commit(ws, ops, WHY));
    expect('code' in answer ? answer.code : undefined).toBe(code);
    if (code === undefined) states.push(next);
  }
  return states;
}

function opOf(each: Step, state: State, uid: string): Op {
  if (each.do === 'delete') return { op: 'delete', key: peer(each.name) };
  const present = state.get(foldName(each.name));
  const record = draft(each.name, { uid: present?.uid ?? uid, spec: each.spec, unique: each.unique });
  return present ? { op: 'update', record, revision: present.revision } : { op: 'create', record };
}

/** @returns the code of the first op that fails; the state is then void */
function applyAll(
  state: Map<string, StoredRecord>,
  ops: readonly Op[],
  at: { readonly ws: string; readonly revision: number },
): string | undefined {
  const deleted = new Set<string>();
  const written = new Set<string>();
  for (const op of ops) {
    if (op.op === 'check') continue;
    const key = foldName(op.op === 'delete' ? op.key.name : op.record.name);
    const present = state.get(key);
    if (op.op === 'create' && present) return 'already_exists';
    if (op.op !== 'create' && !present) return 'not_found';
    if (op.op === 'update' && present?.revision !== op.revision) return 'conflict';
    if (written.has(key) && !(op.op === 'create' && deleted.has(key))) return 'conflict';
    written.add(key);
    if (op.op === 'delete') {
      deleted.add(key);
      state.delete(key);
      continue;
    }
    deleted.delete(key);
    const others = [...state.entries()].filter(([other]) => other !== key).flatMap(([, { unique }]) => unique);
    if (op.record.unique.some((value) => others.includes(value))) return 'unique';
    state.set(key, versionOf(op.record, present, at));
  }
  return undefined;
}

function versionOf(
  record: RecordDraft,
  before: StoredRecord | undefined,
  { ws, revision }: { readonly ws: string; readonly revision: number },
): StoredRecord {
  const generation = before === undefined ? 1 : before.generation + (before.spec === record.spec ? 0 : 1);
  return { ...stored(record, revision, { createdAt: START, generation }), workspace: ws };
}

/** Each record that a revision wrote or deleted, by comparing the states before and after it. */
function versionsIn(states: readonly State[], after: number, upTo: number) {
  return states.flatMap((state, revision) => {
    if (revision <= after || revision > upTo) return [];
    const before = states[revision - 1] ?? new Map<string, StoredRecord>();
    const common = { revision, at: START };
    const written = [...state.values()].filter((record) => record.revision === revision);
    const gone = [...before].filter(([key]) => !state.has(key));
    return [
      ...written.map((record) => ({ name: record.name, ...common, record })),
      ...gone.map(([, { name }]) => ({ name, ...common })),
    ];
  });
}

function itemsOf(state: State): StoredRecord[] {
  return [...state.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, record]) => record);
}
