import type { Caller } from '../caller.ts';
import type { Store } from '../ports.ts';
import type { Kind, StoredRecord } from '../record.ts';

/** Callers remembered at once; the longest remembered make room. */
const MAX_ENTRIES = 20_000;

const RELEVANT: ReadonlySet<Kind> = new Set<Kind>([
  'Account',
  'Session',
  'Token',
  'Member',
  'Workspace',
  'AgentIdentity',
  'MeshPeer',
]);

/** What a verification found, and the records it rests on. */
export interface Verified {
  readonly caller: Caller;
  /** `<kind>:<uid>`. A person rests on its memberships besides, which are known by its name. */
  readonly restsOn: readonly string[];
}

/** Callers by the hash of their token. A commit to a record that one rests on forgets it at once. */
export interface CredentialCache {
  get(key: string): Caller | undefined;
  /** Verifies and remembers, unless something that matters changed meanwhile. */
  load(key: string, verify: () => Promise<Verified>): Promise<Caller>;
  forget(key: string): void;
  close(): void;
}

export function buildCredentialCache(store: Pick<Store, 'onCommit'>): CredentialCache {
  const entries = new Map<string, Verified>();
  const dependents = new Map<string, Set<string>>();
  let generation = 0;

  function forget(key: string): void {
    const entry = entries.get(key);
    if (!entry) return;
    entries.delete(key);
    for (const record of supportOf(entry)) {
      const keys = dependents.get(record);
      keys?.delete(key);
      if (keys?.size === 0) dependents.delete(record);
    }
  }

  function remember(key: string, entry: Verified): void {
    forget(key);
    if (entries.size >= MAX_ENTRIES) {
      const [oldest] = entries.keys();
      if (oldest !== undefined) forget(oldest);
    }
    entries.set(key, entry);
    for (const record of supportOf(entry)) {
      const keys = dependents.get(record);
      if (keys) keys.add(key);
      else dependents.set(record, new Set([key]));
    }
  }

  const close = store.onCommit(({ changes }) => {
    for (const { record } of changes) {
      if (!RELEVANT.has(record.kind)) continue;
      generation += 1;
      for (const key of [...(dependents.get(keyOf(record)) ?? [])]) forget(key);
    }
  });

  return {
    get: (key) => entries.get(key)?.caller,
    async load(key, verify) {
      const started = generation;
      const entry = await verify();
      if (generation === started) remember(key, entry);
      return entry.caller;
    },
    forget,
    close,
  };
}

function supportOf({ caller, restsOn }: Verified): readonly string[] {
  return caller.kind === 'user' ? [...restsOn, keyOf({ kind: 'Member', name: caller.name, uid: '' })] : restsOn;
}

function keyOf({ kind, name, uid }: Pick<StoredRecord, 'kind' | 'name' | 'uid'>): string {
  return `${kind}:${kind === 'Member' ? name : uid}`;
}
