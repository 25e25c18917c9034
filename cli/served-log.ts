import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Checkpoint, openCheckpoint, readCheckpoint } from '../core/audit/checkpoint.ts';
import { type Finding, rootOfLeaves } from '../core/audit/findings.ts';
import { digestInLeaf } from '../core/audit/leaf.ts';
import type { LogKey } from '../core/audit/log-keys.ts';
import { decodeBundle, decodeTile, type Tile, tilePath, tilesOf } from '../core/audit/tiles.ts';
import { leafHash } from '../core/audit/tree.ts';
import { SYSTEM_WORKSPACE } from '../core/base/ids.ts';
import { callApi } from './api.ts';
import { CliError, EXIT } from './exit.ts';
import type { Target } from './session.ts';
import { callInWorkspace, existingWorkspace } from './workspace.ts';

/** A log as a control plane serves it, with everything of it computed anew. */
export interface ServedLog extends Checkpoint {
  readonly note: string;
  readonly leaves: readonly Uint8Array[];
  /** The instant of the newest entry; undefined where entries could not be read. */
  readonly newest: number | undefined;
  /** True if entries were read; false if only their hashes were. */
  readonly hasEntries: boolean;
  readonly findings: readonly Finding[];
}

const INSTALLATION = 'installation';
/** Entries that are read at most: their hashes, which are kept, have 32 bytes each. */
const MAX_READ = 10_000_000;
const MAX_KEYS = 1_000;
const MAX_FINDINGS = 100;
/** The last part of an origin, which names the log in paths. */
const WORKSPACE = /\/(w_\w{1,60})$/;
const WORKSPACE_ID = /^w_\w{1,60}$/;
const checkpointShape = z.object({ note: z.string() });
const keysShape = z.object({
  items: z
    .array(
      z.object({
        publicKey: z.string(),
        from: z.iso.datetime(),
        until: z.iso.datetime().nullable(),
        endorsement: z.string().nullish(),
      }),
    )
    .max(MAX_KEYS),
});

/**
 * Reads the log of a workspace, or that of the installation, up to its newest checkpoint.
 *
 * @throws CliError
 */
export async function readServedLog(target: Target, ofInstallation: boolean): Promise<ServedLog> {
  const request = { method: 'get', path: '/api/v1/audit/checkpoint' } as const;
  const answer = ofInstallation
    ? await callApi({ ...target, workspace: undefined }, request)
    : await callInWorkspace(target, request);
  const { note = '' } = checkpointShape.safeParse(answer).data ?? {};
  const said = readCheckpoint(note);
  const workspace = said && WORKSPACE.exec(said.origin)?.[1];
  // A platform administrator who names no workspace receives the checkpoint of the installation.
  if (workspace === SYSTEM_WORKSPACE && !ofInstallation && target.workspace === undefined) {
    return readServedLog({ ...target, workspace: await existingWorkspace(target) }, false);
  }
  if (!said || workspace === undefined) {
    throw new CliError(`${target.server} answered a checkpoint that is none.`, EXIT.negative);
  }
  const meant = ofInstallation ? SYSTEM_WORKSPACE : target.workspace;
  // Only the control plane can resolve other names of the workspace.
  if (meant !== undefined && WORKSPACE_ID.test(meant) && meant !== workspace) {
    const message = `${target.server} answered the checkpoint of ${said.origin}, which is not the log of ${meant}.`;
    throw new CliError(message, EXIT.negative);
  }
  if (said.size > MAX_READ) {
    const message = `${target.server} says that the log has ${said.size} entries; at most ${MAX_READ} are read. Verify its database file, or proofs.`;
    throw new CliError(message, EXIT.negative);
  }
  const reader = new LogReader(target, ofInstallation ? INSTALLATION : workspace);
  await reader.read(said.size);
  const { leaves, newest, hasEntries, findings } = reader;
  if (Buffer.compare(rootOfLeaves(leaves), said.root) !== 0) {
    const what = hasEntries ? 'entries' : 'hashes';
    const message = `The ${what} that ${target.server} serves make up another root than the one it signed for ${said.size} entries.`;
    findings.push({ code: 'root', message });
  }
  return { ...said, note, leaves, newest, hasEntries, findings };
}

