import { createHash, createPublicKey, sign, verify } from 'node:crypto';

/** Signed notes of C2SP (c2sp.org/signed-note), with Ed25519 alone. */

/** The identity of a signer: a verifier pins the name and the raw public key. */
export interface NoteKey {
  readonly name: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

interface Signature {
  readonly name: string;
  /** Eight hexadecimal digits. */
  readonly keyId: string;
  readonly signature: Uint8Array;
}

const ED25519 = 1;
const KEY_BYTES = 32;
const KEY_ID_BYTES = 4;
const SIGNATURE_BYTES = 64;
/** The specification asks for at least 16; with more than these a note is refused before any is looked at. */
const MAX_SIGNATURES = 32;
/** A checkpoint has about 250; far more is not read. */
const MAX_NOTE_CHARACTERS = 64 * 1024;
const SIGNATURE_LINE = /^— (\S+) (\S+)$/u;
const KEY_NAME = /^[^\s+]+$/u;
/** DER prefix of an Ed25519 SubjectPublicKeyInfo (RFC 8410); the 32 raw bytes follow. */
const ED25519_SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** @param privateKey PKCS #8 PEM */
export function signNote(text: string, key: NoteKey, privateKey: string): string {
  const signature = sign(null, Buffer.from(text), privateKey);
  const line = Buffer.concat([Buffer.from(keyIdOf(key), 'hex'), signature]).toString('base64');
  return `${text}\n— ${key.name} ${line}\n`;
}

/**
 * The text of a note that one of the keys signed. Signatures of others are passed over; one that claims a key of ours
 * and does not verify refuses the note.
 */
export function openNote(note: string, keys: readonly NoteKey[]): { text: string; key: NoteKey } | undefined {
  const parsed = parseNote(note);
  if (!parsed) return undefined;
  let found: NoteKey | undefined;
  for (const { name, keyId, signature } of parsed.signatures) {
    const key = keys.find((each) => each.name === name && keyIdOf(each) === keyId);
    if (!key) continue;
    if (!isSignedBy(parsed.text, signature, key.publicKey)) return undefined;
    found ??= key;
  }
  return found && { text: parsed.text, key: found };
}

/** The text that a note says, whoever signed it. */
export function unverifiedText(note: string): string | undefined {
  return parseNote(note)?.text;
}

/** `name+hash+key`, as Go's note package and other verifiers take a key. */
export function formatVerifierKey(key: NoteKey): string {
  return `${key.name}+${keyIdOf(key)}+${Buffer.from([ED25519, ...key.publicKey]).toString('base64')}`;
}

/** Standard base64 with padding, as one writes it and no other way. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

function parseNote(note: string): { text: string; signatures: readonly Signature[] } | undefined {
  if (note.length > MAX_NOTE_CHARACTERS || !note.isWellFormed() || hasControls(note)) return undefined;
  const end = note.lastIndexOf('\n\n');
  if (end < 1 || !note.endsWith('\n')) return undefined;
  const lines = note.slice(end + 2, -1).split('\n');
  if (lines.length > MAX_SIGNATURES) return undefined;
  const signatures = lines.flatMap((line) => parseSignature(line) ?? []);
  if (signatures.length !== lines.length) return undefined;
  return { text: note.slice(0, end + 1), signatures };
}

function parseSignature(line: string): Signature | undefined {
  const [, name = '', encoded = ''] = SIGNATURE_LINE.exec(line) ?? [];
  const bytes = decodeBase64(encoded);
  if (!KEY_NAME.test(name) || !bytes || bytes.length <= KEY_ID_BYTES) return undefined;
  const keyId = Buffer.from(bytes.subarray(0, KEY_ID_BYTES)).toString('hex');
  return { name, keyId, signature: bytes.subarray(KEY_ID_BYTES) };
}

function keyIdOf({ name, publicKey }: NoteKey): string {
  const hash = createHash('sha256').update(`${name}\n`).update(Uint8Array.of(ED25519)).update(publicKey);
  return hash.digest('hex').slice(0, KEY_ID_BYTES * 2);
}

function isSignedBy(text: string, signature: Uint8Array, publicKey: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES || publicKey.length !== KEY_BYTES) return false;
  const key = createPublicKey({ key: Buffer.concat([ED25519_SPKI, publicKey]), format: 'der', type: 'spki' });
  return verify(null, Buffer.from(text), key, signature);
}

/** Returns true if a text has ASCII control characters other than the newline. */
function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 && code !== 0x0a) return true;
  }
  return false;
}
