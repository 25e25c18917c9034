import { answer, api } from './client.ts';
import { Problem } from './problem.ts';
import type { components } from './schema.d.ts';
import { browserName, enter } from './sign-in.ts';

type Begun = components['schemas']['BeginPasskeyResponse'];
export type Assertion = components['schemas']['LogInWithPasskeyRequest']['passkey'];
type Credential = components['schemas']['AddPasskeyRequest']['passkey'];

/** Proof of a person before something about how they sign in changes. */
export interface Proof {
  readonly password?: string;
  readonly otp?: string;
  readonly passkey?: Assertion;
}

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** Why this page cannot use passkeys; undefined where it can. */
export function passkeyObstacle(): string | undefined {
  const { hostname, port, protocol } = location;
  if (hostname.startsWith('[') || IPV4.test(hostname)) {
    const isLoopback = hostname.startsWith('127.') || hostname === '[::1]';
    const other = isLoopback ? `${protocol}//localhost${port && `:${port}`}` : 'a host name';
    return `A passkey belongs to a host name, not to an IP address. Open the dashboard at ${other} to use one.`;
  }
  if (typeof PublicKeyCredential === 'undefined' || !('parseRequestOptionsFromJSON' in PublicKeyCredential))
    return 'This browser offers no passkeys here: they need HTTPS, and a browser of 2025 or later.';
  return undefined;
}

/** Has a passkey of this host sign a fresh challenge. @throws Problem */
export async function showPasskey(): Promise<Assertion> {
  const body = { origin: location.origin };
  const { challenge, host } = await answer(api.POST('/api/v1/users/login/passkeys/challenge', { body }));
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON({
    challenge,
    rpId: host,
    userVerification: 'required',
  });
  const { id, response } = await byBrowser<Assertion>(() => navigator.credentials.get({ publicKey }));
  const { clientDataJSON, authenticatorData, signature } = response;
  return { id, clientDataJSON, authenticatorData, signature };
}

/** Signs in by a passkey alone. */
export async function signInWithPasskey(staySignedIn: boolean): Promise<void> {
  const passkey = await showPasskey();
  const body = { passkey, client: browserName(), ...(staySignedIn && { staySignedIn }) };
  await enter({ ...(await answer(api.POST('/api/v1/users/login/passkeys', { body }))), staySignedIn });
}

/** Makes a passkey for this account. @returns the recovery codes, with the first factor */
export async function addPasskey(name: string, proof: Proof): Promise<readonly string[]> {
  const body = { origin: location.origin, ...proof };
  const begun = await answer(api.POST('/api/v1/users/me/passkeys/begin', { body }));
  if (!('challenge' in begun)) return [];
  const passkey = await createCredential(begun);
  const added = await answer(api.POST('/api/v1/users/me/passkeys', { body: { name, passkey } }));
  return 'recoveryCodes' in added ? added.recoveryCodes : [];
}

async function createCredential({ challenge, host, user, algorithms, exclude }: Begun): Promise<Credential> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON({
    challenge,
    rp: { id: host, name: `Mesh ${host}` },
    user,
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: exclude.map((id) => ({ type: 'public-key', id })),
    // It signs in alone: it has to name its account, and to know its person.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
  });
  const { id, response } = await byBrowser<Credential>(() => navigator.credentials.create({ publicKey }));
  const { clientDataJSON, attestationObject } = response;
  return { id, clientDataJSON, attestationObject };
}

/** Returns what the browser made, in base64url. @throws Problem where the person or the browser ends it */
async function byBrowser<T>(ask: () => Promise<unknown>): Promise<{ readonly id: string; readonly response: T }> {
  try {
    const made: unknown = ((await ask()) as PublicKeyCredential).toJSON();
    return made as { readonly id: string; readonly response: T };
  } catch (error) {
    const isKnown = error instanceof DOMException && error.name === 'InvalidStateError';
    const detail = isKnown
      ? 'This device has a passkey for your account already.'
      : 'The browser used no passkey: you canceled it, it took too long, or there is none for this address.';
    throw new Problem({ title: 'No passkey', detail, code: 'passkey' });
  }
}
