import { newId, SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CommitContext } from '../base/ports.ts';
import type { NoStatus, StoredRecord } from '../base/record.ts';
import type { NetworkServices } from '../state/services.ts';
import type { AccountRecord } from './accounts.ts';

const SESSION_MS = 12 * 3_600_000;

/** A session is named by its `jti`, which is also its uid. */
interface SessionSpec {
  /** Uid of the account. */
  readonly account: string;
  readonly username: string;
  /** The account's epoch at login. */
  readonly epoch: number;
  /** Milliseconds. */
  readonly expiresAt: number;
}

declare module '../base/record.ts' {
  interface RecordTypes {
    Session: { spec: SessionSpec; status: NoStatus };
  }
}

export type SessionRecord = StoredRecord<'Session'>;

/** Begins a session: stores it and answers its signed token. */
export async function createSession(
  { store, clock, keys }: Pick<NetworkServices, 'store' | 'clock' | 'keys'>,
  account: AccountRecord,
  context: CommitContext,
): Promise<{ readonly token: string; readonly expiresAt: number }> {
  const jti = newId('ses');
  // JWT instants are whole seconds (RFC 7519, NumericDate).
  const iat = Math.floor(clock.now() / 1_000);
  const exp = iat + SESSION_MS / 1_000;
  const expiresAt = exp * 1_000;
  const spec: SessionSpec = { account: account.uid, username: account.name, epoch: account.spec.epoch, expiresAt };
  const record = {
    kind: 'Session',
    name: jti,
    uid: jti,
    labels: {},
    annotations: {},
    spec,
    status: {},
    unique: [],
  } as const;
  const accountUnchanged = {
    op: 'check',
    key: { kind: 'Account', name: account.name },
    revision: account.revision,
  } as const;
  await store.commit(SYSTEM_WORKSPACE, [accountUnchanged, { op: 'create', record }], context);
  return { token: await keys.signSession({ sub: account.uid, jti, iat, exp }), expiresAt };
}

/** Ends one session. Ending it twice is no error. */
export async function endSession(
  { store }: Pick<NetworkServices, 'store'>,
  jti: string,
  context: CommitContext,
): Promise<void> {
  const key = { kind: 'Session', name: jti } as const;
  if (await store.get(SYSTEM_WORKSPACE, key)) await store.commit(SYSTEM_WORKSPACE, [{ op: 'delete', key }], context);
}
