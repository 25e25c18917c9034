import type { IssuerClient } from '../../core/model/issuers.ts';
import type { IssuerParts } from './issuers.ts';

/** Returns a client of issuers that is loaded when somebody signs in by one. */
export function issuersOnDemand(parts: IssuerParts): IssuerClient {
  let loading: Promise<IssuerClient> | undefined;
  const loaded = () => {
    loading ??= import('./issuers.ts').then(({ buildIssuerClient }) => buildIssuerClient(parts));
    return loading;
  };
  return {
    begin: async (...asked) => (await loaded()).begin(...asked),
    finish: async (...asked) => (await loaded()).finish(...asked),
    refresh: async (...asked) => (await loaded()).refresh(...asked),
    signOut: async (...asked) => (await loaded()).signOut(...asked),
  };
}
