import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import type { Log } from '../../core/base/ports.ts';
import { PASSKEY_ALGORITHMS, type PasskeyVerifier } from '../../core/model/passkeys.ts';

const TYPE = { type: 'public-key', clientExtensionResults: {} } as const;

export function buildPasskeyVerifier(log: Pick<Log, 'debug'>): PasskeyVerifier {
  /** The library throws a plain error for each reason that a signature is not valid. */
  async function valid<T>(verify: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      return await verify();
    } catch (err) {
      log.debug({ err }, 'a passkey is not valid');
      return undefined;
    }
  }

  return {
    verifyNew: ({ id, clientDataJSON, attestationObject }, { challenge, origin, host }) =>
      valid(async () => {
        if (isCertified(attestationObject)) return undefined;
        const { registrationInfo } = await verifyRegistrationResponse({
          response: { ...TYPE, id, rawId: id, response: { clientDataJSON, attestationObject } },
          expectedChallenge: challenge,
          expectedOrigin: origin,
          expectedRPID: host,
          supportedAlgorithmIDs: [...PASSKEY_ALGORITHMS],
        });
        if (registrationInfo?.credential.id !== id) return undefined;
        const { publicKey, counter } = registrationInfo.credential;
        return { id, publicKey: Buffer.from(publicKey).toString('base64url'), counter };
      }),

    verifyAssertion: ({ id, ...response }, { challenge, origin, host }, publicKey) =>
      valid(async () => {
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response: { ...TYPE, id, rawId: id, response },
          expectedChallenge: challenge,
          expectedOrigin: origin,
          expectedRPID: host,
          // The counter is compared where it is stored: another sign-in may raise it meanwhile.
          credential: { id, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter: 0 },
        });
        return verified ? { counter: authenticationInfo.newCounter } : undefined;
      }),
  };
}

/** Tells whether an authenticator shows certificates of its maker, which nobody asked for: none are read. */
function isCertified(attestationObject: string): boolean {
  const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
  const format = decoded.get('fmt');
  return format !== 'none' && !(format === 'packed' && decoded.get('attStmt').get('x5c') === undefined);
}
