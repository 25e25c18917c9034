import { createHash, createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import type { LogHeads } from '../core/audit/log-keys.ts';
import { Secret } from '../core/base/secret.ts';
import type { Keyring } from '../core/model/services.ts';
import { controlKeyFingerprint } from '../core/model/token.ts';
import type { Credentials } from './credentials.ts';
import { buildLogKeys } from './log-keys.ts';

const AUDIENCE = 'mesh';
const KEYS_DIGITS = 16;
/** DER prefix of an X25519 SubjectPublicKeyInfo (RFC 8410); the 32 raw bytes follow. */
const X25519_SPKI = Buffer.from('302a300506032b656e032100', 'hex');

/** The keys in use. Sessions are JWTs signed with EdDSA: `{iss, aud: "mesh", sub, jti, iat, exp}` (docs/accounts-and-tokens.md#tokens). */
export function buildKeyring(
  credentials: Credentials,
  relayToken: Secret = new Secret(credentials.relayToken),
  heads?: LogHeads,
): Keyring {
  const signingKey = createPrivateKey(credentials.signingKey);
  const verifyingKey = createPublicKey(signingKey);
  const controlPrivate = createPrivateKey(credentials.controlKey);
  const controlKey = rawPublicKey(createPublicKey(controlPrivate).export({ type: 'spki', format: 'der' }));
  const issuer = `mesh:${createHash('sha256').update(controlKey).digest('base64url').slice(0, 16)}`;
  return {
    controlKey,
    controlKeyId: controlKeyFingerprint(controlKey),
    controlPrivateKey: new Secret(rawPrivateKey(controlPrivate)),
    relayToken,
    logs: buildLogKeys(credentials.logKeys, controlKey, heads),
    agree(peerPublicKey) {
      const publicKey = createPublicKey({
        key: Buffer.concat([X25519_SPKI, peerPublicKey]),
        type: 'spki',
        format: 'der',
      });
      return new Uint8Array(diffieHellman({ privateKey: controlPrivate, publicKey }));
    },
    signSession({ sub, jti, iat, exp }) {
      return new SignJWT({ iss: issuer, aud: AUDIENCE, sub, jti, iat, exp })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
        .sign(signingKey);
    },
    async verifySession(token) {
      try {
        // Expiry is checked by the caller against the injected clock, so jose's own is moved out of the way.
        const { payload } = await jwtVerify(token, verifyingKey, {
          issuer,
          audience: AUDIENCE,
          algorithms: ['EdDSA'],
          currentDate: new Date(0),
        });
        const { sub, jti, exp } = payload;
        return sub !== undefined && jti !== undefined && exp !== undefined ? { sub, jti, exp } : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** Names the keys that nodes, sessions and logs rest on, without telling anything of them. */
export function nameOfKeys({ controlKey, signingKey }: Pick<Credentials, 'controlKey' | 'signingKey'>): string {
  const digest = createHash('sha256');
  for (const key of [controlKey, signingKey])
    digest.update(createPublicKey(key).export({ type: 'spki', format: 'der' }));
  return digest.digest('hex').slice(0, KEYS_DIGITS);
}

/** The last 32 bytes of PKCS #8 (RFC 8410). */
function rawPrivateKey(key: KeyObject): string {
  return key.export({ format: 'der', type: 'pkcs8' }).subarray(-32).toString('base64');
}

function rawPublicKey(spki: Buffer): Uint8Array {
  return new Uint8Array(spki.subarray(X25519_SPKI.length));
}
