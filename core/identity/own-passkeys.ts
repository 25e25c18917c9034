import { invalidInput, MeshError } from '../base/errors.ts';
import { requireSession } from '../base/require-session.ts';
import { MAX_PASSKEYS, type NewCredential } from '../model/passkeys.ts';
import type { AccountRecord } from './accounts.ts';
import { signedPage } from './passkey-challenge.ts';
import { type PasskeyChallenge, passkeyChallenge, passkeyOwner, usesChallenge } from './passkeys.ts';
import {
  addFactor,
  type FactorContext,
  ownAccount,
  type Proof,
  prove,
  proveFactor,
  withFactor,
  write,
} from './second-factor.ts';

export interface BegunPasskey extends PasskeyChallenge {
  /** The account as an authenticator lists it. */
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  /** Passkeys that there are: their authenticators make no second one. */
  readonly exclude: readonly string[];
}

/** Begins to add a passkey: nothing changes before `addPasskey` is called from the same session. */
export async function beginPasskey(
  { origin, ...proof }: Proof & { readonly origin: string },
  context: FactorContext,
): Promise<BegunPasskey> {
  const account = await ownAccount(context);
  const passkeys = roomFor(account);
  const begun = passkeyChallenge(context, origin, purposeOf(context));
  const secondFactor = await prove(account, proof, context);
  if (secondFactor)
    await write(account, { ...account.spec, secondFactor }, 'otp_shown', 'showed a second factor', context);
  const { uid, name, spec } = account;
  const user = { id: Buffer.from(uid).toString('base64url'), name, displayName: spec.displayName || name };
  return { ...begun, user, exclude: passkeys.map(({ id }) => id) };
}

/**
 * Adds a passkey, which from then on signs in by itself, and is a second factor beside the password. Every other session of
 * the account ends.
 *
 * @returns the recovery codes, once, with the first factor of the account
 */
export async function addPasskey(
  { name, credential }: { readonly name: string; readonly credential: NewCredential },
  context: FactorContext,
): Promise<readonly string[]> {
  const { services } = context;
  const account = await ownAccount(context);
  const passkeys = roomFor(account);
  const page = signedPage(services, purposeOf(context), credential.clientDataJSON);
  const key = page && (await services.passkeys.verifyNew(credential, page));
  if (!key || !(await usesChallenge(services, account.uid, page))) {
    const detail =
      'This passkey was not begun in this session, was added before, or took longer than five minutes: begin again.';
    throw invalidInput([{ pointer: '/passkey', detail }], detail);
  }
  if (await passkeyOwner(services, key.id)) throw new MeshError('conflict', 'This passkey was added before.');
  const passkey = { ...key, name, host: page.host, since: services.clock.now() };
  const why = { type: 'passkey_added', reason: `added the passkey ${name}`, detail: { passkey: name } };
  return addFactor(account, { passkeys: [...passkeys, passkey] }, why, context);
}

/** Removes a passkey of the caller, and with the last factor the recovery codes. Every other session of the account ends. */
export async function removePasskey(
  { id, ...proof }: Proof & { readonly id: string },
  context: FactorContext,
): Promise<void> {
  const account = await ownAccount(context);
  const { name } = account.spec.secondFactor?.passkeys?.find((one) => one.id === id) ?? {};
  if (name === undefined) throw new MeshError('not_found', 'This account has no such passkey.');
  const factor = await proveFactor(account, proof, context);
  const spec = withFactor(account.spec, {
    ...factor,
    passkeys: (factor.passkeys ?? []).filter((one) => one.id !== id),
  });
  const options = { keepsSession: true, detail: { passkey: name } };
  await write(account, spec, 'passkey_removed', `removed the passkey ${name}`, context, options);
}

/** A fresh credential counts in the session that began it alone. */
function purposeOf({ caller }: FactorContext): string {
  return `add to ${requireSession(caller).tokenId}`;
}

/** @returns the passkeys that there are @throws MeshError `conflict` where there is no room for another */
function roomFor({ spec }: AccountRecord) {
  const { passkeys = [] } = spec.secondFactor ?? {};
  if (passkeys.length < MAX_PASSKEYS) return passkeys;
  throw new MeshError('conflict', `An account has at most ${MAX_PASSKEYS} passkeys: remove one first.`);
}
