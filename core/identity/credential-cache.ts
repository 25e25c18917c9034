import type { Caller } from '../base/caller.ts';
import type { Store } from '../base/ports.ts';
import type { Kind, StoredRecord } from '../base/record.ts';
import { accountById } from './accounts.ts';

/** Callers remembered at once; the longest remembered make room. */
const MAX_ENTRIES = 20_000;

/** Kinds of records that a verification can rest on. */
export const CREDENTIAL_KINDS: ReadonlySet<Kind> = new Set<Kind>([
  'Account',
  'Session',
  'Token',
  'Member',
  'Workspace',
  'AgentIdentity',
  'MeshPeer',
]);

/** A write of these kinds has a verification forgotten. Streams under it end by the records of its person. */
const FORGETTING_KINDS: ReadonlySet<Kind> = new Set<Kind>([...CREDENTIAL_KINDS, 'DirectoryUser', 'DirectoryGroup']);

/** The caller that a verification proved, and the records it rests on. */
export interface Verification {
  readonly caller: Caller;
  /** `<kind>:<uid>`; `Member:<uid of an account>` for all memberships of that account. */
  readonly restsOn: readonly string[];
}

/** Callers by the hash of their token. A commit to a record that one rests on forgets it at once. */
export interface CredentialCache {
  get(key: string): Caller | undefined;
  /** Verifies and remembers, unless something that matters changed meanwhile. */
  load(key: string, verify: () => Promise<Verification>): Promise<Caller>;
  forget(key: string): void;
  close(): void;
}

export function buildCredentialCache(store: Store): CredentialCache {
  const entries = new Map<string, Verification>();
  const dependents = new Map<string, Set<string>>();
  let generation = 0;

  function forget(key: string): void {
    const entry = entries.get(key);
    if (!entry) return;
    entries.delete(key);
    for (const record of entry.restsOn) {
      const keys = dependents.get(record);
      keys?.delete(key);
      if (keys?.size === 0) dependents.delete(record);
    }
  }

  function remember(key: string, entry: Verification): void {
    forget(key);
    if (entries.size >= MAX_ENTRIES) {
      const [oldest] = entries.keys();
      if (oldest !== undefined) forget(oldest);
    }
    entries.set(key, entry);
    for (const record of entry.restsOn) {
      const keys = dependents.get(record);
      if (keys) keys.add(key);
      else dependents.set(record, new Set([key]));
    }
  }

  /** Memberships are known by the name of their account, which never changes. */
  async function byName(record: string): Promise<string> {
    if (!record.startsWith(membershipsOf(''))) return record;
    const account = await accountById({ store }, record.slice(membershipsOf('').length));
    return account ? membershipsOf(account.name) : record;
  }

  const close = store.onCommit(({ changes }) => {
    for (const { record } of changes) {
      if (!FORGETTING_KINDS.has(record.kind)) continue;
      generation += 1;
      for (const key of [...(dependents.get(keyOf(record)) ?? [])]) forget(key);
    }
  });

  return {
    get: (key) => entries.get(key)?.caller,
    async load(key, verify) {
      const started = generation;
      const { caller, restsOn } = await verify();
      const entry = { caller, restsOn: await Promise.all(restsOn.map(byName)) };
      if (generation === started) remember(key, entry);
      return caller;
    },
    forget,
    close,
  };
}

function keyOf({ kind, name, uid }: StoredRecord): string {
  return kind === 'Member' ? membershipsOf(name) : `${kind}:${uid}`;
}

function membershipsOf(username: string): string {
  return `Member:${username}`;
}
