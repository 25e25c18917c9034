import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { NewCredential, PasskeyAssertion } from '../../../core/model/passkeys.ts';

/** Flags of authenticator data (WebAuthn, 6.1). */
const [PRESENT, VERIFIED, HAS_CREDENTIAL] = [0x01, 0x04, 0x40];

/** What a test has an authenticator, or the browser before it, do otherwise. */
export interface Ceremony {
  readonly challenge: string;
  readonly origin?: string;
  readonly host?: string;
  readonly isVerified?: boolean;
  /** True within a page of another origin. */
  readonly crossOrigin?: boolean;
}

export interface AuthenticatorOptions {
  readonly origin: string;
  /** False for one that counts no signatures, as those that sync passkeys. */
  readonly counts?: boolean;
  /** Credential id. */
  readonly id?: string;
}

/** A software authenticator with one passkey, and the browser that speaks with it: ES256, without attestation. */
export function newAuthenticator({
  origin: own,
  counts = true,
  id = randomBytes(16).toString('base64url'),
}: AuthenticatorOptions) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const authenticator = { counter: 0 };

  function dataFor({ host, isVerified = true, origin = own }: Ceremony, flags = 0, rest = Buffer.alloc(0)): Buffer {
    const head = Buffer.alloc(5);
    head.writeUInt8(PRESENT | (isVerified ? VERIFIED : 0) | flags);
    if (counts) authenticator.counter += 1;
    head.writeUInt32BE(authenticator.counter, 1);
    return Buffer.concat([sha256(host ?? new URL(origin).hostname), head, rest]);
  }

  function clientData(type: string, { challenge, origin = own, crossOrigin = false }: Ceremony): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }));
  }

  return {
    id,
    /** The counter of the last signature. */
    counting: authenticator,

    create(ceremony: Ceremony): NewCredential {
      const bytes = Buffer.from(id, 'base64url');
      const length = Buffer.alloc(2);
      length.writeUInt16BE(bytes.length);
      const aaguid = Buffer.alloc(16);
      const credential = Buffer.concat([aaguid, length, bytes, coseKey(publicKey.export({ format: 'jwk' }))]);
      const data = dataFor(ceremony, HAS_CREDENTIAL, credential);
      const size = Buffer.alloc(2);
      size.writeUInt16BE(data.length);
      // CBOR: {"fmt": "none", "attStmt": {}, "authData": data}
      const attestation = [
        Buffer.from([0xa3, 0x63]),
        ...[Buffer.from('fmt'), Buffer.from([0x64]), Buffer.from('none'), Buffer.from([0x67]), Buffer.from('attStmt')],
        ...[Buffer.from([0xa0, 0x68]), Buffer.from('authData'), Buffer.from([0x59]), size, data],
      ];
      return {
        id,
        clientDataJSON: clientData('webauthn.create', ceremony).toString('base64url'),
        attestationObject: Buffer.concat(attestation).toString('base64url'),
      };
    },

    sign(ceremony: Ceremony): PasskeyAssertion {
      const data = dataFor(ceremony);
      const client = clientData('webauthn.get', ceremony);
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey);
      return {
        id,
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
      };
    },
  };
}

export type Authenticator = ReturnType<typeof newAuthenticator>;

/** RFC 9053, 7.1.1: {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}. */
function coseKey({ x = '', y = '' }: { readonly x?: string; readonly y?: string }): Buffer {
  const coordinate = (text: string) => Buffer.from(text, 'base64url');
  const head = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]);
  return Buffer.concat([head, coordinate(x), Buffer.from([0x22, 0x58, 0x20]), coordinate(y)]);
}

function sha256(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest();
}
