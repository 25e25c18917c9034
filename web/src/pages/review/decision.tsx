import type { ComponentChildren } from 'preact';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { RefreshedPreview, RiskLevel, WorkflowDetail } from '../../api/types.ts';
import { holds } from '../../api/workspace.ts';
import { useWorkspaceZone } from '../../api/workspace-zone.ts';
import { actorText } from '../../design/actor-words.ts';
import { ChangedResource } from '../../effect/changed-resource.tsx';
import { Checked, quotedIntent, readByFact } from '../../effect/checked.tsx';
import { FirstRowsGraph } from '../../effect/effect-graph.tsx';
import { EffectView } from '../../effect/effect-view.tsx';
import { isUndoOffered, undoOf } from '../../effect/put-back.ts';
import { Risk } from '../../effect/risk.tsx';
import { OrderList } from '../../orders/order-list.tsx';
import { Quotation } from '../../orders/quotation.tsx';
import { linkTo } from '../../route/route.ts';
import { Code } from '../../ui/code.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Lines } from '../../ui/lines.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { DrawingView } from './drawing.tsx';
import { SeeAlso } from './see-also.tsx';
import { Since } from './stale.tsx';
import { useDrawing } from './use-drawing.ts';
import { Verdict } from './verdict.tsx';
import { WhoAsked } from './who-asked.tsx';

/** One change: who asked for what, what it does, and the decision. */
export function Decision({ id }: { id: string }) {
  const loaded = useLoaded(() => answer(api.GET('/api/v1/workflows/{id}', { params: { path: { id } } })));
  const { reload } = loaded.value;
  return (
    <ReadResult of={loaded.value}>{(workflow) => <DecisionView workflow={workflow} reload={reload} />}</ReadResult>
  );
}

function DecisionView({ workflow, reload }: { workflow: WorkflowDetail; reload: () => void }) {
  return (
    <article class="panel stack decision" aria-label={workflow.summary}>
      <p class="narrow-only">
        <a href={linkTo('review')}>← All requests</a>
      </p>
      {workflow.status === 'pending' ? (
        <Pending workflow={workflow} reload={reload} />
      ) : (
        <Decided workflow={workflow} />
      )}
    </article>
  );
}

/** The requester and the change, in sight wherever the page is scrolled to. */
function Head({ workflow, riskLevel }: { workflow: WorkflowDetail; riskLevel: RiskLevel }) {
  const { orders, summary, intent, requestedBy, requestedAt } = workflow;
  const zone = useWorkspaceZone().value;
  const timeZone = zone.value;
  return (
    <>
      <ReadResult of={zone} loading="" />
      <header class="review-head">
        <h2 class="break">{orders ? <OrderList orders={orders} label="Orders" timeZone={timeZone} /> : summary}</h2>
        <Risk level={riskLevel} />
      </header>
      {orders ? (
        <Quotation sentence={quotedIntent(workflow)} />
      ) : (
        intent !== summary && (
          <p class="break">
            <q>{intent}</q>
          </p>
        )
      )}
      <p class="break">
        <WhoAsked actor={requestedBy} at={requestedAt} />
      </p>
    </>
  );
}

/** A change that waits, as it is now. */
function Pending({ workflow, reload }: { workflow: WorkflowDetail; reload: () => void }) {
  const drawing = useDrawing(workflow.id);
  const { shown, isOutdated, loaded, showNewest } = drawing.value;
  const drawn = shown?.drawing ?? null;
  return (
    <>
      <Head workflow={workflow} riskLevel={drawn?.risk_level ?? workflow.riskLevel} />
      <ReadResult of={loaded} loading="Computing the effect on the network as it is now…" />
      {isOutdated && (
        <div class="notice warn" role="status">
          <strong>▲ The network has just changed. Draw the effect again before you decide.</strong>
          <button type="button" onClick={showNewest}>
            Draw it again
          </button>
        </div>
      )}
      <Impossible workflow={workflow} title="This change can no longer be made" why={shown?.problem} />
      <Impossible workflow={workflow} title="This change cannot be approved as it is now" why={drawn?.refusal} />
      {drawn && <DrawingView workflow={workflow} drawing={drawn} />}
      {shown && !drawn && <Stored workflow={workflow} />}
      <Verdicts workflow={workflow} preview={shown} />
      <Since workflow={workflow} />
      <details>
        <summary>Details</summary>
        <Told workflow={workflow} preview={shown} />
      </details>
      <SeeAlso workflow={workflow} drawing={drawn} />
      <Verdict workflow={workflow} preview={shown} isOutdated={isOutdated} reload={reload} />
    </>
  );
}

/** Why it cannot be approved, and the way on. */
function Impossible({
  workflow,
  title,
  why,
}: {
  workflow: WorkflowDetail;
  title: string;
  why: string | null | undefined;
}) {
  if (!why) return null;
  return (
    <div class="notice danger" role="status">
      <strong>▲ {title}</strong>
      <span class="break">{why}</span>
      {holds('intents:plan') && <a href={linkTo('change', [], { intent: workflow.intent })}>Plan it again</a>}
    </div>
  );
}

