const MINUTE_MS = 60_000;

/** How people sign in, from `app.signIn` of the configuration (docs/accounts-and-tokens.md#rules-for-signing-in). */
export interface SignInRules {
  /** `administrators`: platform administrators and administrators of a workspace can do nothing but enrol until they have one. */
  readonly secondFactor: 'optional' | 'administrators';
  /** Least characters of a password. */
  readonly passwordLength: number;
  /** Passwords of an account, the current one included, that it does not choose again. */
  readonly passwordHistory: number;
  /** Age in ms from which on a password has to be changed; undefined for never. */
  readonly passwordMaxAgeMs: number | undefined;
  /** A session that is not used for so many ms ends; undefined for never. */
  readonly idleMs: number | undefined;
  /** Failed logins in a row that lock an account for the address that they came from. */
  readonly lockAfter: number;
  /** Duration of the first lock; each further one lasts twice as long. */
  readonly lockMs: number;
  /** The one account that a password lets in, and on the host of the control plane alone; undefined where all may use theirs. */
  readonly onlyLocalAccount: string | undefined;
}

export const SIGN_IN_DEFAULTS: SignInRules = {
  secondFactor: 'optional',
  passwordLength: 8,
  passwordHistory: 4,
  passwordMaxAgeMs: undefined,
  idleMs: undefined,
  lockAfter: 10,
  lockMs: 30 * MINUTE_MS,
  onlyLocalAccount: undefined,
};
