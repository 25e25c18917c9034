import type { Commit } from '../base/ports.ts';
import { formatInstant } from '../base/time.ts';
import { commitView } from '../history/blame.ts';
import { commitAt } from '../history/commits-between.ts';
import type { NetworkServices } from '../state/services.ts';
import type { NetworkChangeRecord } from './changes.ts';
import type { FailingInterval, FlipCause } from './control-result.ts';
import type { Cause, Span } from './timeline.ts';

/** Resources told of one change. */
const MAX_RESOURCES = 10;

/** Spans in which a check failed, with what began and ended each; the first so many are looked up. */
export async function failingOf(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  spans: readonly Span[],
  limit: number,
): Promise<FailingInterval[]> {
  const failing = spans.flatMap((span, index) => (span.holds === false ? [{ span, next: spans[index + 1] }] : []));
  return Promise.all(
    failing.map(async ({ span, next }, index) => ({
      from: formatInstant(span.from),
      to: formatInstant(span.to),
      facts: span.facts,
      begun_by: index < limit && span.begun ? await causeView(services, workspace, span.begun) : null,
      ended_by: index < limit && next?.begun ? await causeView(services, workspace, next.begun) : null,
    })),
  );
}

async function causeView(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  { at, revision, ended }: Cause,
): Promise<FlipCause> {
  if (ended) return { ...NOBODY, at: formatInstant(at), resources: ended.map((what) => `ended ${what}`) };
  const commit = await commitAt(services, workspace, revision);
  return commit ? viewOf(commit) : { ...NOBODY, at: formatInstant(at), revision };
}

function viewOf(commit: Commit): FlipCause {
  const { at, revision, actor, reason, workflow_id, reviewed_by, resources } = commitView(commit);
  const direct = commit.direct === true;
  return {
    at,
    revision,
    actor,
    reason,
    workflow_id,
    reviewed_by: reviewed_by || null,
    direct,
    resources: firstOf(resources),
  };
}

/** A change that fails by itself: an interval of one instant. */
export function failingChange(change: NetworkChangeRecord, fault: string): FailingInterval {
  const at = formatInstant(change.at);
  const { revision, actor, reason, workflowId = null, reviewedBy, isDirect: direct, resources } = change;
  const cause = { at, revision, actor, reason, workflow_id: workflowId, reviewed_by: reviewedBy || null, direct };
  return { from: at, to: at, facts: fault, begun_by: { ...cause, resources: firstOf(resources) }, ended_by: null };
}

function firstOf(resources: readonly string[]): readonly string[] {
  const left = resources.length - MAX_RESOURCES;
  return left > 0 ? [...resources.slice(0, MAX_RESOURCES), `${left} more`] : resources;
}

const NOBODY = {
  revision: null,
  actor: null,
  reason: null,
  workflow_id: null,
  reviewed_by: null,
  direct: false,
  resources: [],
};
