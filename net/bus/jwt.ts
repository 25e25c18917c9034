import { createHash } from 'node:crypto';
import type { SigningKey } from './nkey.ts';

/** Claims of a NATS JWT, as far as they are looked at here; what else stands in `nats` is kept. */
export interface Claims {
  /** Public key of whom they are about. */
  readonly sub: string;
  readonly name: string;
  /** Seconds since the epoch. */
  readonly iat: number;
  readonly exp?: number;
  readonly nats: Readonly<Record<string, unknown>>;
}

const HEADER = base64url(JSON.stringify({ typ: 'JWT', alg: 'ed25519-nkey' }));

/** Signs claims in the second version of the format, which nats-server reads since 2.2. */
export function encodeJwt({ sub, name, iat, exp, nats }: Claims, issuer: SigningKey): string {
  const claims = {
    iat,
    ...(exp !== undefined && { exp }),
    iss: issuer.publicKey,
    name,
    sub,
    nats: { ...nats, version: 2 },
  };
  // By it servers tell one from another.
  const jti = createHash('sha256').update(JSON.stringify(claims)).digest('base64url');
  const text = `${HEADER}.${base64url(JSON.stringify({ jti, ...claims }))}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`;
}

/** Returns the claims of a JWT without verifying its signature; undefined if it is no JWT. */
export function readJwt(jwt: string): Claims | undefined {
  try {
    const claims = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
    const { sub, name, iat, exp, nats } = claims;
    if (typeof sub !== 'string' || typeof iat !== 'number' || typeof nats !== 'object' || nats === null)
      return undefined;
    return { sub, name: String(name), iat, ...(typeof exp === 'number' && { exp }), nats };
  } catch {
    return undefined;
  }
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}
