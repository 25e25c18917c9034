import type { Caller } from '../base/caller.ts';
import { commitContext } from '../base/commit-context.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import { plainAddress } from '../base/origin.ts';
import type { Op, SecurityEvent } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { requireSession } from '../base/require-session.ts';
import { hasEnded } from '../base/time.ts';
import type { Passkey, PasskeyAssertion } from '../model/passkeys.ts';
import type { LoginAttempt } from '../model/services.ts';
import type { NetworkServices } from '../state/services.ts';
import { type AccountRecord, type AccountSpec, accountById, type SecondFactor } from './accounts.ts';
import { checkFactor } from './check-factor.ts';
import { confirmPassword } from './confirm-password.ts';
import { lacksSecondFactor } from './factor-requirement.ts';
import { lockEvents } from './lock-events.ts';
import { base32, matchingStep, newOtpSecret, otpUri } from './otp.ts';
import { type PasskeyServices, readAssertion, uniqueWithPasskeys, usePasskey } from './passkeys.ts';
import { newRecoveryCodes } from './recovery-codes.ts';
import { openSecret, sealSecret } from './sealed-secret.ts';
import { firstSignIn } from './sessions.ts';
import { judging } from './try-password.ts';
import { requireAccount } from './users.ts';

/** A person scans a code and types another in it. */
const ENROLMENT_MS = 10 * 60_000;

export type FactorContext = CallContext<PasskeyServices & Pick<NetworkServices, 'logins'>>;

export interface OtpState {
  /** True with an authenticator app. */
  readonly enrolled: boolean;
  /** Milliseconds. */
  readonly since?: number;
  readonly recoveryCodesLeft: number;
  /** True while nothing else can be done before one is enrolled. */
  readonly required: boolean;
  readonly passkeys: readonly Passkey[];
}

/** The second factor of the caller's account, without its secret. */
export async function otpState(context: FactorContext): Promise<OtpState> {
  const account = await ownAccount(context);
  const { secondFactor } = account.spec;
  const required = await lacksSecondFactor(context.services, account);
  if (!secondFactor) return { enrolled: false, recoveryCodesLeft: 0, required, passkeys: [] };
  const { secret, since, recovery, passkeys = [] } = secondFactor;
  return { enrolled: secret !== '', since, recoveryCodesLeft: recovery.length, required, passkeys };
}

/**
 * Begins to enrol an authenticator app: nothing changes before it is confirmed from the same session. Proof is asked for
 * again, so that who got hold of a session cannot take the account over with it.
 */
export async function beginOtp(
  proof: Proof,
  context: FactorContext,
): Promise<{ readonly secret: string; readonly uri: string; readonly expiresAt: number }> {
  const { clock, keys, settings } = context.services;
  const account = await ownAccount(context);
  if (account.spec.secondFactor?.secret) {
    throw new MeshError(
      'conflict',
      'This account has an authenticator app already: disable it first (mesh otp disable).',
    );
  }
  const secondFactor = await prove(account, proof, context);
  const secret = newOtpSecret();
  const expiresAt = clock.now() + ENROLMENT_MS;
  const { tokenId: session } = requireSession(context.caller);
  const enrolment = { secret: sealSecret(keys, account.uid, secret), session, expiresAt };
  const spec = { ...account.spec, enrolment, ...(secondFactor && { secondFactor }) };
  await write(account, spec, 'otp_begin', 'began to enrol a second factor', context);
  return { secret: base32(secret), uri: otpUri(secret, account.name, new URL(settings.apiUrl).host), expiresAt };
}

/**
 * Takes what was begun into use. Every other session of the account ends.
 *
 * @returns the recovery codes, once; none where the account has some already
 */
export async function confirmOtp(
  { code }: { readonly code: string },
  context: FactorContext,
): Promise<readonly string[]> {
  const { clock, keys, logins } = context.services;
  const account = await ownAccount(context);
  const { tokenId } = requireSession(context.caller);
  const { enrolment, secondFactor } = account.spec;
  if (secondFactor?.secret) throw new MeshError('conflict', 'This account has an authenticator app already.');
  if (!enrolment || enrolment.session !== tokenId || hasEnded(enrolment, clock.now())) {
    throw new MeshError('conflict', 'Nothing waits to be confirmed in this session: begin again (mesh otp enroll).');
  }
  const attempt = await logins.attempt(context.origin, account.name, account.spec.knownSources ?? []);
  const secret = openSecret(keys, account.uid, enrolment.secret);
  const now = clock.now();
  const step = secret && matchingStep(secret, code.replaceAll(/\s/g, ''), now, 0);
  if (step === undefined) {
    throw wrong('/code', 'This is not the code that the app shows now: look again, and whether its clock is right.');
  }
  await attempt.succeeded();
  const added = { secret: enrolment.secret, lastStep: step };
  const before = { ...account, spec: without(account.spec, 'enrolment') };
  return addFactor(before, added, { type: 'otp_enrolled', reason: 'enrolled a second factor' }, context);
}

