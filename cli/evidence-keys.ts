import { readFileSync } from 'node:fs';
import { keyFingerprint, parsePublicKeyPem } from '../core/audit/dsse.ts';
import { CliError, EXIT } from './exit.ts';

const FINGERPRINT = /^[0-9a-f]{64}$/i;
const RAW_KEY = /^[A-Za-z0-9+/]{43}=$/;

/** @param key raw Ed25519, or base64 of it */
export function fingerprintOf(key: Uint8Array | string): string {
  return keyFingerprint(typeof key === 'string' ? Buffer.from(key, 'base64') : key);
}

/** A key as it was given: by its fingerprint alone the key itself is not known. */
export interface KeyArgument {
  /** SHA-256 of the key, hex. */
  readonly fingerprint: string;
  /** Base64. */
  readonly key?: string;
}

/** A key that is given by its fingerprint, as 44 characters of base64, or in a file, also as PEM. @throws CliError */
export function keyIn(given: string): KeyArgument {
  const found = parse(given) ?? parse(read(given.startsWith('@') ? given.slice(1) : given));
  if (found !== undefined) return found;
  throw new CliError(
    `There is no public key in ${given}: ${FORMS} (mesh admin get-audit-keys, or public-key.pem of an archive).`,
    EXIT.input,
  );
}

/** As `keyIn`. @throws CliError */
export const fingerprintIn = (given: string) => keyIn(given).fingerprint;

const FORMS = 'give a fingerprint (64 hex digits), a key (44 characters of base64), or a file with one of them or PEM';

function parse(text: string): KeyArgument | undefined {
  const key = text.trim();
  if (FINGERPRINT.test(key)) return { fingerprint: key.toLowerCase() };
  if (RAW_KEY.test(key)) return { fingerprint: fingerprintOf(key), key };
  const raw = parsePublicKeyPem(text);
  return raw && { fingerprint: keyFingerprint(raw), key: Buffer.from(raw).toString('base64') };
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? `${file} is no key, and there is no such file` : `Cannot read ${file} (${message})`;
    throw new CliError(`--key: ${why}: ${FORMS}.`, EXIT.input);
  }
}
