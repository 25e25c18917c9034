import { commitContext } from '../base/commit-context.ts';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { isLoopback } from '../base/loopback.ts';
import type { CallContext } from '../base/operation.ts';
import { isThroughProxy, plainAddress } from '../base/origin.ts';
import { type CommitContext, type SecurityEvent, StoreError } from '../base/ports.ts';
import type { NetworkServices } from '../state/services.ts';
import { type AccountRecord, type AccountSpec, findAccount, normalizeUsername } from './accounts.ts';
import { checkFactor } from './check-factor.ts';
import { isAdministrator, lacksSecondFactor } from './factor-requirement.ts';
import { FIRST_LOGIN_TOKEN_FILE, isFirstLogin } from './first-accounts.ts';
import { lockEvents } from './lock-events.ts';
import { loginSource } from './login-limits.ts';
import { isPasswordOld } from './password-rules.ts';
import { createSession } from './sessions.ts';
import { judging, tryPassword } from './try-password.ts';

/** Networks that an account is remembered to sign in from. */
const MAX_KNOWN_SOURCES = 8;
/** Logins of one account at once that may come in between, before this one gives up. */
const TRIES = 8;

export interface Login {
  readonly username: string;
  readonly password: string;
  /** A one-time or recovery code; looked at where the account has a second factor. */
  readonly otp?: string | undefined;
  /** Browser or program that signs in, by the name it gives itself. */
  readonly client?: string | undefined;
}

export interface LoggedIn {
  readonly token: string;
  readonly expiresAt: number;
  readonly passwordChangeRequired: boolean;
  /** Only where it has to be enrolled before anything else. */
  readonly secondFactorRequired?: true;
}

type LoginContext = CallContext<Pick<NetworkServices, 'store' | 'clock' | 'keys' | 'logins' | 'settings'>>;

/**
 * Exchanges a password, and of who has a second factor a code, for a session.
 *
 * @throws MeshError `unauthenticated`, in the same time and words for a wrong name and a wrong password; `otp_required` after
 * the right password alone; `rate_limited`. StoreError `full` where only administrators are let in (`core/base/reserve.ts`).
 */
export async function logIn(login: Login, context: LoginContext): Promise<LoggedIn> {
  const { services, origin, requestId } = context;
  const found = await findAccount(services, login.username);
  const tried = { account: found, username: normalizeUsername(login.username), password: login.password };
  const { attempt, matches } = await tryPassword(tried, context);
  let account = found;
  if (matches && account?.spec.secondFactor && !account.spec.disabled && login.otp !== undefined) {
    await attempt.triesCode();
  }
  const mayUseBuiltIn = matches && (await isAtHome(found, login.password, context));
  const mayUsePassword = matches && (await isLetIn(found, context));
  for (let left = TRIES; ; left -= 1) {
    const { refusal, changes, detail } = judge(login, mayUsePassword ? account : undefined, mayUseBuiltIn, context);
    const event: SecurityEvent = {
      type: 'login',
      actor: account ? `user:${account.name}` : 'anonymous',
      result: refusal ? 'refused' : 'ok',
      origin: plainAddress(origin),
      ...((refusal || detail) && { detail: { ...(refusal && { reason: refusal.message }), ...detail } }),
    };
    if (refusal || !account) {
      const isIncomplete = refusal?.code === 'otp_required' && login.otp === undefined;
      if (isIncomplete) await attempt.incomplete();
      const locked = account && !isIncomplete ? lockEvents(attempt, account.name, origin) : [];
      const events = [event, ...locked].map((each) => ({ ...each, requestId }));
      try {
        await services.store.record(SYSTEM_WORKSPACE, events);
      } catch (error) {
        if (!(isFull(error) && refusal)) throw error;
        throw new MeshError(refusal.code, refusal.message, refusal.details, { cause: error });
      }
      throw refusal;
    }
    const commit = { ...commitContext(context, 'logged in', { securityEvents: [event] }), actor: event.actor };
    const from = { origin: plainAddress(origin), ...(login.client && { client: login.client }) };
    const entry = { account, changes, commit, from, mayRetry: left > 1 };
    const done = await judging(attempt, () => enter(entry, services));
    if ('changed' in done) {
      account = done.changed;
      continue;
    }
    await attempt.succeeded();
    const isOld = isPasswordOld(account, services.clock.now(), services.settings.signIn);
    return {
      ...done,
      passwordChangeRequired: account.spec.passwordState !== 'own' || isOld,
      ...((await lacksSecondFactor(services, account)) && { secondFactorRequired: true }),
    };
  }
}

