import { newId, SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import { draftOf, type NoStatus, type StoredRecord } from '../base/record.ts';
import { hasEnded } from '../base/time.ts';
import type { IssuerRules } from '../model/issuers.ts';
import type { Settings } from '../model/services.ts';
import type { NetworkServices } from '../state/services.ts';
import { type AccountRecord, type AccountSpec, accountById } from './accounts.ts';
import { memberIn } from './members.ts';
import { restrictionOf } from './restriction.ts';

const SESSION_MS = 12 * 3_600_000;

/** A session is named by its `jti`, which is also its uid. */
interface SessionSpec {
  /** Uid of the account. */
  readonly account: string;
  readonly username: string;
  /** The account's epoch at login. */
  readonly epoch: number;
  /** The account's `factorEpoch` at login; absent for 0. */
  readonly factorEpoch?: number;
  /** Milliseconds. */
  readonly expiresAt: number;
  /** When it was last used, milliseconds; kept now and then, where sessions end by not being used. */
  readonly usedAt?: number;
  /** The address that signed in, and what it said of itself; absent where an earlier version wrote it. */
  readonly origin?: string;
  readonly client?: string;
  /** It was not used for too long and ended. */
  readonly idle?: true;
  /** How it began at an issuer; absent where a password began it. */
  readonly issued?: IssuedSession;
}

/** Tokens are sealed for the account. */
export interface IssuedSession {
  /** Its name in the configuration. */
  readonly issuer: string;
  /** Name of the session that the issuer is asked about, where that one allowed this one, which ends with it. */
  readonly session?: string;
  /** Origin of the dashboard that it began on. */
  readonly origin: string;
  readonly refreshToken?: string;
  readonly idToken?: string;
  /** When the issuer is asked next whether it goes on, ms; absent without a refresh token. */
  readonly askAt?: number;
}

declare module '../base/record.ts' {
  interface RecordTypes {
    Session: { spec: SessionSpec; status: NoStatus };
  }
}

export type SessionRecord = StoredRecord<'Session'>;

/**
 * Returns true if a session belongs to the account as it is now, and not as it was before its password or second factor
 * changed.
 */
export function isOfAccount({ spec }: SessionRecord, account: AccountRecord): boolean {
  const { epoch, factorEpoch = 0, disabled } = account.spec;
  return !disabled && spec.epoch === epoch && (spec.factorEpoch ?? 0) === factorEpoch;
}

/**
 * Returns true if an issuer of the configuration is the one that began a session of an account. Under its name there may be
 * another one since, which is to learn nothing.
 */
export function isOfIssuer(
  { spec }: SessionRecord,
  account: AccountRecord,
  { name, issuer }: Pick<IssuerRules, 'name' | 'issuer'>,
): boolean {
  return spec.issued?.issuer === name && account.spec.issued?.issuer === issuer;
}

/** Returns a session with its account; undefined where it was ended, or no longer counts by the configuration. */
export async function findSession(
  services: Pick<NetworkServices, 'store' | 'settings'>,
  name: string,
): Promise<{ readonly session: SessionRecord; readonly account: AccountRecord } | undefined> {
  const session = await sessionNamed(services, name);
  const account = session && (await accountById(services, session.spec.account));
  if (!account || !isOfAccount(session, account) || !mayGoOn(session, account, services.settings)) return undefined;
  const rootName = session.spec.issued?.session;
  if (rootName === undefined) return { session, account };
  const root = await sessionNamed(services, rootName);
  // Nobody asks an issuer about one that was not used for too long.
  return root && !root.spec.idle ? { session, account } : undefined;
}

async function sessionNamed(
  { store }: Pick<NetworkServices, 'store'>,
  name: string,
): Promise<SessionRecord | undefined> {
  return store.get(SYSTEM_WORKSPACE, { kind: 'Session', name });
}

/** The configuration names the issuers and local accounts that sign people in; it may have changed since a session began. */
function mayGoOn(session: SessionRecord, account: AccountRecord, { issuers = [], signIn }: Settings): boolean {
  const { issued, username } = session.spec;
  if (issued) return issuers.some((rules) => isOfIssuer(session, account, rules));
  return signIn.onlyLocalAccount === undefined || signIn.onlyLocalAccount === username;
}

/**
 * Begins a session: stores it and answers its signed token. The account is held to be as it was read, or written with what
 * the login changes of it.
 *
 * @param endsBy ms; it ends earlier where it would last longer
 * @throws StoreError `conflict` where it is another one meanwhile
 */
export async function createSession(
  services: Pick<NetworkServices, 'store' | 'clock' | 'keys' | 'settings'>,
  account: AccountRecord,
  context: CommitContext,
  from: Pick<SessionSpec, 'origin' | 'client' | 'issued'> = {},
  changed: Pick<AccountSpec, 'secondFactor' | 'knownSources'> = {},
  endsBy = Number.POSITIVE_INFINITY,
): Promise<{ readonly token: string; readonly expiresAt: number }> {
  const { store, clock, keys } = services;
  const jti = newId('ses');
  // JWT instants are whole seconds (RFC 7519, NumericDate).
  const iat = Math.floor(clock.now() / 1_000);
  const exp = Math.min(iat + SESSION_MS / 1_000, Math.floor(endsBy / 1_000));
  const expiresAt = exp * 1_000;
  const { epoch, factorEpoch } = account.spec;
  const spec: SessionSpec = {
    account: account.uid,
    username: account.name,
    epoch,
    ...(factorEpoch !== undefined && { factorEpoch }),
    expiresAt,
    ...from,
  };
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
  const { name, revision } = account;
  const changes = { ...changed, ...(await firstSignIn(services, account)) };
  const held: Op =
    Object.keys(changes).length === 0
      ? { op: 'check', key: { kind: 'Account', name }, revision }
      : { op: 'update', record: { ...draftOf(account), spec: { ...account.spec, ...changes } }, revision };
  await store.commit(SYSTEM_WORKSPACE, [held, { op: 'create', record }], context);
  return { token: await keys.signSession({ sub: account.uid, jti, iat, exp }), expiresAt };
}

/**
 * Returns when somebody signs in, where they have not since their account was made or became a member of a workspace. To sign in
 * only to choose a password, or to enrol a second factor, does not count: it comes with that.
 *
 * @param account as it is from then on
 */
export async function firstSignIn(
  services: Pick<NetworkServices, 'store' | 'clock' | 'settings'>,
  account: AccountRecord,
): Promise<Pick<AccountSpec, 'signedInAt'>> {
  const { store, clock } = services;
  const now = clock.now();
  if ((await restrictionOf(services, account, now)) !== undefined) return {};
  const { items } = await store.list(SYSTEM_WORKSPACE, 'Workspace');
  const members = await Promise.all(items.map(({ uid }) => memberIn({ store }, uid, account)));
  const since = Math.max(account.createdAt, ...members.map((member) => member?.createdAt ?? 0));
  const { signedInAt } = account.spec;
  // Instants of the store may run ahead of the clock.
  return signedInAt !== undefined && signedInAt >= since ? {} : { signedInAt: Math.max(now, since) };
}

/** The sessions of an account that are good now. @param id uid of the account */
export async function liveSessions(
  services: Pick<NetworkServices, 'store' | 'clock'>,
  id: string,
): Promise<readonly SessionRecord[]> {
  const account = await accountById(services, id);
  if (!account) return [];
  const now = services.clock.now();
  const { items } = await services.store.list(SYSTEM_WORKSPACE, 'Session');
  const live = items.filter(
    (session) =>
      session.spec.account === id &&
      !hasEnded(session.spec, now) &&
      !session.spec.idle &&
      isOfAccount(session, account),
  );
  const names = new Set(live.map(({ name }) => name));
  return live.filter(({ spec: { issued } }) => issued?.session === undefined || names.has(issued.session));
}

/** Ends one session. Ending it twice is no error. @returns the session as it was */
export async function endSession(
  { store }: Pick<NetworkServices, 'store'>,
  jti: string,
  context: CommitContext,
): Promise<SessionRecord | undefined> {
  const key = { kind: 'Session', name: jti } as const;
  const session = await store.get(SYSTEM_WORKSPACE, key);
  if (session) await store.commit(SYSTEM_WORKSPACE, [{ op: 'delete', key }], context);
  return session;
}