/**
 * Gives an account another factor. Every other session of it ends.
 *
 * @returns the recovery codes, once, with its first factor
 */
export async function addFactor(
  account: AccountRecord,
  added: Partial<SecondFactor>,
  {
    type,
    reason,
    detail,
  }: { readonly type: string; readonly reason: string; readonly detail?: SecurityEvent['detail'] },
  context: FactorContext,
): Promise<readonly string[]> {
  const { secondFactor } = account.spec;
  const { codes, hashes } = secondFactor ? { codes: [], hashes: secondFactor.recovery } : newRecoveryCodes();
  const since = context.services.clock.now();
  const factor = { secret: '', since, lastStep: 0, ...secondFactor, recovery: hashes, ...added };
  const enrolled = { ...account.spec, secondFactor: factor };
  const signedIn = await firstSignIn(context.services, { ...account, spec: enrolled });
  const spec = endingSessions({ ...enrolled, ...signedIn });
  await write(account, spec, type, reason, context, { keepsSession: true, ...(detail && { detail }) });
  return codes;
}

/**
 * Everything that signs the person in. A session alone changes no factor, and a password does so only where there is no factor.
 * A passkey is enough by itself, as it is for signing in.
 */
export interface Proof {
  readonly password?: string | undefined;
  readonly otp?: string | undefined;
  readonly passkey?: PasskeyAssertion | undefined;
}

/** Takes the authenticator app of the caller away; every other session of the account ends. */
export async function disableOtp(proof: Proof, context: FactorContext): Promise<void> {
  const account = await ownAccount(context);
  if (!account.spec.secondFactor?.secret) throw new MeshError('conflict', NO_APP);
  const factor = await proveFactor(account, proof, context);
  const spec = withFactor(account.spec, { ...factor, secret: '', lastStep: 0 });
  await write(account, spec, 'otp_disabled', 'disabled the second factor', context, { keepsSession: true });
}

/** Returns an account whose factor changed, without it where neither app nor passkey is left. Other sessions end. */
export function withFactor(spec: AccountSpec, factor: SecondFactor): AccountSpec {
  const { passkeys = [], ...others } = factor;
  if (factor.secret === '' && passkeys.length === 0) return endingSessions(without(spec, 'secondFactor'));
  const secondFactor = passkeys.length === 0 ? others : factor;
  return endingSessions({ ...spec, secondFactor });
}

const NO_APP = 'This account has no authenticator app: mesh otp enroll.';

/** Fresh recovery codes in the place of all there were. @returns them, once */
export async function renewRecoveryCodes(proof: Proof, context: FactorContext): Promise<readonly string[]> {
  const account = await ownAccount(context);
  const factor = await proveFactor(account, proof, context);
  const { codes, hashes } = newRecoveryCodes();
  const spec = { ...account.spec, secondFactor: { ...factor, recovery: hashes } };
  await write(account, spec, 'recovery_codes_renewed', 'renewed the recovery codes', context);
  return codes;
}

export async function hasSecondFactor(
  services: Pick<NetworkServices, 'store'>,
  { id }: Pick<Caller, 'id'>,
): Promise<boolean> {
  return (await accountById(services, id))?.spec.secondFactor !== undefined;
}

/**
 * Asks a signed-in person for their second factor before something that a session alone does not allow. A code or a signature
 * is spent by it.
 *
 * @throws MeshError `invalid_input` without one or with a wrong one, `rate_limited`
 */
export async function spendFactor(
  { otp, passkey }: Pick<Proof, 'otp' | 'passkey'>,
  context: FactorContext,
): Promise<void> {
  const account = await ownAccount(context);
  const { secondFactor } = account.spec;
  if (!secondFactor) throw new MeshError('conflict', NO_FACTOR);
  if (otp === undefined && !passkey) throw factorMissing();
  const attempt = await ownAttempt(account, context);
  const factor = await judgeFactor(account, secondFactor, { otp, passkey }, { attempt, context });
  await write(account, { ...account.spec, secondFactor: factor }, 'otp_shown', 'showed a second factor', context);
}

/**
 * Takes the second factor of somebody else away, who lost it and the recovery codes. Their sessions end. Not one's own: a
 * session that somebody got hold of would be enough for that.
 */
export async function resetOtp(username: string, context: FactorContext): Promise<void> {
  const caller = requireSession(context.caller);
  const account = await requireAccount(username, context);
  if (account.uid === caller.id) {
    throw new MeshError(
      'forbidden',
      'Your own second factor takes a code, a recovery code or a passkey: mesh otp disable.',
    );
  }
  if (!account.spec.secondFactor) throw new MeshError('conflict', `${account.name} has no second factor.`);
  const spec = endingSessions(without(without(account.spec, 'secondFactor'), 'enrolment'));
  const reason = `reset the second factor of ${account.name}`;
  await write(account, spec, 'otp_reset', reason, context, { detail: { account: account.name } });
}

