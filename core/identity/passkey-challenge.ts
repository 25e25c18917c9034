import { createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../base/json-text.ts';
import { equalSecrets } from '../base/secret.ts';
import { hasEnded } from '../base/time.ts';
import type { ExpectedPage } from '../model/passkeys.ts';
import type { Settings } from '../model/services.ts';
import type { NetworkServices } from '../state/services.ts';

/** A person finds an authenticator and touches it. */
const CHALLENGE_MS = 5 * 60_000;
const RANDOM_BYTES = 16;

type ChallengeServices = Pick<NetworkServices, 'keys' | 'clock' | 'settings'>;

/**
 * Returns a challenge for an authenticator to sign. All there is of it is in it: whoever asks for many takes no room, and
 * every control plane on the store can read it.
 *
 * @param purpose that the signature is for, and nothing else
 */
export function newChallenge({ keys, clock }: ChallengeServices, purpose: string): string {
  return sealed(keys, purpose, `${clock.now() + CHALLENGE_MS}.${randomBytes(RANDOM_BYTES).toString('base64url')}`);
}

export interface SignedPage extends ExpectedPage {
  /** When the challenge was made, milliseconds. */
  readonly issuedAt: number;
  /** When the challenge ends, milliseconds. */
  readonly expiresAt: number;
}

/**
 * Reads the page and the challenge that an authenticator says it signed.
 *
 * @returns undefined where the page is not of this control plane, or the challenge was not made here for this, or ended
 */
export function signedPage(
  { keys, clock, settings }: ChallengeServices,
  purpose: string,
  clientDataJSON: string,
): SignedPage | undefined {
  const data = clientDataOf(clientDataJSON);
  const host = data && passkeyHost(settings, data.origin);
  if (!data || host === undefined) return undefined;
  const [end = '', random = ''] = textOf(data.challenge).split('.');
  const expiresAt = Number(end);
  if (!equalSecrets(sealed(keys, purpose, `${end}.${random}`), data.challenge)) return undefined;
  if (hasEnded({ expiresAt }, clock.now())) return undefined;
  const { challenge, origin } = data;
  return { challenge, origin, host, issuedAt: expiresAt - CHALLENGE_MS, expiresAt };
}

/** Nothing is signed within a page of somebody else. */
const clientData = z.object({ challenge: z.string(), origin: z.string(), crossOrigin: z.literal(false).optional() });

function clientDataOf(text: string): z.infer<typeof clientData> | undefined {
  try {
    return clientData.safeParse(parseJson(textOf(text))).data;
  } catch {
    return undefined;
  }
}

function sealed(keys: ChallengeServices['keys'], purpose: string, text: string): string {
  const mac = createHmac('sha256', keys.controlPrivateKey.reveal())
    .update(JSON.stringify(['mesh/passkey/v1', purpose, text]))
    .digest('base64url');
  return Buffer.from(`${text}.${mac}`).toString('base64url');
}

function textOf(base64url: string): string {
  return Buffer.from(base64url, 'base64url').toString();
}

/** As URLs write them. */
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/**
 * Returns the host name that passkeys of a page belong to.
 *
 * @param origin of the dashboard
 * @returns undefined where it is no address of this control plane, or has an IP address in place of a name
 */
export function passkeyHost({ publicUrls = [] }: Pick<Settings, 'publicUrls'>, origin: string): string | undefined {
  const url = URL.parse(origin);
  if (url?.origin !== origin || url.hostname.startsWith('[') || IPV4.test(url.hostname)) return undefined;
  const isOwn = url.hostname === 'localhost' || publicUrls.some((one) => new URL(one).origin === origin);
  return isOwn ? url.hostname : undefined;
}
