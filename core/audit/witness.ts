import { formatInstant } from '../base/time.ts';
import { type Checkpoint, openCheckpoint, readCheckpoint } from './checkpoint.ts';
import { type Finding, stateText } from './findings.ts';
import { type LogKey, leadsTo } from './log-keys.ts';
import { provesConsistency } from './tree.ts';

/** A checkpoint that somebody verified and keeps, to hold later ones against. */
export interface StoredNote {
  /** The signed note. */
  readonly note: string;
  /** The key that signed it, raw; it was named by the control plane the first time, and is pinned since. */
  readonly key: Uint8Array;
  readonly at: number;
}

/** The control plane as the source of its log. Its answers are untrusted. */
export interface LogSource {
  keys(): Promise<readonly LogKey[]>;
  /**
   * Returns the proof that the log of one size begins with that of a smaller one, or a text that says why there is no proof.
   */
  proof(from: number, to: number): Promise<readonly Uint8Array[] | string>;
}

/** The note to store from now on where a checkpoint agrees with the stored one; otherwise the finding. */
export type WitnessResult = { readonly kept: StoredNote } | { readonly finding: Finding };

const MAX_QUOTED = 200;

/**
 * Holds a checkpoint against the one that was kept before: its log, its key, and that the larger log begins with the
 * smaller. An older one that agrees leaves what was kept.
 *
 * @param origin of the log that is meant
 * @param by who kept it: `This node`
 * @throws what `source` throws
 */
export async function witness(note: string, { origin, kept, source, by, now }: WitnessContext): Promise<WitnessResult> {
  const said = readCheckpoint(note);
  if (!said) return withFinding('signature', 'What was sent as a checkpoint of the audit log is none.');
  if (said.origin !== origin) {
    return withFinding(
      'other_log',
      `A checkpoint of the log ${singleLine(said.origin)} was sent; this one is ${origin}.`,
    );
  }
  const signer = kept && isSignedBy(note, origin, kept.key) ? kept.key : await otherSigner(note, origin, kept, source);
  if ('finding' in signer) return signer;
  const agreed = { note, key: signer, at: now };
  const before = kept && readCheckpoint(kept.note);
  if (!kept || !before) return { kept: agreed };
  const saw = stateText({ ...before, at: kept.at, by });
  if (said.size === before.size) {
    return isSameRoot(said, before) ? { kept: agreed } : twoHistories(`${saw} with another root than is sent now`);
  }
  const [from, to] = said.size < before.size ? [said, before] : [before, said];
  const proof = from.size === 0 ? 'a log without entries is sent' : await source.proof(from.size, to.size);
  if (typeof proof === 'string') return shortened(saw, said, proof);
  if (!provesConsistency(proof, from, to)) return twoHistories(`${saw}; those of the ${said.size} sent now are others`);
  return { kept: said.size > before.size ? agreed : kept };
}

export interface WitnessContext {
  readonly origin: string;
  readonly kept: StoredNote | undefined;
  readonly source: LogSource;
  readonly by: string;
  readonly now: number;
}

/** At first a key that the control plane names and that is in use; later one to which the pinned key leads. */
async function otherSigner(
  note: string,
  origin: string,
  kept: StoredNote | undefined,
  source: LogSource,
): Promise<Uint8Array | { readonly finding: Finding }> {
  const keys = await source.keys();
  const noteKeys = keys.map(({ publicKey }) => ({ name: origin, publicKey }));
  const signer = openCheckpoint(note, noteKeys)?.key.publicKey;
  if (!signer)
    return withFinding(
      'signature',
      'The checkpoint is signed by none of the keys that the control plane names as its own.',
    );
  const until = keys.find(({ publicKey }) => isSame(publicKey, signer))?.until;
  const name = base64(signer);
  if (until !== undefined && !kept) {
    return withFinding(
      'signature',
      `The checkpoint is signed by ${name}, whose time was over on ${formatInstant(until)}.`,
    );
  }
  if (!kept || leadsTo(kept.key, signer, keys)) return signer;
  return withFinding(
    'key_changed',
    `The checkpoint is signed by ${name}, not by ${base64(kept.key)} as before, and that key did not name it as the next.`,
  );
}

function isSignedBy(note: string, origin: string, publicKey: Uint8Array): boolean {
  return openCheckpoint(note, [{ name: origin, publicKey }]) !== undefined;
}

function shortened(saw: string, { size }: Checkpoint, why: string): { readonly finding: Finding } {
  const message = `${saw}; the control plane signed ${size} and does not show that they belong together (${singleLine(why)}): the end of its log was cut, or an older database was restored.`;
  return withFinding('shortened', message);
}

function twoHistories(what: string): { readonly finding: Finding } {
  const message = `${what}: there are two histories. Either an older database was restored and used since, or somebody is shown another log.`;
  return withFinding('forked', message);
}

function withFinding(code: Finding['code'], message: string): { readonly finding: Finding } {
  return { finding: { code, message } };
}

/** Words of others, in one line. */
function singleLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ').slice(0, MAX_QUOTED);
}

function isSameRoot(one: Checkpoint, other: Checkpoint): boolean {
  return isSame(one.root, other.root);
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
