import { readFileSync } from 'node:fs';
import { keyFingerprint, parsePublicKeyPem } from '../core/audit/dsse.ts';
import { CliError, EXIT } from './exit.ts';

const FINGERPRINT = /^[0-9a-f]{64}$/i;
const RAW_KEY = /^[A-Za-z0-9+/]{43}=$/;

/** @param key raw Ed25519, or base64 of it */
export function fingerprintOf(key: Uint8Array | string): string {
  return keyFingerprint(typeof key === 'string' ? Buffer.from(key, 'base64') : key);
}

/** The fingerprint of a key that is given by it, as 44 characters of base64, or in a file, also as PEM. @throws CliError */
export function fingerprintIn(given: string): string {
  const found = parse(given) ?? parse(read(given.startsWith('@') ? given.slice(1) : given));
  if (found !== undefined) return found;
  throw new CliError(
    '--key is no key: give the fingerprint, 44 characters of base64, or a file such as public-key.pem.',
    EXIT.input,
  );
}

function parse(text: string): string | undefined {
  const key = text.trim();
  if (FINGERPRINT.test(key)) return key.toLowerCase();
  if (RAW_KEY.test(key)) return fingerprintOf(key);
  const raw = parsePublicKeyPem(text);
  return raw && keyFingerprint(raw);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CliError(`--key is no key and no file that can be read: ${(error as Error).message}`, EXIT.input);
  }
}
