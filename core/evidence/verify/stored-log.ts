import { rootOfLeaves, type StoredLogState, stateText } from '../../audit/findings.ts';
import { GrowingTree, peaksOf } from '../../audit/tree.ts';
import type { EvidenceFinding } from './findings.ts';
import type { LogLines } from './log.ts';

/** A log that somebody keeps, which the one of an archive has to agree with. */
export type StoredLog = StoredLogState & { readonly origin: string };

/**
 * The result of comparing the log of an archive with a stored one: a contradiction, or a note on what was and was not shown.
 */
export type LogComparison = { readonly finding: EvidenceFinding } | { readonly note: string };

/**
 * Holds the entries of an archive against a log that was seen, as far as they and the hashes before them reach:
 *
 *   seen 40, archive 10 to 90    its entries make up the root at 40
 *   seen 95, archive 10 to 90    only the hashes of all entries that were seen show it, or a proof of the control plane
 *   seen  7, archive 10 to 90    of what is before 10 there are the hashes of 0 to 7 and 8 to 9: 7 lies within the first
 *
 * @param origin of the log of the archive
 */
export function compareWithStored(seen: StoredLog, origin: string, log: LogLines): LogComparison {
  const saw = stateText(seen);
  if (seen.origin !== origin) {
    const message = `The archive is of the log ${origin}, and ${seen.by.toLowerCase()} keeps ${seen.origin} of that workspace: it was rewritten under another name, or the control plane was set up anew.`;
    return { finding: { code: 'other_log', message } };
  }
  const agrees = agreement(seen, log);
  if (agrees === undefined) {
    const note = `${saw}; the archive has the log ${log.firstSeq === 0 ? '' : `from entry ${log.firstSeq} `}up to entry ${log.size - 1}. Whether they belong together cannot be shown from it: mesh audit verify --evidence FILE asks the control plane.`;
    return { note };
  }
  if (agrees) return { note: agreed(saw, seen.size, log.size) };
  const message = `${saw}, and the log of the archive is not the same there: there are two histories. The archive was made from another one, or this one was changed since.`;
  return { finding: { code: 'forked', message } };
}

function agreed(saw: string, seen: number, size: number): string {
  return seen > size
    ? `${saw}: the log of the archive is their beginning.`
    : `${saw}: the log of the archive begins with them.`;
}

/** Undefined where what there is shows neither. */
function agreement(seen: StoredLogState, log: LogLines): boolean | undefined {
  if (seen.size > log.size) return seen.leaves && isSame(rootOfLeaves(seen.leaves, log.size), log.root());
  const then = log.roots.get(seen.size);
  if (then) return isSame(then, seen.root);
  return agreementBefore(seen, log);
}

/** From the hashes of the subtrees before the first entry. */
function agreementBefore(seen: StoredLogState, { firstSeq, before }: LogLines): boolean | undefined {
  const peaks = peaksOf(firstSeq).map(({ level, index }) => [index * 2 ** level, (index + 1) * 2 ** level] as const);
  const whole = peaks.filter(([, end]) => end <= seen.size);
  const isCovered = (whole.at(-1)?.[1] ?? 0) === seen.size;
  if (isCovered) return isSame(new GrowingTree(seen.size, before.slice(0, whole.length)).root(), seen.root);
  const { leaves } = seen;
  if (!leaves) return undefined;
  const differs = whole.some(([from, to], at) => !isSame(rootOfLeaves(leaves.slice(from, to)), before[at]));
  return differs ? false : undefined;
}

function isSame(one: Uint8Array, other: Uint8Array | undefined): boolean {
  return other !== undefined && Buffer.compare(one, other) === 0;
}
