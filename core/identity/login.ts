import { commitContext } from '../base/commit-context.ts';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { isLoopback } from '../base/loopback.ts';
import type { CallContext } from '../base/operation.ts';
import { isThroughProxy, plainAddress } from '../base/origin.ts';
import { type CommitContext, type SecurityEvent, StoreError } from '../base/ports.ts';
import type { PasskeyAssertion } from '../model/passkeys.ts';
import type { LoginAttempt } from '../model/services.ts';
import type { NetworkServices } from '../state/services.ts';
import { type AccountRecord, type AccountSpec, findAccount, normalizeUsername } from './accounts.ts';
import { checkFactor } from './check-factor.ts';
import { isAdministrator, lacksSecondFactor } from './factor-requirement.ts';
import { FIRST_LOGIN_TOKEN_FILE, isFirstLogin } from './first-accounts.ts';
import { lockEvents } from './lock-events.ts';
import { loginSource } from './login-limits.ts';
import { type PasskeyServices, passkeyOwner, readAssertion, type ShownPasskey, usePasskey } from './passkeys.ts';
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
  /** A signature by a passkey of the account, in place of a code. */
  readonly passkey?: PasskeyAssertion | undefined;
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

type LoginContext = CallContext<PasskeyServices & Pick<NetworkServices, 'logins'>>;

/**
 * Exchanges a password, and of who has a second factor a code or a passkey, for a session.
 *
 * @throws MeshError `unauthenticated`, in the same time and words for a wrong name and a wrong password; `otp_required` after
 * the right password alone; `rate_limited`. StoreError `full` where only administrators are let in (`core/base/reserve.ts`).
 */
export async function logIn(login: Login, context: LoginContext): Promise<LoggedIn> {
  const { services } = context;
  const { otp, passkey, client } = login;
  const account = await findAccount(services, login.username);
  const tried = { account, username: normalizeUsername(login.username), password: login.password };
  const { attempt, matches } = await tryPassword(tried, context);
  const hasCode = otp !== undefined || passkey !== undefined;
  const mayUseBuiltIn = matches && (await isAtHome(account, login.password, context));
  const mayUsePassword = matches && (await isLetIn(account, context));
  // Not counted for a password that lets nobody in: the limit would tell that it is right.
  const isTried = mayUsePassword && account?.spec.secondFactor && !account.spec.disabled && hasCode;
  if (isTried) await attempt.triesCode();
  const shown =
    mayUsePassword && passkey ? await judging(attempt, () => readAssertion(services, account, passkey)) : undefined;
  const given = { otp, shown, hasCode };
  const judgeNow = (now: AccountRecord | undefined) =>
    judge(given, mayUsePassword ? now : undefined, mayUseBuiltIn, context);
  const { account: entered, ...done } = await enterIf(judgeNow, { account, attempt, client }, context);
  const isOld = isPasswordOld(entered, services.clock.now(), services.settings.signIn);
  return {
    ...done,
    passwordChangeRequired: entered.spec.passwordState !== 'own' || isOld,
    ...((await lacksSecondFactor(services, entered)) && { secondFactorRequired: true }),
  };
}

/**
 * Exchanges a signature by a passkey alone for a session: whose it is, the passkey tells.
 *
 * @throws MeshError `unauthenticated`, in the same words whatever is wrong; `forbidden` for an account that has to change its
 * password first; as {@link logIn}
 */
export async function logInWithPasskey(
  { passkey, client }: { readonly passkey: PasskeyAssertion; readonly client?: string | undefined },
  context: LoginContext,
): Promise<{ readonly token: string; readonly expiresAt: number; readonly username: string }> {
  const { services, origin } = context;
  const account = await passkeyOwner(services, passkey.id);
  const { name = passkey.id } = account ?? {};
  const attempt = await services.logins.attempt(origin, name, account && (account.spec.knownSources ?? []));
  const shown = await judging(attempt, () => readAssertion(services, account, passkey));
  const mayUsePasskey = shown !== undefined && (await isLetIn(account, context));
  const judgeNow = (now: AccountRecord | undefined) => judgePasskey(mayUsePasskey ? shown : undefined, now, context);
  const { account: entered, ...done } = await enterIf(judgeNow, { account, attempt, client }, context);
  return { ...done, username: entered.name };
}

