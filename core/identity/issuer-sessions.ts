import { MeshError } from '../base/errors.ts';
import { newId, SYSTEM_WORKSPACE } from '../base/ids.ts';
import { type CommitContext, StoreError } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import { hasEnded } from '../base/time.ts';
import type { IssuedIdentity, IssuerRules } from '../model/issuers.ts';
import type { NetworkServices, PeerServices } from '../state/services.ts';
import { type AccountRecord, accountById } from './accounts.ts';
import { admitIdentity } from './issuer-admission.ts';
import { openSecret, sealSecret } from './sealed-secret.ts';
import { type IssuedSession, isOfAccount, isOfIssuer, type SessionRecord } from './sessions.ts';

/** How often an issuer is asked whether a session goes on. */
const ASK_MS = 10 * 60_000;
/** Characters of a token that is kept. */
const MAX_TOKEN = 8_192;

type Keys = Pick<NetworkServices, 'keys'>;
type Services = PeerServices & Pick<NetworkServices, 'keys' | 'settings' | 'issuers' | 'log'>;

/** The actor of what the claims of an issuer decide. */
export function issuerActor({ name }: Pick<IssuerRules, 'name'>): string {
  return `system:issuer:${name}`;
}

/**
 * Returns what a session keeps of its issuer. Without a refresh token nobody can ask whether it goes on.
 *
 * @throws MeshError `unauthenticated` for a refresh token that is too long to be kept
 */
export function sealedSession(
  { keys, clock }: Keys & Pick<NetworkServices, 'clock'>,
  { uid }: Pick<AccountRecord, 'uid'>,
  begun: Pick<IssuedSession, 'issuer' | 'origin'>,
  { refreshToken, idToken }: Pick<IssuedIdentity, 'refreshToken' | 'idToken'>,
): IssuedSession {
  if (refreshToken !== undefined && refreshToken.length > MAX_TOKEN) {
    throw new MeshError('unauthenticated', 'The refresh token of the issuer is too long: ask an administrator.');
  }
  const sealed = (token: string) => sealSecret(keys, uid, Buffer.from(token));
  return {
    issuer: begun.issuer,
    origin: begun.origin,
    ...(refreshToken !== undefined && { refreshToken: sealed(refreshToken), askAt: clock.now() + ASK_MS }),
    ...(idToken !== undefined && idToken.length <= MAX_TOKEN && { idToken: sealed(idToken) }),
  };
}

/** Returns the address that signs the person of a session out of its issuer; undefined where there is none, or it does not answer. */
export async function issuerSignOut(
  { store, keys, settings, issuers }: Pick<NetworkServices, 'store' | 'keys' | 'settings' | 'issuers'>,
  session: SessionRecord,
): Promise<string | undefined> {
  const { account: uid, issued } = session.spec;
  const account = issued && (await accountById({ store }, uid));
  if (!account || !settings.issuers?.some((rules) => isOfIssuer(session, account, rules))) return undefined;
  const { issuer, origin, idToken } = issued;
  const opened = idToken === undefined ? undefined : openedText(keys, uid, idToken);
  return issuers.signOut(issuer, `${origin}/`, opened).catch(nothingWhereAway);
}

/**
 * Asks the issuers of sessions whether they go on. A session that its issuer refuses ends, and so does one of somebody who is not
 * let in any more; memberships follow the claims. An issuer that does not answer is asked again.
 *
 * @returns when the next one is due, ms
 */
export async function askIssuers(services: Services): Promise<number | undefined> {
  const { store, clock, settings } = services;
  const { issuers = [] } = settings;
  if (issuers.length === 0) return undefined;
  const { items } = await store.list(SYSTEM_WORKSPACE, 'Session');
  const now = clock.now();
  const askAt = ({ spec: { issued } }: SessionRecord) => issued?.askAt ?? 0;
  const asked = items.filter(({ spec }) => spec.issued?.askAt !== undefined && !hasEnded(spec, now) && !spec.idle);
  // The longest wait comes first: a session that fails each time keeps no other waiting.
  const due = asked.filter((session) => askAt(session) <= now).sort((one, other) => askAt(one) - askAt(other));
  for (const rules of issuers) {
    for (const session of due.filter(({ spec }) => spec.issued?.issuer === rules.name)) {
      // The others would wait for it as long.
      if (!(await hasAnswered(services, rules, session))) break;
    }
  }
  const later = asked.map(askAt).filter((at) => at > now);
  return asked.length === 0 ? undefined : Math.min(now + ASK_MS, ...later);
}

