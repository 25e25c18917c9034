import type { Log } from '../../core/base/ports.ts';
import type { PasskeyVerifier } from '../../core/model/passkeys.ts';

/** Returns a verifier of passkeys that is loaded with the first one. */
export function passkeysOnDemand(log: Pick<Log, 'debug'>): PasskeyVerifier {
  let loading: Promise<PasskeyVerifier> | undefined;
  const loaded = () => {
    loading ??= import('./verifier.ts').then(({ buildPasskeyVerifier }) => buildPasskeyVerifier(log));
    return loading;
  };
  return {
    verifyNew: async (...given) => (await loaded()).verifyNew(...given),
    verifyAssertion: async (...given) => (await loaded()).verifyAssertion(...given),
  };
}
