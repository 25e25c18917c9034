import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { equalSecrets } from '../base/secret.ts';
import type { SignInSecrets } from '../model/issuers.ts';
import type { Keyring } from '../model/services.ts';

/** A sign-in that waits for its issuer. Its state is all there is of it: whoever begins many takes no room. */
export interface PendingSignIn {
  /** Name of the issuer. */
  readonly issuer: string;
  /** Origin of the dashboard that it began on. */
  readonly origin: string;
  /** Milliseconds. */
  readonly expiresAt: number;
}

const PAYLOAD = z.tuple([z.string(), z.string(), z.number()]);

/**
 * Returns the secrets of a sign-in. They follow from a key that its browser alone has, and from one of the installation, so
 * that every control plane can finish it, and no other browser.
 */
export function signInSecrets(
  keys: Pick<Keyring, 'controlPrivateKey'>,
  browserKey: string,
  { issuer, origin, expiresAt }: PendingSignIn,
): SignInSecrets {
  const payload = Buffer.from(JSON.stringify([issuer, origin, expiresAt])).toString('base64url');
  const secret = (purpose: string) =>
    createHmac('sha256', keys.controlPrivateKey.reveal())
      .update(JSON.stringify(['mesh/sign-in/v1', purpose, browserKey, payload]))
      .digest('base64url');
  return { state: `${payload}.${secret('state')}`, nonce: secret('nonce'), verifier: secret('verifier') };
}

/** Returns the sign-in that a state belongs to; undefined for one of another browser, or that nobody began. */
export function pendingSignIn(
  keys: Pick<Keyring, 'controlPrivateKey'>,
  browserKey: string,
  state: string,
): PendingSignIn | undefined {
  const [payload = ''] = state.split('.');
  const [issuer, origin, expiresAt] = PAYLOAD.safeParse(jsonOf(payload)).data ?? [];
  if (issuer === undefined || origin === undefined || expiresAt === undefined) return undefined;
  const pending = { issuer, origin, expiresAt };
  return equalSecrets(signInSecrets(keys, browserKey, pending).state, state) ? pending : undefined;
}

function jsonOf(payload: string): unknown {
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString());
  } catch {
    return undefined;
  }
}
