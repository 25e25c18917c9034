import type { Log } from '../../core/base/ports.ts';
import type { Secret } from '../../core/base/secret.ts';
import type { DirectoryCall } from '../../core/identity/directory.ts';
import type { IssuerRules } from '../../core/model/issuers.ts';

export const SCIM_PATH = '/scim/v2';

/** An issuer that tells here who there is, by the token that it shows. */
export interface Directory {
  readonly token: Secret;
  readonly rules: IssuerRules;
}

export interface ScimOptions {
  readonly services: DirectoryCall['services'];
  readonly log: Log;
  readonly directories: readonly Directory[];
}
