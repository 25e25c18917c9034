import { invalidInput } from '../base/errors.ts';
import type { SignInRules } from '../model/sign-in-rules.ts';
import type { AccountRecord, AccountSpec } from './accounts.ts';
import { isCommonPassword } from './common-passwords.ts';
import { PASSWORD_LENGTH, verifyPassword } from './passwords.ts';

/**
 * Refuses a password that is too easily found (NIST SP 800-63B, 5.1.1.2: length and a list of common ones, no rules of what it
 * is made of).
 *
 * @throws MeshError `invalid_input` naming the field
 */
export function requireGoodPassword(
  password: string,
  username: string,
  pointer: string,
  rules: Pick<SignInRules, 'passwordLength'>,
): void {
  const detail = weakness(password, username, rules);
  if (detail) throw invalidInput([{ pointer, detail }], `${pointer}: ${detail}`);
}

/** Refuses one of the passwords that the account had last. @throws MeshError `invalid_input` naming the field */
export async function requireUnusedPassword(
  password: string,
  { spec: { passwordHash, formerPasswords = [] } }: AccountRecord,
  pointer: string,
  { passwordHistory }: Pick<SignInRules, 'passwordHistory'>,
): Promise<void> {
  for (const hash of [passwordHash, ...formerPasswords].slice(0, passwordHistory)) {
    if (!(await verifyPassword(password, hash))) continue;
    const detail = `Choose a password that is not one of the last ${passwordHistory} of this account.`;
    throw invalidInput([{ pointer, detail }], detail);
  }
}

/** The account with another password. */
export function withPassword(
  spec: AccountSpec,
  password: Pick<AccountSpec, 'passwordHash' | 'passwordState'>,
  now: number,
  { passwordHistory }: Pick<SignInRules, 'passwordHistory'>,
): AccountSpec {
  const former = [spec.passwordHash, ...(spec.formerPasswords ?? [])].slice(0, Math.max(0, passwordHistory - 1));
  const { formerPasswords: _, ...kept } = spec;
  return { ...kept, ...password, passwordChangedAt: now, ...(former.length > 0 && { formerPasswords: former }) };
}

/** Returns true if a password was too old at an instant. */
export function isPasswordOld(
  { spec, createdAt }: AccountRecord,
  at: number,
  { passwordMaxAgeMs }: Pick<SignInRules, 'passwordMaxAgeMs'>,
): boolean {
  return (
    passwordMaxAgeMs !== undefined && !spec.issued && at - (spec.passwordChangedAt ?? createdAt) >= passwordMaxAgeMs
  );
}

function weakness(
  password: string,
  username: string,
  { passwordLength }: Pick<SignInRules, 'passwordLength'>,
): string | undefined {
  const { min, max } = PASSWORD_LENGTH;
  const least = Math.max(min, passwordLength);
  if ([...password].length < least) return `A password has at least ${least} characters.`;
  if (password.length > max) return `A password has at most ${max} characters.`;
  const plain = password.toLowerCase();
  if (plain.includes(username.toLowerCase()) && plain.length - username.length < 4) {
    return 'The password must not be the user name.';
  }
  if (new Set(plain).size < 4) return 'The password repeats too few different characters.';
  if (isCommonPassword(plain)) return 'This password is among the first that are tried: choose another one.';
  return undefined;
}
