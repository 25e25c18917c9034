import { createHash, randomBytes, randomInt } from 'node:crypto';
import { commitContext } from '../base/commit-context.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import { isLoopback } from '../base/loopback.ts';
import type { CallContext } from '../base/operation.ts';
import { plainAddress } from '../base/origin.ts';
import type { SecurityEvent } from '../base/ports.ts';
import { requireSession } from '../base/require-session.ts';
import { TEXT_LIMITS } from '../base/text.ts';
import { hasEnded } from '../base/time.ts';
import { deviceRequestId } from '../model/waiting-requests.ts';
import type { NetworkServices } from '../state/services.ts';
import type { LoggedIn } from './login.ts';
import { goOn } from './oauth-consent.ts';
import { restrictionOf } from './restriction.ts';
import { createSession, findSession } from './sessions.ts';

const WAIT_MS = 10 * 60_000;
/** Without vowels, so that no code is a word (RFC 8628, 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const CODE_LENGTH = 8;
/** Page of the dashboard on which a person decides. */
const PAGE = '/#/~/allow';

type SignInCall = CallContext<Pick<NetworkServices, 'store' | 'clock' | 'keys' | 'settings' | 'signInRequests'>>;

export interface CommandLine {
  /** Name of its machine, by its own word. */
  readonly host: string;
  /** SHA-256 of the verifier that it shows in the end, base64url. */
  readonly challenge: string;
  /** Origin of the control plane, as the command line was given it. */
  readonly server: string;
  /** Where it listens on the loopback, and a text by which it knows its own request; absent where the person types a code. */
  readonly listener?: { readonly port: number; readonly state: string } | undefined;
}

/** A sign-in that waits for a person. */
export interface BegunSignIn {
  readonly id: string;
  /** Address of the page on which a person decides. */
  readonly page: string;
  /** Code that the person types there. */
  readonly userCode?: string;
  /** Milliseconds. */
  readonly expiresAt: number;
}

/**
 * Begins a sign-in of a command line, which a person allows on the dashboard.
 *
 * @throws MeshError `invalid_input` where no browser reaches the dashboard; `rate_limited` where too many wait
 */
export async function beginCommandLine(
  { host, challenge, server, listener }: CommandLine,
  { services, origin }: SignInCall,
): Promise<BegunSignIn> {
  const { signInRequests, clock, settings } = services;
  const dashboard = dashboardAt(settings, server);
  const letters = Array.from({ length: CODE_LENGTH }, () => LETTERS.charAt(randomInt(LETTERS.length))).join('');
  const id = listener ? randomBytes(16).toString('base64url') : deviceRequestId(letters);
  const expiresAt = clock.now() + WAIT_MS;
  const returnTo = listener && `http://127.0.0.1:${listener.port}/?state=${listener.state}`;
  await signInRequests.save(id, { host, challenge, origin: plainAddress(origin), returnTo }, expiresAt, origin);
  if (listener) return { id, page: `${dashboard}${PAGE}/${id}`, expiresAt };
  return { id, page: `${dashboard}${PAGE}`, userCode: `${letters.slice(0, 4)}-${letters.slice(4)}`, expiresAt };
}

/** Lets a command line sign in as the caller. @returns where the browser goes on. @throws MeshError `not_found`, `conflict` */
export async function allowCommandLine(
  { services, caller }: SignInCall,
  id: string,
): Promise<{ readonly url?: string }> {
  const { tokenId: session } = requireSession(caller);
  return goOn((key) => services.signInRequests.decide(id, { session, key }));
}

/** Proof of the command line that it began a sign-in. */
export interface SignInProof {
  readonly id: string;
  readonly verifier: string;
  /** Key that a browser handed over. */
  readonly key?: string | undefined;
}

/**
 * Exchanges what a person allowed for a session of theirs, which ends when the session that allowed it would. Undefined until the
 * person decided.
 *
 * @throws MeshError `expired` for an unknown request, a second use, and another verifier or key; `forbidden` where the person
 * refused; `unauthenticated` where the session that allowed it has ended
 */
export async function finishCommandLine(
  { id, verifier, key }: SignInProof,
  context: SignInCall,
): Promise<(LoggedIn & { readonly username: string }) | undefined> {
  const { services } = context;
  const { signInRequests, clock } = services;
  const request = await signInRequests.find(id);
  if (request?.challenge !== createHash('sha256').update(verifier).digest('base64url')) throw endedSignIn();
  const { decision } = request;
  if (!decision) return undefined;
  if (request.returnTo !== undefined && decision.key !== key) throw endedSignIn();
  // Two exchanges at once get one session.
  if (!(await signInRequests.remove(id))) throw endedSignIn();
  if (decision.session === undefined) throw new MeshError('forbidden', 'The person denied this sign-in.');
  const found = await findSession(services, decision.session);
  if (!found || found.session.spec.idle || hasEnded(found.session.spec, clock.now())) {
    throw new MeshError('unauthenticated', 'The session that allowed this sign-in has ended: sign in again.');
  }
  const { session, account } = found;
  const { issued, expiresAt } = session.spec;
  const origin = plainAddress(context.origin);
  const from = {
    origin,
    client: `mesh command line on ${request.host}`.slice(0, TEXT_LIMITS.name),
    // Tokens of the issuer stay with the session that it is asked about.
    ...(issued && {
      issued: { issuer: issued.issuer, origin: issued.origin, session: issued.session ?? session.name },
    }),
  };
  const actor = `user:${account.name}`;
  const detail = { allowedBy: session.name };
  const event: SecurityEvent = { type: 'login', actor, result: 'ok', origin, detail };
  const commit = { ...commitContext(context, 'logged in', { securityEvents: [event] }), actor };
  const made = await createSession(services, account, commit, from, {}, expiresAt);
  const restriction = await restrictionOf(services, account, clock.now());
  const lacksFactor = restriction === 'no second factor';
  return {
    ...made,
    username: account.name,
    passwordChangeRequired: restriction !== undefined && !lacksFactor,
    ...(lacksFactor && { secondFactorRequired: true }),
  };
}

/** @throws MeshError `invalid_input` where the dashboard has no address that a browser is sent to */
function dashboardAt({ publicUrls = [] }: SignInCall['services']['settings'], server: string): string {
  const origins = publicUrls.map((url) => new URL(url).origin);
  const known = origins.find((one) => one === server) ?? origins[0];
  if (known !== undefined) return known;
  const url = URL.parse(server);
  if (url?.origin === server && isLoopback(url.hostname)) return server;
  const detail =
    'This control plane has no public address, so no browser is sent to it: an administrator sets app.publicUrls in config.yaml.';
  throw invalidInput([{ pointer: '/server', detail }], detail);
}

function endedSignIn(): MeshError {
  return new MeshError(
    'expired',
    'This sign-in took longer than ten minutes, was used already, or began elsewhere: give mesh login again.',
  );
}