/** Tells whether an account with the built-in password is signed in to by who runs the control plane, or with its token. */
async function isAtHome(
  account: AccountRecord | undefined,
  password: string,
  { services, origin, isFromHost }: LoginContext,
): Promise<boolean> {
  if (account?.spec.passwordState !== 'built-in') return false;
  return isFirstLogin(account, password, services.keys) || (isLoopback(origin) && (await isFromHost?.()) === true);
}

/** Where issuers sign people in, a password may be of use to one account alone, and on the host alone. */
async function isLetIn(
  account: AccountRecord | undefined,
  { services: { settings }, origin, isFromHost }: LoginContext,
): Promise<boolean> {
  const { onlyLocalAccount } = settings.signIn;
  if (onlyLocalAccount === undefined) return true;
  return account?.name === onlyLocalAccount && isLoopback(origin) && (await isFromHost?.()) === true;
}

interface Entry {
  readonly account: AccountRecord;
  readonly changes: Judgement['changes'];
  readonly commit: CommitContext;
  readonly from: NonNullable<Parameters<typeof createSession>[3]>;
  readonly mayRetry: boolean;
}

/** @returns the session, or the account as it is now where somebody signed in to it at the same time, perhaps with this very code */
async function enter(
  { account, changes, commit, from, mayRetry }: Entry,
  services: LoginContext['services'],
): Promise<Awaited<ReturnType<typeof createSession>> | { readonly changed: AccountRecord }> {
  try {
    return await createSession(services, account, commit, from, changes);
  } catch (error) {
    if (isFull(error) && !commit.fromReserve && (await isAdministrator(services, account))) {
      return enter({ account, changes, commit: { ...commit, fromReserve: true }, from, mayRetry }, services);
    }
    if (!(error instanceof StoreError && error.code === 'conflict') || !mayRetry) throw error;
    const changed = await findAccount(services, account.name);
    if (changed?.spec.passwordHash !== account.spec.passwordHash || changed.uid !== account.uid) throw error;
    return { changed };
  }
}

function isFull(error: unknown): error is StoreError {
  return error instanceof StoreError && error.code === 'full';
}

interface Judgement {
  readonly refusal?: MeshError;
  /** Changes of the account by the login. */
  readonly changes: Pick<AccountSpec, 'secondFactor' | 'knownSources'>;
  readonly detail?: SecurityEvent['detail'];
}

/**
 * Decides a login.
 *
 * @param account the account that has the password; undefined where there is none
 */
function judge(
  { otp }: Login,
  account: AccountRecord | undefined,
  mayUseBuiltIn: boolean,
  { services, origin }: LoginContext,
): Judgement {
  if (!account || account.spec.disabled) {
    const isOff = services.settings.signIn.onlyLocalAccount !== undefined;
    const hint = isOff ? ' Here people sign in by an issuer; a password lets in one account, on the host.' : '';
    return { refusal: new MeshError('unauthenticated', `The user name or the password is wrong.${hint}`), changes: {} };
  }
  if (account.spec.passwordState === 'built-in' && !mayUseBuiltIn) {
    const message =
      'The built-in password works only for root and for the user who runs meshd, directly on its machine; ' +
      `${sourceText(origin)}. Anyone else signs in with the token in ${FIRST_LOGIN_TOKEN_FILE} of its configuration ` +
      'directory as the password, or sets app.initAdmins.';
    return { refusal: new MeshError('forbidden', message), changes: {} };
  }
  const changes = knownSourcesWith(account, origin);
  const { secondFactor } = account.spec;
  if (!secondFactor) return { changes };
  if (otp === undefined) {
    const message =
      'This account has a second factor: send a code of the authenticator app, or a recovery code, as otp.';
    return { refusal: new MeshError('otp_required', message), changes, detail: { reason: 'no code' } };
  }
  const used = checkFactor(services, account.uid, secondFactor, otp);
  if (used) return { changes: { ...changes, secondFactor: used.factor }, detail: { secondFactor: used.by } };
  const message = 'The code is wrong or was used before: send the next one that the authenticator app shows.';
  return { refusal: new MeshError('otp_required', message), changes, detail: { reason: 'wrong code' } };
}

/** Returns where a request came from that is not from the host of the control plane, or not known to be. */
function sourceText(origin: string): string {
  if (isLoopback(origin)) return 'this request came from another user or container, or nobody can tell from whom';
  if (isThroughProxy(origin)) return 'this request came through a proxy, or under another name than localhost';
  return `this request came from ${origin}`;
}

/** With the network of a login, where it is new. This machine is always known. */
function knownSourcesWith(
  { spec: { knownSources = [] } }: AccountRecord,
  origin: string,
): Pick<AccountSpec, 'knownSources'> {
  const source = loginSource(origin);
  if (isLoopback(source) || knownSources.includes(source)) return {};
  return { knownSources: [source, ...knownSources].slice(0, MAX_KNOWN_SOURCES) };
}
