import { onTestFinished } from 'vitest';
import type { Clock, CommitContext, Store } from '../../core/base/ports.ts';
import { StoreError } from '../../core/base/ports.ts';
import type { RecordDraft, StoredRecord } from '../../core/base/record.ts';

/** Opens an empty store on a given clock; each call another one. */
export type OpenStore = (clock: Clock) => Promise<Store>;

export const WS = 'w_contract';
export const WHY: CommitContext = { actor: 'user:ada', reason: 'test', requestId: 'req-1' };
export const START = 1_700_000_000_000;

export interface TestClock extends Clock {
  set(at: number): void;
}

export function testClock(at = START): TestClock {
  let now = at;
  return {
    now: () => now,
    set(to) {
      now = to;
    },
  };
}

/** A store that closes with the test. */
export async function opened(open: OpenStore, clock: Clock = testClock()): Promise<Store> {
  const store = await open(clock);
  onTestFinished(() => store.close());
  return store;
}

/** A store keeps any body; it is its callers who know what a kind has. */
type AnyDraft = Omit<RecordDraft, 'spec' | 'status'> & { readonly spec: unknown; readonly status: unknown };

export function draft(name: string, over: Partial<AnyDraft> = {}): RecordDraft {
  const record: AnyDraft = {
    kind: 'MeshPeer',
    name,
    uid: `p_${name.toLowerCase()}`,
    labels: { role: 'web' },
    annotations: {},
    spec: { hostname: name },
    status: { phase: 'ready' },
    unique: [],
    ...over,
  };
  return record as RecordDraft;
}

export function peer(name: string): { kind: 'MeshPeer'; name: string } {
  return { kind: 'MeshPeer', name };
}

/** A record as the store answers it when `record` was created at `revision`. */
export function stored(
  record: RecordDraft,
  revision: number,
  over: { readonly createdAt?: number; readonly generation?: number } = {},
): StoredRecord {
  return { ...record, workspace: WS, createdAt: START, generation: 1, revision, ...over };
}

/** The code and subject a call fails with, or its answer. */
export async function outcome<T>(call: Promise<T>): Promise<T | { code: string; subject: string }> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof StoreError) return { code: error.code, subject: error.subject };
    throw error;
  }
}
