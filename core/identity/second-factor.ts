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
import type { LoginAttempt } from '../model/services.ts';
import type { NetworkServices } from '../state/services.ts';
import { type AccountRecord, type AccountSpec, accountById, type SecondFactor } from './accounts.ts';
import { checkFactor } from './check-factor.ts';
import { confirmPassword } from './confirm-password.ts';
import { lacksSecondFactor } from './factor-requirement.ts';
import { lockEvents } from './lock-events.ts';
import { base32, matchingStep, newOtpSecret, otpUri } from './otp.ts';
import { newRecoveryCodes } from './recovery-codes.ts';
import { openSecret, sealSecret } from './sealed-secret.ts';
import { firstSignIn } from './sessions.ts';
import { requireAccount } from './users.ts';

/** A person scans a code and types another in it. */
const ENROLMENT_MS = 10 * 60_000;

type FactorContext = CallContext<Pick<NetworkServices, 'store' | 'clock' | 'keys' | 'logins' | 'settings'>>;

export interface OtpState {
  readonly enrolled: boolean;
  /** Milliseconds. */
  readonly since?: number;
  readonly recoveryCodesLeft: number;
  /** True while nothing else can be done before one is enrolled. */
  readonly required: boolean;
}

/** The second factor of the caller's account, without its secret. */
export async function otpState(context: FactorContext): Promise<OtpState> {
  const account = await ownAccount(context);
  const { secondFactor } = account.spec;
  const required = await lacksSecondFactor(context.services, account);
  if (!secondFactor) return { enrolled: false, recoveryCodesLeft: 0, required };
  return { enrolled: true, since: secondFactor.since, recoveryCodesLeft: secondFactor.recovery.length, required };
}

/**
 * Begins to enrol a second factor: nothing changes before it is confirmed from the same session. The password is asked for
 * again, so that who got hold of a session cannot take the account over with it.
 */
export async function beginOtp(
  { password }: { readonly password: string },
  context: FactorContext,
): Promise<{ readonly secret: string; readonly uri: string; readonly expiresAt: number }> {
  const { clock, keys, settings } = context.services;
  const account = await ownAccount(context);
  if (account.spec.secondFactor) {
    throw new MeshError('conflict', 'This account has a second factor already: disable it first (mesh otp disable).');
  }
  const attempt = await confirmPassword(account, password, '/password', context);
  await attempt.succeeded();
  const secret = newOtpSecret();
  const expiresAt = clock.now() + ENROLMENT_MS;
  const { tokenId: session } = requireSession(context.caller);
  const enrolment = { secret: sealSecret(keys, account.uid, secret), session, expiresAt };
  await write(account, { ...account.spec, enrolment }, 'otp_begin', 'began to enrol a second factor', context);
  return { secret: base32(secret), uri: otpUri(secret, account.name, new URL(settings.apiUrl).host), expiresAt };
}

/** Makes what was begun the second factor. Every other session of the account ends. @returns the recovery codes, once */
export async function confirmOtp(
  { code }: { readonly code: string },
  context: FactorContext,
): Promise<readonly string[]> {
  const { clock, keys, logins } = context.services;
  const account = await ownAccount(context);
  const { tokenId } = requireSession(context.caller);
  const { enrolment, secondFactor } = account.spec;
  if (secondFactor) throw new MeshError('conflict', 'This account has a second factor already.');
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
  const { codes, hashes } = newRecoveryCodes();
  const factor = { secret: enrolment.secret, since: now, lastStep: step, recovery: hashes };
  const enrolled = { ...without(account.spec, 'enrolment'), secondFactor: factor };
  const signedIn = await firstSignIn(context.services, { ...account, spec: enrolled });
  const spec = endingSessions({ ...enrolled, ...signedIn });
  await write(account, spec, 'otp_enrolled', 'enrolled a second factor', context, { keepsSession: true });
  return codes;
}

/** Both of what signs in: neither a session nor one of the two alone takes a factor away. */
interface Proof {
  readonly password: string;
  readonly otp: string;
}

/** Takes the caller's second factor away; every other session of the account ends. */
export async function disableOtp(proof: Proof, context: FactorContext): Promise<void> {
  const account = await ownAccount(context);
  await prove(account, proof, context);
  const spec = endingSessions(without(account.spec, 'secondFactor'));
  await write(account, spec, 'otp_disabled', 'disabled the second factor', context, { keepsSession: true });
}

/** Fresh recovery codes in the place of all there were. @returns them, once */
export async function renewRecoveryCodes(proof: Proof, context: FactorContext): Promise<readonly string[]> {
  const account = await ownAccount(context);
  const factor = await prove(account, proof, context);
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
 * Asks a signed-in person for a code before something that a session alone does not allow. The code is spent by it.
 *
 * @throws MeshError `invalid_input` without one or with a wrong one, `rate_limited`
 */
export async function spendCode(otp: string | undefined, context: FactorContext): Promise<void> {
  const account = await ownAccount(context);
  const { secondFactor } = account.spec;
  if (!secondFactor) throw new MeshError('conflict', 'This account has no second factor: mesh otp enroll.');
  if (otp === undefined) throw wrong('/otp', 'A code of your second factor is asked for here: send it as otp.');
  const attempt = await context.services.logins.attempt(context.origin, account.name, account.spec.knownSources ?? []);
  const factor = await proveCode(account, secondFactor, otp, { attempt, context });
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
    throw new MeshError('forbidden', 'Your own second factor takes a code or a recovery code: mesh otp disable.');
  }
  if (!account.spec.secondFactor) throw new MeshError('conflict', `${account.name} has no second factor.`);
  const spec = endingSessions(without(without(account.spec, 'secondFactor'), 'enrolment'));
  const reason = `reset the second factor of ${account.name}`;
  await write(account, spec, 'otp_reset', reason, context, { detail: { account: account.name } });
}

async function ownAccount(context: FactorContext): Promise<AccountRecord> {
  const account = await accountById(context.services, requireSession(context.caller).id);
  if (!account) throw new MeshError('unauthenticated', 'This account was removed.');
  return account;
}

async function prove(account: AccountRecord, { password, otp }: Proof, context: FactorContext) {
  const { secondFactor } = account.spec;
  if (!secondFactor) throw new MeshError('conflict', 'This account has no second factor: mesh otp enroll.');
  const attempt = await confirmPassword(account, password, '/password', context);
  return proveCode(account, secondFactor, otp, { attempt, context });
}

/** @returns the factor as it is once the code is used */
async function proveCode(
  account: AccountRecord,
  factor: SecondFactor,
  otp: string,
  { attempt, context }: { readonly attempt: LoginAttempt; readonly context: FactorContext },
): Promise<SecondFactor> {
  await attempt.triesCode();
  const used = checkFactor(context.services, account.uid, factor, otp);
  if (!used) {
    const { origin, requestId } = context;
    const refused = {
      type: 'otp_refused',
      actor: `user:${account.name}`,
      result: 'refused',
      origin: plainAddress(origin),
      detail: { reason: 'wrong code' },
    } as const;
    const events = [refused, ...lockEvents(attempt, account.name, origin)].map((event) => ({ ...event, requestId }));
    await context.services.store.record(SYSTEM_WORKSPACE, events);
    throw wrong('/otp', 'The code is wrong or was used before: send the next one that the app shows.');
  }
  await attempt.succeeded();
  return used.factor;
}

async function write(
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
  const ops: Op[] = [{ op: 'update', record: { ...draftOf(account), spec }, revision: account.revision }];
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

function wrong(pointer: string, detail: string): MeshError {
  return invalidInput([{ pointer, detail }], detail);
}
