/** Passkeys of one account. */
export const MAX_PASSKEYS = 10;
/** COSE algorithms of their keys, the preferred one first: ES256, EdDSA, RS256. */
export const PASSKEY_ALGORITHMS = [-7, -8, -257] as const;

/** The public part of a passkey (WebAuthn credential). The private key never leaves the authenticator. */
export interface Passkey {
  /** Credential id that the authenticator chose, base64url. */
  readonly id: string;
  /** Chosen by its person. */
  readonly name: string;
  /** The one host name that it signs in to. */
  readonly host: string;
  /** COSE key (RFC 9052), base64url. */
  readonly publicKey: string;
  /** Signatures that the authenticator counted; always 0 for one that does not count. */
  readonly counter: number;
  /** Milliseconds. */
  readonly since: number;
}

/** A fresh credential as a browser hands it out, in base64url. */
export interface NewCredential {
  readonly id: string;
  readonly clientDataJSON: string;
  readonly attestationObject: string;
}

/** A signature by a passkey as a browser hands it out, in base64url. */
export interface PasskeyAssertion {
  readonly id: string;
  readonly clientDataJSON: string;
  readonly authenticatorData: string;
  readonly signature: string;
}

/** The page and the challenge that a signature has to be for. */
export interface ExpectedPage {
  readonly challenge: string;
  readonly origin: string;
  /** Host name of the origin. */
  readonly host: string;
}

/** WebAuthn (https://www.w3.org/TR/webauthn-3/). Each signature has to say that the authenticator verified its person. */
export interface PasskeyVerifier {
  /** Returns the key of a fresh credential; undefined where it is not valid. */
  verifyNew(
    credential: NewCredential,
    page: ExpectedPage,
  ): Promise<Pick<Passkey, 'id' | 'publicKey' | 'counter'> | undefined>;
  /** Returns the counter of a signature; undefined where it is not valid. */
  verifyAssertion(
    assertion: PasskeyAssertion,
    page: ExpectedPage,
    publicKey: string,
  ): Promise<{ readonly counter: number } | undefined>;
}