/** A change that was decided, as it was shown to whoever did. */
function Decided({ workflow }: { workflow: WorkflowDetail }) {
  const { id, status, call, reviewedAt, requestedAt } = workflow;
  return (
    <>
      <Head workflow={workflow} riskLevel={workflow.riskLevel} />
      <Outcome workflow={workflow} />
      <Stored workflow={workflow} />
      <Verdicts workflow={workflow} preview={undefined} />
      <details>
        <summary>Details</summary>
        <Told workflow={workflow} preview={undefined} />
      </details>
      <SeeAlso workflow={workflow} drawing={null} />
      {status === 'executed' && !call && isUndoOffered(reviewedAt ?? requestedAt) && <Undo id={id} />}
    </>
  );
}

/** The effect as it was when the change was put forward. */
function Stored({ workflow: { effect, riskReasons, warnings, call, changes, status } }: { workflow: WorkflowDetail }) {
  return (
    <>
      <FirstRowsGraph effect={effect} />
      <EffectView effect={effect} />
      {call && status === 'pending' && (
        <p class="dim">
          This is its effect when the call was made. After approval it runs only if it still writes and opens just this;
          else it fails, and the agent must call again.
        </p>
      )}
      {riskReasons.length > 0 && (
        <section class="stack-small">
          <h3>Risk</h3>
          <Lines lines={riskReasons} />
        </section>
      )}
      {warnings.length > 0 && (
        <section class="notice warn">
          <strong>Warnings</strong>
          <Lines lines={warnings} />
        </section>
      )}
      {call && (
        <section class="stack-small">
          <h3>
            Call <code>{call.operation}</code>
          </h3>
          <Code>{JSON.stringify(call.input, null, 2)}</Code>
        </section>
      )}
      <div class="stack-small">
        {changes.map((change) => (
          <ChangedResource key={`${change.resource} ${change.name}`} change={change} />
        ))}
      </div>
    </>
  );
}

/** For ten minutes; from then on the Time page has it. */
function Undo({ id }: { id: string }) {
  const undo = undoOf(id);
  if (!undo) return null;
  return (
    <div class="row">
      <button type="button" onClick={undo.run}>
        {undo.label}
      </button>
    </div>
  );
}

/** How it was decided, or how far the decision is. */
function Outcome({ workflow }: { workflow: WorkflowDetail }) {
  const { status, error, reviewedBy, note, awaits } = workflow;
  return (
    <Facts
      facts={[
        ['Status', error ? `${status}: ${error}` : status],
        ['Still needed', awaits],
        ['Reviewed by', reviewedBy && <ReviewedBy key="reviewed" workflow={workflow} />],
        ['Note', note],
      ]}
    />
  );
}

/** The reader of the words, and the revision that it was planned against. */
function Told({ workflow, preview }: { workflow: WorkflowDetail; preview: RefreshedPreview | undefined }) {
  const isPending = workflow.status === 'pending';
  return (
    <Facts
      facts={[
        readByFact(workflow),
        ['Planned against', isPending && preview && revisionText(preview)],
        ['Approval asked of', workflow.approvalAskedOf],
        ['Peers', workflow.peers.length > 0 && <Peers key="peers" workflow={workflow} />],
        ['Expires', isPending && <Time key="expires" at={workflow.expiresAt} />],
      ]}
    />
  );
}

/** Names of the peers of a change, with earlier ones; the keys that bear them on demand. */
function Peers({ workflow: { peers } }: { workflow: WorkflowDetail }) {
  const renamed = peers.filter(({ renames }) => renames.length > 0);
  return (
    <>
      <span class="break">{peers.map(({ name }) => name).join(', ')}</span>
      {renamed.length > 0 && (
        <Lines
          lines={renamed.map(({ name, renames }) => `${name}: ${renames.map((rename) => `was ${rename}`).join('; ')}`)}
        />
      )}
      <details>
        <summary>Public keys</summary>
        <Lines lines={peers.map(({ name, publicKey }) => `${name}: ${publicKey}`)} />
      </details>
    </>
  );
}

function ReviewedBy({
  workflow: { reviewedBy, reviewedAt, selfApproved },
}: {
  workflow: WorkflowDetail;
}): ComponentChildren {
  return (
    <>
      {reviewedBy && actorText(reviewedBy)}, <Time at={reviewedAt} />
      {selfApproved && ` (their own request)`}
    </>
  );
}

/** Whether the effect was held against what was asked, or put forward all the same. */
function Verdicts({ workflow, preview }: { workflow: WorkflowDetail; preview: RefreshedPreview | undefined }) {
  const { check, expectations_hold, objections } = preview?.drawing ?? workflow;
  const { orders, call, read_by } = workflow;
  if (call) return null;
  if (workflow.status === 'pending' && !preview) return null;
  return (
    <section class="stack-small">
      <h3>Check</h3>
      <Checked
        of={{ check, expectations_hold, read_by, ...(orders && { orders }) }}
        objections={objections}
        isQuoted={quotedIntent(workflow) !== undefined}
      />
      {workflow.overridden && <p>Submitted despite the objections, with intents:override.</p>}
    </section>
  );
}

function revisionText({ base_revision: base, revision: now }: RefreshedPreview): string {
  return base === now ? `revision ${base} (now)` : `revision ${base}; the newest one is ${now}`;
}