/**
 * Asks about one session. Whatever fails concerns this one alone, which is asked about again later.
 *
 * @returns false where the issuer does not answer
 * @throws StoreError where the store is away
 */
async function hasAnswered(services: Services, rules: IssuerRules, session: SessionRecord): Promise<boolean> {
  try {
    await askIssuer(services, rules, session);
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.isOutage) throw error;
    const { username } = session.spec;
    const warn = ({ message: reason }: Error) =>
      services.log.warn({ issuer: rules.name, username, reason }, 'an issuer does not say whether a session goes on');
    warn(error as Error);
    const askAt = services.clock.now() + ASK_MS;
    const why = contextOf(rules, `${rules.title} did not say whether the session of ${username} goes on`);
    await keepIssued(services, session.name, (issued) => ({ ...issued, askAt }), why).catch(warn);
    return !(error instanceof MeshError && error.code === 'unavailable');
  }
}

async function askIssuer(services: Services, rules: IssuerRules, session: SessionRecord): Promise<void> {
  const { keys, issuers } = services;
  const { issued } = session.spec;
  const account = await accountById(services, session.spec.account);
  const refreshToken = issued?.refreshToken && openedText(keys, session.spec.account, issued.refreshToken);
  const subject = account?.spec.issued?.subject;
  if (!issued || !account || !isOfAccount(session, account) || subject === undefined || !refreshToken) {
    return end(services, rules, session, 'unreadable');
  }
  if (!isOfIssuer(session, account, rules)) return end(services, rules, session, 'begun at another issuer');
  const identity = await issuers.refresh(rules.name, refreshToken, subject);
  if (!identity) return end(services, rules, session, 'refused by the issuer');
  const why = contextOf(rules, `${rules.title} confirmed the session of ${account.name}`);
  // An issuer need not give another refresh token, nor another ID token.
  const tokens = {
    refreshToken: identity.refreshToken ?? refreshToken,
    idToken: identity.idToken ?? (issued.idToken && openedText(keys, account.uid, issued.idToken)),
  };
  // The token before counts no more, so this one is kept whatever comes of its claims, and whatever else is written.
  const sealed = sealedSession(services, account, issued, tokens);
  await keepIssued(services, session.name, () => sealed, why);
  // An issuer need not tell claims again: then it confirms the session alone.
  if (Object.keys(identity.claims).length === 0) return;
  const admission = await admitIdentity(services, rules, identity, why);
  if (!('account' in admission)) return end(services, rules, session, admission.reason);
}

async function keepIssued(
  { store }: Services,
  name: string,
  change: (issued: IssuedSession) => IssuedSession,
  why: CommitContext,
): Promise<void> {
  await serialized(store, SYSTEM_WORKSPACE, async () => {
    const session = await store.get(SYSTEM_WORKSPACE, { kind: 'Session', name });
    if (!session?.spec.issued) return;
    const record = { ...draftOf(session), spec: { ...session.spec, issued: change(session.spec.issued) } };
    await store.commit(SYSTEM_WORKSPACE, [{ op: 'update', record, revision: session.revision }], why);
  });
}

async function end(services: Services, rules: IssuerRules, session: SessionRecord, reason: string): Promise<void> {
  const { username } = session.spec;
  const { issuer = '' } = session.spec.issued ?? {};
  const securityEvents = [
    { type: 'logout', actor: `user:${username}`, result: 'ok', detail: { issuer, reason } },
  ] as const;
  const why = { ...contextOf(rules, `${rules.title} ended the session of ${username}: ${reason}`), securityEvents };
  const key = { kind: 'Session', name: session.name } as const;
  await services.store.commit(SYSTEM_WORKSPACE, [{ op: 'delete', key }], why).catch(nothingWhereGone);
}

function contextOf(rules: IssuerRules, reason: string): CommitContext {
  return { actor: issuerActor(rules), reason, requestId: newId('r') };
}

function openedText(keys: Keys['keys'], account: string, sealed: string): string | undefined {
  const opened = openSecret(keys, account, sealed);
  return opened && Buffer.from(opened).toString();
}

/** The person signed out meanwhile. */
function nothingWhereGone(error: unknown): void {
  if (!(error instanceof StoreError) || error.code !== 'not_found') throw error;
}

function nothingWhereAway(error: unknown): undefined {
  if (!(error instanceof MeshError)) throw error;
}
