import type { Operation, Read, Version, Write } from './history.ts';

/** Revisions from `first` up to `end`, without that. */
interface Span {
  readonly first: number;
  readonly end: number;
}

type Versions = ReadonlyMap<string, readonly Version[]>;

/**
 * Whether a history is linearizable: each operation has one revision, a write its own, so that each saw exactly what the log
 * has at its revision, and none that began after another had ended has one before it. The log gives the order, so it is
 * enough to go through the operations as they began and give each read the first revision that fits.
 *
 * @param log from its beginning
 * @returns a line for each violation
 */
export function violationsIn(operations: readonly Operation[], log: readonly Version[]): string[] {
  const versions = Map.groupBy(
    log.toSorted((a, b) => a.revision - b.revision),
    ({ key }) => key,
  );
  const { made, faults } = writesOf(operations, versions);
  const ended: Ended[] = [];
  let after = 0;
  for (const operation of operations.toSorted((a, b) => a.began - b.began)) {
    for (const [index, each] of [...ended.entries()].reverse()) {
      if (each.at >= operation.began) continue;
      after = Math.max(after, each.revision);
      ended.splice(index, 1);
    }
    const revision =
      operation.op === 'read' ? readAt(operation, after, versions) : writtenAt(operation, after, versions, made);
    if (typeof revision === 'string') faults.push(`${operation.by}: ${revision}`);
    else if (revision !== undefined) ended.push({ at: operation.ended, revision });
  }
  return faults;
}

/** An operation that those that begin later come after. */
interface Ended {
  readonly at: number;
  readonly revision: number;
}

/** Which version each write made. All that was acknowledged is in the log, and all that is in the log was sent. */
function writesOf(operations: readonly Operation[], versions: Versions) {
  const made = new Map<Write, Version>();
  const faults: string[] = [];
  const free = new Set([...versions.values()].flat());
  const writes = operations.filter((operation) => operation.op === 'write');
  for (const write of [...writes.filter(isDone), ...writes.filter(({ outcome }) => outcome === 'unknown')]) {
    const all = versions.get(write.key) ?? [];
    const version = all.find((each, index) => free.has(each) && isOf(each, all[index - 1], write));
    if (version) {
      made.set(write, version);
      free.delete(version);
    } else if (isDone(write)) faults.push(`${write.by}: it was acknowledged, and the log does not have it`);
  }
  for (const { key, revision } of free) faults.push(`the log has ${key} at ${revision}, which nobody wrote`);
  return { made, faults };
}

function isDone({ outcome }: Write): boolean {
  return outcome === 'done' || typeof outcome === 'object';
}

/** A value is told from others by itself, a deletion by what was deleted. */
function isOf({ revision, value }: Version, before: Version | undefined, write: Write): boolean {
  const { outcome, ifRevision } = write;
  if (value !== write.value) return false;
  if (typeof outcome === 'object') return outcome.done === revision;
  return value !== undefined || ifRevision === undefined || before?.revision === ifRevision;
}

/** @returns its revision, undefined where it did nothing that anyone knows of, or what is wrong */
function writtenAt(
  write: Write,
  after: number,
  versions: Versions,
  made: ReadonlyMap<Write, Version>,
): number | undefined | string {
  const version = made.get(write);
  const all = versions.get(write.key) ?? [];
  if (version) {
    if (version.revision <= after) return `it is at ${version.revision}, and ${after} was there before it began`;
    const before = all[all.indexOf(version) - 1];
    return isMet(write, before) ? version.revision : `it was done over ${before ? before.revision : 'nothing'}`;
  }
  if (write.outcome !== 'refused') return undefined;
  const reasons = spansOf(all).filter(({ version: there }) => !isMet(write, there));
  const first = earliest(reasons, after);
  return first ?? `it was refused, and nothing spoke against it from ${after} on`;
}

/** Whether what is there lets the write be done. */
function isMet({ ifRevision, value }: Write, there: Version | undefined): boolean {
  const isThere = there?.value !== undefined;
  if (ifRevision === undefined) return isThere || value !== undefined;
  return ifRevision === 0 ? !isThere : isThere && there.revision === ifRevision;
}

/** @returns the first revision at which this may have been read, or what is wrong */
function readAt({ keys, versions: said }: Read, after: number, versions: Versions): number | string {
  let spans: readonly Span[] = [{ first: after, end: Number.POSITIVE_INFINITY }];
  for (const key of keys) {
    const read = said.find((each) => each.key === key);
    const fitting = spansOf(versions.get(key) ?? []).filter(({ version }) =>
      read ? version?.revision === read.revision && version.value === read.value : version?.value === undefined,
    );
    const from = earliest(spans, 0);
    spans = spans.flatMap((span) => fitting.flatMap((each) => both(span, each) ?? []));
    const what = read ? `${key} of ${read.revision}, ${read.value},` : `no ${key}`;
    if (spans.length === 0) return `${what} was read, which was not so from ${from} on, with the rest that was read`;
  }
  return earliest(spans, 0) ?? after;
}

/** The times of a record: that before its first version, and of each version, deletions too. */
function spansOf(all: readonly Version[]): (Span & { readonly version?: Version })[] {
  const end = (index: number) => all[index]?.revision ?? Number.POSITIVE_INFINITY;
  return [
    { first: 0, end: end(0) },
    ...all.map((version, index) => ({ version, first: version.revision, end: end(index + 1) })),
  ];
}

function both(a: Span, b: Span): Span | undefined {
  const [first, end] = [Math.max(a.first, b.first), Math.min(a.end, b.end)];
  return first < end ? { first, end } : undefined;
}

/** The first revision from `after` on that is in one of the spans. */
function earliest(spans: readonly Span[], after: number): number | undefined {
  const firsts = spans.filter(({ end }) => end > after).map(({ first }) => Math.max(first, after));
  return firsts.length > 0 ? Math.min(...firsts) : undefined;
}
