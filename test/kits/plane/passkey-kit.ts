import { type Authenticator, type AuthenticatorOptions, type Ceremony, newAuthenticator } from './authenticator.ts';
import { ADMIN_PASSWORD, buildIdentityKit, type IdentityKit, type IdentityKitOptions } from './identity-kit.ts';

export const ORIGIN = 'https://mesh.example.com';

/** The identity kit under a host name, with authenticators that make and use passkeys. */
export async function buildPasskeyKit(options: IdentityKitOptions = {}) {
  const kit = await buildIdentityKit({ publicUrls: [ORIGIN], ...options });
  return { ...kit, ...passkeysOf(kit) };
}

/** Makes and uses passkeys on a control plane. */
export function passkeysOf({ call }: Pick<IdentityKit, 'call'>) {
  const challengeOf = async (origin = ORIGIN): Promise<string> =>
    (await call<{ challenge: string }>('create_passkey_challenge', { origin })).challenge;

  /** A signature for a fresh challenge. */
  const show = async (authenticator: Authenticator, ceremony: Partial<Ceremony> = {}) =>
    authenticator.sign({ challenge: await challengeOf(), ...ceremony });

  return {
    challengeOf,
    show,

    /** Adds a passkey, by the password unless another proof is given. */
    async addPasskey(
      bearer: string,
      options: Partial<AuthenticatorOptions> & { name?: string; proof?: Record<string, unknown> } = {},
    ) {
      const { name = 'Key', proof = { password: ADMIN_PASSWORD }, origin = ORIGIN } = options;
      const authenticator = newAuthenticator({ ...options, origin });
      const { challenge } = await call<{ challenge: string }>('begin_passkey', { origin, ...proof }, { bearer });
      const passkey = authenticator.create({ challenge });
      const added = await call<{ recoveryCodes: string[] }>('add_passkey', { name, passkey }, { bearer });
      return { authenticator, recoveryCodes: added.recoveryCodes };
    },

    /** Signs in by a passkey alone. */
    async enter(authenticator: Authenticator, ceremony: Partial<Ceremony> = {}) {
      const passkey = await show(authenticator, ceremony);
      return call<{ token: string; username: string }>('log_in_with_passkey', { passkey });
    },
  };
}
