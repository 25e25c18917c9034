import { randomBytes, timingSafeEqual } from 'node:crypto';
import path from 'node:path';
import { replacePrivateFile } from '../enrol/private-file.ts';
import { readRegular } from '../if-readable.ts';

const PASSWORD_BYTES = 24;

/** Any other works as well: the password alone counts. */
export const PROXY_USER = 'mesh';

/** The password of the proxy of a node. */
export interface ProxyCredential {
  readonly password: string;
  /** Where only the owner reads it. */
  readonly file: string;
}

/** Returns the password of a directory, which stays the same over restarts, so that programs can be set up with it. */
export function proxyCredential(directory: string): ProxyCredential {
  const file = path.join(directory, 'proxy-password');
  const stored = readStored(file);
  if (stored !== undefined) return { password: stored, file };
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  replacePrivateFile(file, `${password}\n`);
  return { password, file };
}

/** Tells whether a password is right, in a time that says nothing about it. */
export function isPassword(given: string, { password }: ProxyCredential): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(password)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function readStored(file: string): string | undefined {
  try {
    const text = readRegular(file).trim();
    return Buffer.from(text, 'base64url').length === PASSWORD_BYTES ? text : undefined;
  } catch {
    return undefined;
  }
}
