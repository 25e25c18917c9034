import { invalidInput } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import type { PasskeyAssertion } from '../model/passkeys.ts';
import type { NetworkServices } from '../state/services.ts';
import type { AccountRecord, AccountSpec, SecondFactor } from './accounts.ts';
import { newChallenge, passkeyHost, type SignedPage, signedPage } from './passkey-challenge.ts';

export type PasskeyServices = Pick<NetworkServices, 'store' | 'clock' | 'keys' | 'settings' | 'usedOnce' | 'passkeys'>;

/** A signature by any passkey of this control plane, for whatever proves that a person is there. */
const PRESENCE = 'presence';

export interface PasskeyChallenge {
  /** Base64url. */
  readonly challenge: string;
  /** The host name that the passkey has to belong to. */
  readonly host: string;
}

/** Returns a challenge that any passkey may sign once. Nobody has to say whose. @throws MeshError `invalid_input` */
export function passkeyChallenge(
  { services }: CallContext<PasskeyServices>,
  origin: string,
  purpose = PRESENCE,
): PasskeyChallenge {
  const host = passkeyHost(services.settings, origin);
  if (host === undefined) {
    const detail =
      'A passkey belongs to a host name: open the dashboard by a name of app.publicUrls in config.yaml, or as localhost on the host itself, not by an IP address.';
    throw invalidInput([{ pointer: '/origin', detail }], detail);
  }
  return { challenge: newChallenge(services, purpose), host };
}

/** A passkey that signed a challenge, with which nothing was done yet. */
export interface ShownPasskey {
  readonly id: string;
  readonly counter: number;
}

/** Returns the account that a passkey belongs to. */
export async function passkeyOwner(
  { store }: Pick<NetworkServices, 'store'>,
  id: string,
): Promise<AccountRecord | undefined> {
  const record = await store.lookup(passkeyKey(id), SYSTEM_WORKSPACE);
  return record?.kind === 'Account' ? record : undefined;
}

/**
 * Checks a signature by a passkey of an account. Its challenge counts once in the whole installation.
 *
 * @returns undefined for a signature that is not valid, ended, was used, or is by no passkey of the account
 */
export async function readAssertion(
  services: PasskeyServices,
  account: AccountRecord | undefined,
  assertion: PasskeyAssertion,
): Promise<ShownPasskey | undefined> {
  const passkey = account?.spec.secondFactor?.passkeys?.find(({ id }) => id === assertion.id);
  const page = signedPage(services, PRESENCE, assertion.clientDataJSON);
  if (!account || !passkey || page?.host !== passkey.host) return undefined;
  const valid = await services.passkeys.verifyAssertion(assertion, page, passkey.publicKey);
  // Noted last, so that only who has a passkey takes room.
  if (!valid || !(await usesChallenge(services, account.uid, page))) return undefined;
  return { id: passkey.id, ...valid };
}

/** Takes note that an account has used a challenge. @returns false where it was used before */
export function usesChallenge(
  { usedOnce }: Pick<PasskeyServices, 'usedOnce'>,
  owner: string,
  { challenge: what, issuedAt, expiresAt }: SignedPage,
): Promise<boolean> {
  return usedOnce.use({ purpose: 'passkey', what, owner, issuedAt, expiresAt });
}

/**
 * Returns the factor as it is once the passkey is used; undefined where the passkey was removed, or its counter did not rise:
 * then somebody else has a copy of it (WebAuthn, 6.1.1).
 */
export function usePasskey(factor: SecondFactor, { id, counter }: ShownPasskey): SecondFactor | undefined {
  const { passkeys = [] } = factor;
  const used = passkeys.find((one) => one.id === id);
  if (!used || (counter <= used.counter && counter + used.counter > 0)) return undefined;
  return { ...factor, passkeys: passkeys.map((one) => (one === used ? { ...one, counter } : one)) };
}

const KEY_PREFIX = 'passkey:';

/** The `unique` value of the account of a passkey. */
function passkeyKey(id: string): string {
  return `${KEY_PREFIX}${id}`;
}

/** Returns the `unique` values of an account with other passkeys. */
export function uniqueWithPasskeys({ unique }: AccountRecord, { secondFactor }: AccountSpec): readonly string[] {
  const others = unique.filter((value) => !value.startsWith(KEY_PREFIX));
  return [...others, ...(secondFactor?.passkeys ?? []).map(({ id }) => passkeyKey(id))];
}
