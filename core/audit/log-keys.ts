import { createHash } from 'node:crypto';
import type { Checkpoint } from './checkpoint.ts';
import { openNote, signNote } from './note.ts';

/** A key that signs checkpoints, or did. */
export interface LogKey {
  /** Raw Ed25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly from: number;
  /** Undefined of the key in use. */
  readonly until?: number;
  /** By which the key before it, in its last act, named it as the next: a signed note. */
  readonly endorsement?: string;
}

/** The public side of the keys of all logs of an installation. */
export interface PublicLogKeys {
  /** Returns the first line of the checkpoints of a workspace's log, which is also the name of the key that signs them. */
  originOf(workspace: string): string;
  /** Oldest first; those no longer in use too, because old checkpoints verify with them. */
  readonly keys: readonly LogKey[];
}

/** The keys and heads with which a verifier that cannot sign checks a log. */
export interface LogTrustAnchors extends PublicLogKeys {
  readonly heads: Pick<LogHeads, 'newest'>;
}

/** The keys of all logs of an installation. Private ones stay behind it. */
export interface LogKeys extends LogTrustAnchors {
  sign(checkpoint: Checkpoint): string;
  /** Signs a payload as DSSE does, by the key in use. */
  attest(payloadType: string, payload: Uint8Array): { readonly publicKey: Uint8Array; readonly signature: Uint8Array };
  readonly heads: LogHeads;
}

/** The newest checkpoint that was signed of each log, kept apart from the database that the logs are in. */
export interface LogHeads {
  /** @throws Error where it cannot be read: then nothing is to be signed */
  newest(workspace: string): Promise<string | undefined>;
  /** Durable once it resolves. One of fewer entries than the one that is kept does not replace it. */
  keep(workspace: string, note: string): Promise<void>;
  /** Returns the workspaces that have a stored head. */
  workspaces(): Promise<readonly string[]>;
}

/** A head as it is kept, and when it was. */
export interface StoredHead {
  readonly workspace: string;
  readonly note: string;
  readonly at: number;
}

/** Heads that outlive the process. */
export interface DurableHeads extends LogHeads {
  all(): readonly StoredHead[];
  /** True if a head was ever stored: false at a first start, and after a version that stored none. */
  wereKept(): boolean;
  /** The first ones, all or none, by workspace. */
  begin(notes: ReadonlyMap<string, string>): void;
  /** Puts another in the place of one that is given up, or none. */
  giveUp(workspace: string, instead?: string): void;
}

const LOGS = 'mesh.internal/log';
const INSTALLATION_DIGITS = 16;
/** Signs which key comes next; a name of its own, so that no such note is ever taken for a checkpoint. */
const NEXT_KEY = 'mesh.internal/log-key';

/** @param controlKey which names the installation, as it does to nodes */
export function logOrigin(controlKey: Uint8Array, workspace: string): string {
  const installation = createHash('sha256').update(controlKey).digest('hex').slice(0, INSTALLATION_DIGITS);
  return `${LOGS}/${installation}/${workspace}`;
}

/** Heads for as long as the process lives, and of those that were given. */
export function headsInMemory(): LogHeads {
  const heads = new Map<string, string>();
  return {
    newest: async (workspace) => heads.get(workspace),
    keep: async (workspace, note) => void heads.set(workspace, note),
    workspaces: async () => [...heads.keys()],
  };
}

/** @param by the key that ends, its private part PKCS #8 PEM */
export function endorse(publicKey: Uint8Array, by: { readonly publicKey: Uint8Array; readonly privateKey: string }) {
  return signNote(nextKeyText(publicKey), { name: NEXT_KEY, publicKey: by.publicKey }, by.privateKey);
}

/** Returns true if endorsements lead from one key to another, each key naming the next. @param keys oldest first */
export function leadsTo(
  from: Uint8Array,
  to: Uint8Array,
  keys: readonly Pick<LogKey, 'publicKey' | 'endorsement'>[],
): boolean {
  let reached = from;
  for (const { publicKey, endorsement } of keys) {
    if (endorsement === undefined) continue;
    const opened = openNote(endorsement, [{ name: NEXT_KEY, publicKey: reached }]);
    if (opened?.text === nextKeyText(publicKey)) reached = publicKey;
  }
  return Buffer.compare(reached, to) === 0;
}

function nextKeyText(publicKey: Uint8Array): string {
  return `${NEXT_KEY}\n${Buffer.from(publicKey).toString('base64')}\n`;
}
