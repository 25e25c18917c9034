import { decodeBase64, type NoteKey, openNote, signNote, unverifiedText } from './note.ts';

/** Checkpoints of C2SP (c2sp.org/tlog-checkpoint): the size and root of a log, as a note that the log signs. */
export interface Checkpoint {
  /** Which log it is of; the name of the key that signs it. */
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
}

const ROOT_BYTES = 32;
/** No log has as many: a checkpoint of more is none, whoever signed it. At a thousand entries a second it takes 30 years. */
export const MAX_LOG_ENTRIES = 1_000_000_000_000;

/** @param privateKey PKCS #8 PEM of `publicKey` */
export function signCheckpoint(checkpoint: Checkpoint, publicKey: Uint8Array, privateKey: string): string {
  return signNote(encode(checkpoint), { name: checkpoint.origin, publicKey }, privateKey);
}

/** A checkpoint of the log that the keys are of, which one of them signed. */
export function openCheckpoint(note: string, keys: readonly NoteKey[]): (Checkpoint & { key: NoteKey }) | undefined {
  const opened = openNote(note, keys);
  const checkpoint = opened && parse(opened.text);
  return checkpoint?.origin === opened?.key.name
    ? checkpoint && opened && { ...checkpoint, key: opened.key }
    : undefined;
}

/**
 * Returns the contents of a checkpoint without a check of its signature, for notes that were verified before they were stored.
 */
export function readCheckpoint(note: string): Checkpoint | undefined {
  const text = unverifiedText(note);
  return text === undefined ? undefined : parse(text);
}

function encode({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`;
}

/** Lines after the third are extensions, which say nothing of the tree. */
function parse(text: string): Checkpoint | undefined {
  const lines = text.slice(0, -1).split('\n');
  const [origin = '', size = '', encoded = ''] = lines;
  const root = decodeBase64(encoded);
  if (lines.includes('') || !/^(0|[1-9]\d{0,12})$/.test(size) || root?.length !== ROOT_BYTES) return undefined;
  return Number(size) <= MAX_LOG_ENTRIES ? { origin, size: Number(size), root } : undefined;
}