interface Entrant {
  readonly account: AccountRecord | undefined;
  readonly attempt: LoginAttempt;
  readonly client: string | undefined;
}

/** Begins a session where the judgement allows it, and records either. @throws the refusal */
async function enterIf(
  judgeNow: (account: AccountRecord | undefined) => Judgement,
  { account: found, attempt, client }: Entrant,
  context: LoginContext,
): Promise<{ readonly account: AccountRecord; readonly token: string; readonly expiresAt: number }> {
  const { services, origin, requestId } = context;
  let account = found;
  for (let left = TRIES; ; left -= 1) {
    const { refusal, isIncomplete = false, changes, detail } = judgeNow(account);
    const event: SecurityEvent = {
      type: 'login',
      actor: account ? `user:${account.name}` : 'anonymous',
      result: refusal ? 'refused' : 'ok',
      origin: plainAddress(origin),
      ...((refusal || detail) && { detail: { ...(refusal && { reason: refusal.message }), ...detail } }),
    };
    if (refusal || !account) {
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
    const from = { origin: plainAddress(origin), ...(client && { client }) };
    const entry = { account, changes, commit, from, mayRetry: left > 1 };
    const done = await judging(attempt, () => enter(entry, services));
    if ('changed' in done) {
      account = done.changed;
      continue;
    }
    await attempt.succeeded();
    return { ...done, account };
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
  /** True for a refusal that only asks for more. */
  readonly isIncomplete?: boolean;
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
  { otp, shown, hasCode }: { otp: string | undefined; shown: ShownPasskey | undefined; hasCode: boolean },
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
  if (!hasCode) {
    const message =
      'This account has a second factor: send a code of the authenticator app, or a recovery code, as otp, or use a passkey.';
    const refusal = new MeshError('otp_required', message);
    return { refusal, isIncomplete: true, changes, detail: { reason: 'no code' } };
  }
  if (otp === undefined) {
    const factor = shown && usePasskey(secondFactor, shown);
    if (factor) return { changes: { ...changes, secondFactor: factor }, detail: { secondFactor: 'passkey' } };
    const message = 'This is no passkey of this account, or it took longer than five minutes: try again.';
    return { refusal: new MeshError('otp_required', message), changes, detail: { reason: 'wrong passkey' } };
  }
  const used = checkFactor(services, account.uid, secondFactor, otp);
  if (used) return { changes: { ...changes, secondFactor: used.factor }, detail: { secondFactor: used.by } };
  const message = 'The code is wrong or was used before: send the next one that the authenticator app shows.';
  return { refusal: new MeshError('otp_required', message), changes, detail: { reason: 'wrong code' } };
}

/** Decides a login by a passkey alone. @param shown undefined where it signs nobody in */
function judgePasskey(
  shown: ShownPasskey | undefined,
  account: AccountRecord | undefined,
  { services, origin }: LoginContext,
): Judgement {
  const { secondFactor, disabled, passwordState } = account?.spec ?? {};
  const factor = shown && secondFactor && !disabled ? usePasskey(secondFactor, shown) : undefined;
  if (!account || !factor) {
    const message =
      'This passkey signs nobody in here: it was removed, or the sign-in took longer than five minutes. Try again, or sign in with your password.';
    return { refusal: new MeshError('unauthenticated', message), changes: {}, detail: { reason: 'wrong passkey' } };
  }
  if (passwordState !== 'own' || isPasswordOld(account, services.clock.now(), services.settings.signIn)) {
    const message =
      'The password of this account has to be changed first: sign in with it, and with the passkey besides.';
    return { refusal: new MeshError('forbidden', message), changes: {}, detail: { reason: 'password to be changed' } };
  }
  return { changes: { ...knownSourcesWith(account, origin), secondFactor: factor }, detail: { by: 'passkey' } };
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