export async function ownAccount(context: FactorContext): Promise<AccountRecord> {
  const account = await accountById(context.services, requireSession(context.caller).id);
  if (!account) throw new MeshError('unauthenticated', 'This account was removed.');
  return account;
}

const NO_FACTOR = 'This account has no second factor: mesh otp enroll.';

/** @returns the factor as it is once the proof is used @throws MeshError `conflict` without a factor, and as {@link prove} */
export async function proveFactor(account: AccountRecord, proof: Proof, context: FactorContext): Promise<SecondFactor> {
  const factor = account.spec.secondFactor && (await prove(account, proof, context));
  if (!factor) throw new MeshError('conflict', NO_FACTOR);
  return factor;
}

/**
 * Asks for the password, and for the second factor where there is one; a passkey replaces both.
 *
 * @returns the factor as it is once the proof is used; undefined for an account without one
 * @throws MeshError `invalid_input` naming the field; `rate_limited`
 */
export async function prove(
  account: AccountRecord,
  { password, otp, passkey }: Proof,
  context: FactorContext,
): Promise<SecondFactor | undefined> {
  const { secondFactor } = account.spec;
  if (secondFactor && passkey) {
    const attempt = await ownAttempt(account, context);
    return judgeFactor(account, secondFactor, { passkey }, { attempt, context });
  }
  if (password === undefined) throw wrong('/password', 'Send your password, or use a passkey.');
  const attempt = await confirmPassword(account, password, '/password', context);
  if (secondFactor) return judgeFactor(account, secondFactor, { otp }, { attempt, context });
  await attempt.succeeded();
  return undefined;
}

function ownAttempt({ name, spec }: AccountRecord, { services, origin }: FactorContext): Promise<LoginAttempt> {
  return services.logins.attempt(origin, name, spec.knownSources ?? []);
}

/** @returns the factor as it is once the code or the passkey is used */
async function judgeFactor(
  account: AccountRecord,
  factor: SecondFactor,
  { otp, passkey }: Pick<Proof, 'otp' | 'passkey'>,
  { attempt, context }: { readonly attempt: LoginAttempt; readonly context: FactorContext },
): Promise<SecondFactor> {
  const { services, origin, requestId } = context;
  if (otp === undefined && !passkey) {
    await attempt.incomplete();
    throw factorMissing();
  }
  await attempt.triesCode();
  const used = await judging(attempt, async () => {
    if (!passkey) return checkFactor(services, account.uid, factor, otp ?? '')?.factor;
    const shown = await readAssertion(services, account, passkey);
    return shown && usePasskey(factor, shown);
  });
  if (!used) {
    const refused = {
      type: 'otp_refused',
      actor: `user:${account.name}`,
      result: 'refused',
      origin: plainAddress(origin),
      detail: { reason: 'wrong code' },
    } as const;
    const events = [refused, ...lockEvents(attempt, account.name, origin)].map((event) => ({ ...event, requestId }));
    await services.store.record(SYSTEM_WORKSPACE, events);
    if (passkey)
      throw wrong('/passkey', 'This is no passkey of this account, or it took longer than five minutes: try again.');
    throw wrong('/otp', 'The code is wrong or was used before: send the next one that the app shows.');
  }
  await attempt.succeeded();
  return used;
}

export async function write(
  account: AccountRecord,
  spec: AccountSpec,
  type: string,
  reason: string,
  context: FactorContext,
  { keepsSession = false, detail }: { keepsSession?: boolean; detail?: SecurityEvent['detail'] } = {},
): Promise<void> {
  const { store } = context.services;
  const { subject: actor, tokenId } = requireSession(context.caller);
  const event = { type, actor, result: 'ok', origin: plainAddress(context.origin), ...(detail && { detail }) } as const;
  const record = { ...draftOf(account), spec, unique: uniqueWithPasskeys(account, spec) };
  const ops: Op[] = [{ op: 'update', record, revision: account.revision }];
  const session = keepsSession ? await store.get(SYSTEM_WORKSPACE, { kind: 'Session', name: tokenId }) : undefined;
  if (session) {
    const kept = { ...draftOf(session), spec: { ...session.spec, factorEpoch: spec.factorEpoch ?? 0 } };
    ops.push({ op: 'update', record: kept, revision: session.revision });
  }
  await store.commit(SYSTEM_WORKSPACE, ops, commitContext(context, reason, { securityEvents: [event] }));
}

function endingSessions(spec: AccountSpec): AccountSpec {
  return { ...spec, factorEpoch: (spec.factorEpoch ?? 0) + 1 };
}

function without(spec: AccountSpec, field: 'enrolment' | 'secondFactor'): AccountSpec {
  const { [field]: _, ...kept } = spec;
  return kept;
}

function factorMissing(): MeshError {
  return wrong('/otp', 'A code of your second factor is asked for here: send it as otp, or use a passkey.');
}

function wrong(pointer: string, detail: string): MeshError {
  return invalidInput([{ pointer, detail }], detail);
}
