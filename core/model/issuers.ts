import type { WorkspaceRole } from '../base/scope.ts';

/** Issuers of one configuration. */
export const MAX_ISSUERS = 16;

/** An issuer of `app.oidc` in the configuration: who signs people in (docs/sign-in.md). */
export interface IssuerRules {
  /** Part of the address that the issuer leads back to. */
  readonly name: string;
  /** Shown on the button. */
  readonly title: string;
  /** Its identifier, exactly as it writes it. */
  readonly issuer: string;
  /** `granted`: it signs in those alone whom a grant lets in. */
  readonly admits: 'granted' | 'everyone';
  readonly grants: readonly IssuerGrant[];
  /** Set where the issuer tells by SCIM who there is: nobody else is let in, and groups are those of the directory. */
  readonly directory?: DirectoryRules;
}

export interface DirectoryRules {
  /** Claim of its tokens that is the `externalId` of a person in the directory. */
  readonly claim: string;
}

/** Claim that the groups of a directory stand for. */
export const GROUPS_CLAIM = 'groups';

/** Gives a role in a workspace to those whose claim is, or contains, a value. */
export interface IssuerGrant {
  readonly claim: string;
  readonly value: string;
  /** Slug of the workspace. */
  readonly workspace: string;
  readonly role: WorkspaceRole;
}

type Claims = Readonly<Record<string, unknown>>;

/** A person as an issuer vouches for them: the signature, the audience and the nonce were checked. */
export interface IssuedIdentity {
  readonly subject: string;
  readonly claims: Claims;
  /** Proves later that the person may still sign in. */
  readonly refreshToken?: string | undefined;
  /** Tells the issuer whom to sign out. */
  readonly idToken?: string | undefined;
}

/** Secrets of one sign-in, derived from what its browser keeps. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  /** Code verifier of PKCE (RFC 7636). */
  readonly verifier: string;
}

/** The protocol with issuers. What it throws is a MeshError: `unavailable` where an issuer does not answer, `unauthenticated` for what it does not vouch for. */
export interface IssuerClient {
  /** Returns the address at the issuer where a person signs in. */
  begin(issuer: string, redirectUri: string, secrets: SignInSecrets): Promise<string>;
  /** Exchanges what the issuer sent back. @param query of the address that it led to */
  finish(issuer: string, redirectUri: string, query: string, secrets: SignInSecrets): Promise<IssuedIdentity>;
  /** Asks whether a person may still sign in. @returns undefined where the issuer refuses */
  refresh(issuer: string, refreshToken: string, subject: string): Promise<IssuedIdentity | undefined>;
  /** Returns the address that signs a person out of the issuer; undefined where it has none. */
  signOut(issuer: string, returnTo: string, idToken: string | undefined): Promise<string | undefined>;
}

/** Path of the dashboard that issuers lead back to; the name of the issuer follows. */
export const SIGN_IN_PATH = '/sign-in/';

/** Returns the address of a person that an issuer has verified, in lower case. */
export function verifiedAddress({ email, email_verified: isVerified }: Claims): string | undefined {
  // Some issuers write the boolean as a text.
  const isAddress = typeof email === 'string' && ADDRESS.test(email) && !email.includes(KELVIN_SIGN);
  return isAddress && (isVerified === true || isVerified === 'true') ? email.toLowerCase() : undefined;
}

/** The only other character whose lower case is a letter of ASCII: with it an address would become another one. */
const KELVIN_SIGN = '\u212a';

const ADDRESS = /^[^\s@]{1,64}@[^\s@]{1,189}$/;

/** Returns true if a claim is a value, or a list that contains it. */
export function hasClaim(claims: Claims, { claim, value }: Pick<IssuerGrant, 'claim' | 'value'>): boolean {
  const found = claimAt(claims, claim);
  return found === value || (Array.isArray(found) && found.includes(value));
}

/** Returns a claim that is a text. */
export function textClaim(claims: Claims, name: string): string | undefined {
  const found = claimAt(claims, name);
  return typeof found === 'string' ? found : undefined;
}

/** A claim by its name, else by a path with dots, such as `realm_access.roles`. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let found: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as Claims)[part];
  }
  return found;
}
