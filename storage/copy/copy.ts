import { rootAt } from '../../core/audit/keep-checkpoints.ts';
import { unavailable } from '../unavailable.ts';
import { type Contents, PARTS, type Part, type Rows } from './contents.ts';
import type { CopySource, CopyTarget, TargetState } from './copy-ends.ts';
import { difference, digestsOf, strays, type WorkspaceDigest } from './digest.ts';
import { copiedElsewhere } from './move-note.ts';

export interface CopyOptions {
  readonly source: CopySource;
  readonly target: CopyTarget;
  /** Whose records they are, as the origins of its logs say. */
  readonly installation: string;
  /** Names the keys that they are written with. */
  readonly keys: string;
  readonly now: number;
  /** Called once both are the same, before control planes can start on the new one. */
  whole?(written: Contents): Promise<void>;
  progress(step: Progress): void;
}

export interface Progress {
  readonly doing: 'copy' | 'compare';
  /** Entries of the logs. */
  readonly entries: number;
  readonly of: number;
}

export interface CopyResult {
  readonly workspaces: readonly WorkspaceDigest[];
  /** Where what was in the place of the target is now. */
  readonly aside: string | undefined;
}

/**
 * Copies all that a store holds to another one, reads both back, and has control planes start on the new one alone. At no
 * time can they start on both. Killed anywhere, none starts on a target that is not whole, and the same call goes on by
 * beginning anew.
 *
 * @throws StoreError `unavailable` that says what is in the way; then the source is as it was
 */
export async function copyStore(options: CopyOptions): Promise<CopyResult> {
  const { source, target, installation, keys, now, progress } = options;
  const before = await source.moved();
  const found = await target.find();
  if (before && (before.to !== target.place || (before.done && found.is !== 'unfinished'))) {
    throw unavailable(copiedElsewhere(source.place, before));
  }
  requireFree(found, target.place, installation);
  const moved = { to: target.place, at: before?.at ?? now };
  await source.hold({ ...moved, done: before?.done ?? false });
  try {
    if (found.is === 'retired') await requireWithin(found.contents, source, target.place);
    await target.begin({ installation, from: source.place, at: now }, keys);
    await copyAll(source, target, progress);
    const written = await target.written();
    const workspaces = await comparedDigests(source, written, progress);
    await options.whole?.(written);
    await source.retire({ ...moved, done: true });
    return { workspaces, aside: await target.finish() };
  } catch (error) {
    if (!before?.done && !(await source.moved())?.done) await source.release();
    throw error;
  }
}

/** @throws StoreError `unavailable` */
function requireFree(found: TargetState, place: string, installation: string): void {
  if (found.is === 'used') {
    throw unavailable(`${place} is not empty, so nothing was changed: name an empty one`);
  }
  if (found.is === 'unfinished' && found.mark.installation !== installation) {
    throw unavailable(
      `${place} has the begun copy of another installation, from ${found.mark.from}, so nothing was changed: name another one, or empty it`,
    );
  }
}

/** Requires that overwriting a database that was moved away from loses nothing. @throws StoreError `unavailable` */
async function requireWithin(old: Contents, source: Contents, place: string): Promise<void> {
  const lost = await notWithin(old, source);
  if (lost === undefined) return;
  throw unavailable(
    `${place} was moved away from once, but has what is not here (${lost}), so nothing was changed: name another one`,
  );
}

/** Describes what a store has that another one lacks; undefined if each of its logs is the beginning of the other's. */
async function notWithin(old: Contents, current: Contents): Promise<string | undefined> {
  const sizes = new Map((await current.heads()).map(({ name, size }) => [name, size]));
  for (const { name, size } of await old.heads()) {
    const has = sizes.get(name) ?? 0;
    if (has < size) return `${size - has} more ${size - has === 1 ? 'entry' : 'entries'} of the log of ${name}`;
    const [one, other] = [await rootAt(old.tree(name), size), await rootAt(current.tree(name), size)];
    if (Buffer.compare(one, other) !== 0) return `another log of ${name}`;
  }
  return undefined;
}

async function copyAll(source: CopySource, target: CopyTarget, progress: CopyOptions['progress']): Promise<void> {
  const heads = await source.heads();
  const of = entriesIn(heads);
  let entries = 0;
  for (const head of heads) {
    await target.addWorkspace(head);
    for (const part of PARTS) {
      for await (const page of pagesOf<typeof part>(source.rows(head.name, part))) {
        await target.write(head, part, page);
        if (part === 'log') entries += page.length;
        progress({ doing: 'copy', entries, of });
      }
    }
  }
}

/** Rows written at once. */
const PAGE_ROWS = 500;
/** Entries and bodies take most of it; an entry alone may have more. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** Rows in pages that a store takes at once. */
async function* pagesOf<P extends Part>(rows: Iterable<Rows[P]> | AsyncIterable<Rows[P]>): AsyncGenerator<Rows[P][]> {
  let page: Rows[P][] = [];
  let bytes = 0;
  for await (const row of rows) {
    page.push(row);
    bytes += sizeOf(row);
    if (page.length < PAGE_ROWS && bytes < PAGE_BYTES) continue;
    yield page;
    page = [];
    bytes = 0;
  }
  if (page.length > 0) yield page;
}

function sizeOf(row: Rows[Part]): number {
  if ('entry' in row) return row.entry.length;
  return 'body' in row ? (row.body?.length ?? 0) : 0;
}

/** Reads both, side by side. @throws StoreError `unavailable` where they differ */
async function comparedDigests(
  source: CopySource,
  written: Contents,
  progress: CopyOptions['progress'],
): Promise<WorkspaceDigest[]> {
  const of = entriesIn(await source.heads());
  const equal: WorkspaceDigest[] = [];
  let entries = 0;
  const [left, right] = [digestsOf(source), digestsOf(written)];
  for (;;) {
    const [{ value: one }, { value: other }] = [await left.next(), await right.next()];
    if (!one && !other) break;
    const found = difference(one, other);
    if (found !== undefined) {
      throw unavailable(
        `what was copied is not what is here: ${found}. Somebody writes to one of them: end every meshd, and copy again`,
      );
    }
    if (one) equal.push(one);
    entries += one ? one.head.size : 0;
    progress({ doing: 'compare', entries, of });
  }
  for (const [contents, place] of [[source, 'what is copied'] as const, [written, 'the copy'] as const]) {
    const stray = strays(equal, await contents.counts());
    if (stray !== undefined) throw unavailable(`${stray} of ${place}: mesh audit verify says more`);
  }
  return equal;
}

function entriesIn(heads: Awaited<ReturnType<Contents['heads']>>): number {
  return heads.reduce((sum, { size }) => sum + size, 0);
}
