import { readCheckpoint } from '../audit/checkpoint.ts';
import { makeCheckpoint, rootAt } from '../audit/keep-checkpoints.ts';
import { consistencyProof, peaksOf, provesConsistency } from '../audit/tree.ts';
import { MeshError } from '../base/errors.ts';
import type { AuditTree } from '../base/ports.ts';
import type { AssessmentRecord } from '../compliance/assessment-record.ts';
import type { NetworkServices } from '../state/services.ts';

/** The part of a log that evidence rests on: up to the entry of the assessment, whenever it is exported. */
export interface LogPart {
  readonly tree: AuditTree;
  /** The newest entry before the period, or the first of all: that none of the period is missing can be seen. */
  readonly firstSeq: number;
  /** The entry of the assessment. */
  readonly lastSeq: number;
  /** The revision that stored the assessment. */
  readonly revision: number;
  /** The root of the log up to its last entry. */
  readonly root: Uint8Array;
  /** Hashes of the complete subtrees before the first entry, the largest first: with the entries they make up the root. */
  readonly before: readonly Uint8Array[];
  /** Signed, with that root. */
  readonly checkpoint: string;
}

type Services = Pick<NetworkServices, 'store' | 'clock' | 'keys'>;

/**
 * Nothing is signed that contradicts the checkpoints of the log.
 *
 * @throws MeshError `unavailable` where it does, or where the log does not tell of the assessment
 */
export async function logPartOf(services: Services, workspace: string, record: AssessmentRecord): Promise<LogPart> {
  const { store, keys } = services;
  const newest = readCheckpoint((await makeCheckpoint(services, workspace)).note);
  const tree = store.auditTree(workspace);
  const { createdAt, kind, name, spec } = record;
  const [entry] = await store.audit(workspace, {
    from: createdAt,
    to: createdAt,
    kind,
    name,
    type: 'commit',
    limit: 1,
  });
  if (!newest || !entry?.commit) {
    throw new MeshError(
      'unavailable',
      `The audit log does not tell of the assessment ${record.uid}: verify the log (mesh audit verify).`,
    );
  }
  const size = entry.seq + 1;
  const root = await rootAt(tree, size);
  const proof = await consistencyProof(size, newest.size, (ids) => tree.hashes(ids));
  if (!provesConsistency(proof, { size, root }, newest)) {
    throw new MeshError(
      'unavailable',
      'The audit log is not consistent with its newest checkpoint: see docs/audit.md.',
    );
  }
  const [before] = await store.audit(workspace, { to: spec.from - 1, limit: 1 });
  const firstSeq = Math.min(before?.seq ?? 0, entry.seq);
  return {
    tree,
    firstSeq,
    lastSeq: entry.seq,
    revision: entry.commit.revision,
    root,
    before: await tree.hashes(peaksOf(firstSeq)),
    checkpoint: keys.logs.sign({ origin: keys.logs.originOf(workspace), size, root }),
  };
}
