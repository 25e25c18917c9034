import type { ComponentChildren } from 'preact';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Redrawn, WorkflowDetail } from '../../api/types.ts';
import { holds } from '../../api/workspace.ts';
import { ChangedResource } from '../../effect/changed-resource.tsx';
import { Checked, readByText } from '../../effect/checked.tsx';
import { EffectGraph } from '../../effect/effect-graph.tsx';
import { EffectView } from '../../effect/effect-view.tsx';
import { groupedRows } from '../../effect/grouped.ts';
import { isUndoOffered, undoOf } from '../../effect/put-back.ts';
import { Risk } from '../../effect/risk.tsx';
import { linkTo } from '../../route/route.ts';
import { texts } from '../../texts/texts.ts';
import { Facts } from '../../ui/facts.tsx';
import { Lines } from '../../ui/lines.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time, withShortTimes } from '../../ui/time.tsx';
import { DrawingView } from './drawing.tsx';
import { SeeAlso } from './see-also.tsx';
import { Since } from './stale.tsx';
import { useDrawing } from './use-drawing.ts';
import { Verdict } from './verdict.tsx';
import { WhoAsked } from './who-asked.tsx';

const words = texts.review;

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
        <a href={linkTo('review')}>← {words.back}</a>
      </p>
      <h2 class="break">{workflow.summary}</h2>
      {workflow.status === 'pending' ? (
        <Pending workflow={workflow} reload={reload} />
      ) : (
        <Decided workflow={workflow} />
      )}
    </article>
  );
}

/** A change that waits, as it is now. */
function Pending({ workflow, reload }: { workflow: WorkflowDetail; reload: () => void }) {
  const drawing = useDrawing(workflow.id);
  const { shown, isOutdated, loaded, showNewest } = drawing.value;
  const drawn = shown?.drawing ?? null;
  return (
    <>
      <Told workflow={workflow} redrawn={shown} />
      <ReadResult of={loaded} loading={words.drawing} />
      {isOutdated && (
        <div class="notice warn" role="status">
          <strong>▲ {words.outdated}</strong>
          <button type="button" onClick={showNewest}>
            {words.drawAgain}
          </button>
        </div>
      )}
      <Impossible workflow={workflow} title={words.cannotDraw} why={shown?.problem} />
      <Impossible workflow={workflow} title={words.cannotApprove} why={drawn?.refusal} />
      {drawn && <DrawingView workflow={workflow} drawing={drawn} />}
      {shown && !drawn && <Stored workflow={workflow} />}
      <Since workflow={workflow} />
      <SeeAlso workflow={workflow} drawing={drawn} />
      <Verdict workflow={workflow} redrawn={shown} isOutdated={isOutdated} reload={reload} />
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
      {holds('intents:plan') && <a href={linkTo('change', [], { intent: workflow.intent })}>{words.planAgain}</a>}
    </div>
  );
}

/** A change that was decided, as it was shown to whoever did. */
function Decided({ workflow }: { workflow: WorkflowDetail }) {
  const { id, status, call, reviewedAt, requestedAt } = workflow;
  return (
    <>
      <Told workflow={workflow} redrawn={undefined} />
      <Stored workflow={workflow} />
      <SeeAlso workflow={workflow} drawing={null} />
      {status === 'executed' && !call && isUndoOffered(reviewedAt ?? requestedAt) && <Undo id={id} />}
    </>
  );
}

/** The effect as it was when the change was put forward. */
function Stored({
  workflow: { effect, riskLevel, riskReasons, warnings, call, changes, status },
}: {
  workflow: WorkflowDetail;
}) {
  return (
    <>
      <EffectView effect={effect} />
      {call && status === 'pending' && <p class="dim">{words.callAsAsked}</p>}
      <section class="stack-small">
        <h3>
          {words.risk} <Risk level={riskLevel} />
        </h3>
        <Lines lines={riskReasons} />
      </section>
      {warnings.length > 0 && (
        <section class="notice warn">
          <strong>{words.warnings}</strong>
          <Lines lines={warnings} />
        </section>
      )}
      {call && (
        <section class="stack-small">
          <h3>
            {words.call} <code>{call.operation}</code>
          </h3>
          <pre class="code">{JSON.stringify(call.input, null, 2)}</pre>
        </section>
      )}
      <div class="stack-small">
        <EffectGraph opens={groupedRows(effect.opened)} closes={groupedRows(effect.closed)} />
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

/** Who asked, in which words, who read them, and who decides. */
function Told({ workflow, redrawn }: { workflow: WorkflowDetail; redrawn: Redrawn | undefined }) {
  const { status, error, requestedBy, requestedAt, intent, read_by: by, reading, call } = workflow;
  const isPending = status === 'pending';
  return (
    <Facts
      facts={[
        [words.askedBy, <WhoAsked key="who" actor={requestedBy} at={requestedAt} />],
        [words.askedFor, intent !== workflow.summary && <q key="intent">{intent}</q>],
        [words.readBy, by && readByText(by, reading)],
        [words.check, !call && <Verdicts key="check" workflow={workflow} redrawn={redrawn} />],
        [words.against, isPending && redrawn && words.revision(redrawn.base_revision, redrawn.revision)],
        [words.askedOf, workflow.approvalAskedOf],
        [words.peers, workflow.peers.length > 0 && <Peers key="peers" workflow={workflow} />],
        [words.status, !isPending && (error ? `${status}: ${error}` : status)],
        [words.awaits, workflow.awaits],
        [words.expires, isPending && <Time key="expires" at={workflow.expiresAt} />],
        [words.reviewedBy, workflow.reviewedBy && <ReviewedBy key="reviewed" workflow={workflow} />],
        [words.noteSaid, workflow.note],
      ]}
    />
  );
}

/** Which devices bear the names that the change speaks of, and since when. */
function Peers({ workflow: { peers } }: { workflow: WorkflowDetail }) {
  const lineOf = ({ name, publicKey, renames }: WorkflowDetail['peers'][number]) =>
    [words.withKey(name, publicKey), ...renames.map((rename) => words.was(withShortTimes(rename)))].join('; ');
  return <Lines lines={peers.map(lineOf)} />;
}

function ReviewedBy({
  workflow: { reviewedBy, reviewedAt, selfApproved },
}: {
  workflow: WorkflowDetail;
}): ComponentChildren {
  return (
    <>
      {reviewedBy}, <Time at={reviewedAt} />
      {selfApproved && ` (${words.selfApproved})`}
    </>
  );
}

/** Whether the effect was held against what was asked, or put forward all the same. */
function Verdicts({ workflow, redrawn }: { workflow: WorkflowDetail; redrawn: Redrawn | undefined }) {
  const { check, expectations_hold: hold, objections } = redrawn?.drawing ?? workflow;
  return (
    <>
      <Checked check={check} hold={hold} objections={objections} />
      {workflow.overridden && <p>{words.overridden}</p>}
    </>
  );
}