/** The public keys that a control plane names, oldest first. @throws CliError */
export async function servedKeys(target: Target): Promise<LogKey[]> {
  const answer = await callApi(target, { method: 'get', path: '/api/v1/audit/keys', anonymous: true });
  const { data } = keysShape.safeParse(answer);
  if (!data) throw new CliError(`${target.server} answered keys that are none.`, EXIT.negative);
  return data.items.map(({ publicKey, from, until, endorsement }) => ({
    publicKey: Buffer.from(publicKey, 'base64'),
    from: Date.parse(from),
    ...(until !== null && { until: Date.parse(until) }),
    ...(typeof endorsement === 'string' && { endorsement }),
  }));
}

/** Which of the keys signed a checkpoint. */
export function signerOf(note: string, keys: readonly Uint8Array[]): Uint8Array | undefined {
  const name = readCheckpoint(note)?.origin ?? '';
  return openCheckpoint(
    note,
    keys.map((publicKey) => ({ name, publicKey })),
  )?.key.publicKey;
}

class LogReader {
  readonly leaves: Uint8Array[] = [];
  readonly findings: Finding[] = [];
  newest: number | undefined;
  hasEntries = true;
  readonly #target: Target;
  readonly #prefix: string;

  constructor(target: Target, log: string) {
    this.#target = { ...target, workspace: undefined };
    this.#prefix = `/api/v1/audit/logs/${log}`;
  }

  async read(size: number): Promise<void> {
    const [first] = tilesOf('entries', size);
    if (first) this.hasEntries = await this.#mayReadEntries(first);
    for (const tile of tilesOf(this.hasEntries ? 'entries' : 0, size)) {
      const bytes = await this.#get(tilePath(tile));
      if (this.hasEntries) await this.#take(requireWhole(decodeBundle(bytes, tile.width), tile));
      else this.leaves.push(...requireWhole(decodeTile(bytes, tile.width), tile));
    }
  }

  /** A member without the scope checks hashes; what else is refused is told. */
  async #mayReadEntries(first: Tile): Promise<boolean> {
    try {
      await this.#get(tilePath(first));
      return true;
    } catch (error) {
      if (error instanceof CliError && (error.code === 'forbidden' || error.code === 'beyond_delegation')) return false;
      throw error;
    }
  }

  async #take(leaves: readonly Uint8Array[]): Promise<void> {
    for (const data of leaves) {
      const seq = this.leaves.length;
      this.leaves.push(leafHash(data));
      const leaf = parse(data);
      const at = instantIn(leaf);
      if (!leaf || at === undefined || at < (this.newest ?? 0)) {
        this.#find({ code: 'order', message: `Entry ${seq} is no entry, or is older than the one before it.` });
        continue;
      }
      this.newest = at;
      const digest = digestInLeaf(leaf);
      if (digest !== undefined) await this.#checkLong(seq, digest);
    }
  }

  async #checkLong(seq: number, digest: string): Promise<void> {
    const entry = await this.#get(`entry/${seq}`);
    if (createHash('sha256').update(entry).digest('hex') === digest) return;
    const message = `Entry ${seq}: its text is not the one that the log has the digest of.`;
    this.#find({ code: 'entry_changed', message });
  }

  /** Adds a finding, up to a limit: a hostile server could cause any number of them. */
  #find(finding: Finding): void {
    if (this.findings.length < MAX_FINDINGS) this.findings.push(finding);
  }

  async #get(path: string): Promise<Uint8Array> {
    const answer = await callApi(this.#target, { method: 'get', path: `${this.#prefix}/${path}`, asBytes: true });
    if (answer instanceof Uint8Array) return answer;
    throw new CliError(`${this.#target.server} answered ${path} otherwise than in bytes.`, EXIT.unavailable);
  }
}

function requireWhole<T>(parts: readonly T[] | undefined, tile: Tile): readonly T[] {
  if (parts) return parts;
  throw new CliError(
    `${tilePath(tile)} does not hold ${tile.width} entries: the answer was cut or is another.`,
    EXIT.negative,
  );
}

/** Milliseconds that a date can have. */
const MAX_INSTANT = 8.64e15;

function instantIn(leaf: Record<string, unknown> | undefined): number | undefined {
  const at = leaf?.['at'];
  return typeof at === 'number' && Number.isInteger(at) && at >= 0 && at <= MAX_INSTANT ? at : undefined;
}

function parse(data: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(data).toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
