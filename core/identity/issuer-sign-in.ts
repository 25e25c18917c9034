import { commitContext } from '../base/commit-context.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { isLoopback } from '../base/loopback.ts';
import type { CallContext } from '../base/operation.ts';
import { plainAddress } from '../base/origin.ts';
import type { SecurityEvent } from '../base/ports.ts';
import { type IssuerRules, SIGN_IN_PATH } from '../model/issuers.ts';
import type { NetworkServices, PeerServices } from '../state/services.ts';
import { admitIdentity } from './issuer-admission.ts';
import { pendingSignIn, signInSecrets } from './issuer-secrets.ts';
import { issuerActor, sealedSession } from './issuer-sessions.ts';
import { createSession } from './sessions.ts';

const PENDING_MS = 10 * 60_000;

type SignInCall = CallContext<
  PeerServices & Pick<NetworkServices, 'keys' | 'settings' | 'issuers' | 'usedOnce' | 'log'>
>;

/**
 * Begins a sign-in at an issuer.
 *
 * @param origin of the dashboard: one of `app.publicUrls`, or the loopback
 * @returns the address at the issuer
 * @throws MeshError `unavailable` where the issuer does not answer
 */
export async function beginSignIn(name: string, origin: string, context: SignInCall): Promise<string> {
  const { services } = context;
  requireIssuer(services, name);
  requireOwnOrigin(services, origin);
  const pending = { issuer: name, origin, expiresAt: services.clock.now() + PENDING_MS };
  const secrets = signInSecrets(services.keys, requireBrowser(context), pending);
  return services.issuers.begin(name, redirectUri(pending), secrets);
}

export interface ReturnedSignIn {
  /** Name of the issuer. */
  readonly name: string;
  /** Query of the address that the issuer led back to. */
  readonly query: string;
  /** Browser that signs in, by the name it gives itself. */
  readonly client?: string | undefined;
}

/**
 * Exchanges what an issuer sent back for a session, and makes the account of whoever signs in for the first time.
 *
 * @throws MeshError `unauthenticated` for another browser, a second use, or an answer that does not hold; `forbidden` for who is
 * not let in; `unavailable` where the issuer does not answer
 */
export async function finishSignIn(
  { name, query, client }: ReturnedSignIn,
  context: SignInCall,
): Promise<{ readonly token: string; readonly expiresAt: number; readonly username: string }> {
  const { services, requestId } = context;
  const rules = requireIssuer(services, name);
  const browserKey = requireBrowser(context);
  const [state = '', ...others] = new URLSearchParams(query).getAll('state');
  const pending = others.length === 0 ? pendingSignIn(services.keys, browserKey, state) : undefined;
  if (pending?.issuer !== name || pending.expiresAt <= services.clock.now()) throw notBegunHere();
  const secrets = signInSecrets(services.keys, browserKey, pending);
  const identity = await services.issuers.finish(name, redirectUri(pending), query, secrets);
  // Noted last, so that only whom an issuer vouches for takes room.
  const { expiresAt } = pending;
  if (!(await services.usedOnce.use({ purpose: 'issuer-sign-in', what: state, owner: identity.subject, expiresAt })))
    throw notBegunHere();
  const origin = plainAddress(context.origin);
  const detail = { issuer: name, subject: identity.subject };
  const why = { actor: issuerActor(rules), reason: `signed in by ${rules.title}`, requestId };
  const admission = await admitIdentity(services, rules, identity, why);
  if (!('account' in admission)) {
    const { reason, message, name: known } = admission;
    const actor = known === undefined ? issuerActor(rules) : `user:${known}`;
    const event: SecurityEvent = { type: 'login', actor, result: 'refused', origin, detail: { ...detail, reason } };
    await services.store.record(SYSTEM_WORKSPACE, [{ ...event, requestId }]);
    throw new MeshError('forbidden', message);
  }
  const { account } = admission;
  const actor = `user:${account.name}`;
  const event: SecurityEvent = { type: 'login', actor, result: 'ok', origin, detail };
  const issued = sealedSession(services, account, { issuer: name, origin: pending.origin }, identity);
  const from = { origin, ...(client !== undefined && { client }), issued };
  const commit = { ...commitContext(context, 'logged in', { securityEvents: [event] }), actor };
  return { ...(await createSession(services, account, commit, from)), username: account.name };
}

/** @throws MeshError `not_found` */
function requireIssuer({ settings: { issuers = [] } }: Pick<NetworkServices, 'settings'>, name: string): IssuerRules {
  const found = issuers.find((issuer) => issuer.name === name);
  if (!found) throw new MeshError('not_found', `No issuer ${name} signs people in here.`);
  return found;
}

/** @throws MeshError `unauthenticated` where no browser keeps a key */
function requireBrowser({ browserKey }: SignInCall): string {
  if (browserKey === undefined) throw notBegunHere();
  return browserKey;
}

/** Nobody is led to another place than this control plane. @throws MeshError `invalid_input` */
function requireOwnOrigin({ settings: { publicUrls = [] } }: SignInCall['services'], origin: string): void {
  const url = URL.parse(origin);
  if (url?.origin === origin && (isLoopback(url.hostname) || publicUrls.some((one) => new URL(one).origin === origin)))
    return;
  const detail =
    'Nobody can sign in by an issuer under this address: an administrator adds it to app.publicUrls in config.yaml.';
  throw invalidInput([{ pointer: '/origin', detail }], detail);
}

function redirectUri({ origin, issuer }: { readonly origin: string; readonly issuer: string }): string {
  return `${origin}${SIGN_IN_PATH}${issuer}`;
}

function notBegunHere(): MeshError {
  return new MeshError(
    'unauthenticated',
    'This sign-in did not begin in this browser, was used before, or took longer than ten minutes: sign in again.',
  );
}
