import type { components } from '../api/schema.d.ts';
import type { Plan, WorkflowDetail } from '../api/types.ts';
import { ChangedResource } from '../effect/changed-resource.tsx';
import { Checked, readByText } from '../effect/checked.tsx';
import { EffectView } from '../effect/effect-view.tsx';
import { Risk } from '../effect/risk.tsx';
import { texts } from '../texts/texts.ts';
import { views } from '../texts/views.ts';
import { type Fact, Facts } from '../ui/facts.tsx';
import { Lines } from '../ui/lines.tsx';
import { Time } from '../ui/time.tsx';
import { showView } from './frame.tsx';

const words = views.effect;

type Applied = components['schemas']['ApplyNetworkChangeResponse'];
type Answer = Plan | WorkflowDetail | Applied;

showView<Answer>({
  title: words.title,
  Answer: ({ answer }) => {
    if ('plan_id' in answer) return <PlanAnswer plan={answer} />;
    return 'effect' in answer ? <WorkflowAnswer workflow={answer} /> : <AppliedAnswer applied={answer} />;
  },
  placeOf(answer, _args, dashboard) {
    if ('plan_id' in answer) return dashboard ? { page: 'review', href: `${dashboard}/review` } : undefined;
    return { page: 'review', href: 'effect' in answer ? answer.approvalUrl : answer.approval_url };
  },
});

function PlanAnswer({ plan }: { plan: Plan }) {
  const {
    summary,
    read_by: by,
    reading,
    check,
    expectations_hold: hold,
    unmet,
    expires_at: until,
    dry_run: isPreview,
  } = plan;
  const facts: readonly Fact[] = [
    [texts.review.readBy, readByText(by, reading)],
    [texts.review.check, <Checked key="v" check={check} hold={hold} objections={unmet} />],
    [texts.review.expires, <Time key="t" at={until} />],
  ];
  return (
    <Change
      summary={summary}
      state={isPreview ? words.dryRun : words.plan}
      isForAnother={plan.another_person ?? false}
      facts={facts}
      risk={plan.risk_level}
      reasons={plan.risk_reasons}
      change={plan}
      questions={plan.questions}
    />
  );
}

function WorkflowAnswer({ workflow }: { workflow: WorkflowDetail }) {
  const {
    status,
    error,
    read_by: by,
    reading,
    check,
    expectations_hold: hold,
    objections,
    reviewedBy,
    reviewedAt,
    call,
  } = workflow;
  const facts: readonly Fact[] = [
    [words.status, status === 'pending' ? words.pending : error ? `${status}: ${error}` : status],
    [texts.review.askedBy, workflow.requestedBy],
    [texts.review.askedFor, workflow.intent],
    [texts.review.readBy, by && readByText(by, reading)],
    [texts.review.check, !call && <Checked key="v" check={check} hold={hold} objections={objections} />],
    [texts.review.expires, status === 'pending' && <Time key="t" at={workflow.expiresAt} />],
    [texts.review.reviewedBy, reviewedBy && [`${reviewedBy}, `, <Time key="at" at={reviewedAt} />]],
    [texts.review.noteSaid, workflow.note],
    [words.repeats, call && <code key="call">{call.operation}</code>],
  ];
  return (
    <Change
      summary={workflow.summary}
      state={status === 'pending' ? words.waits : undefined}
      isForAnother={false}
      facts={facts}
      risk={workflow.riskLevel}
      reasons={workflow.riskReasons}
      change={workflow}
      questions={[]}
    />
  );
}

interface ChangeProps {
  readonly summary: string;
  readonly state: string | undefined;
  readonly isForAnother: boolean;
  readonly facts: readonly Fact[];
  readonly risk: Plan['risk_level'];
  readonly reasons: readonly string[];
  readonly change: Pick<Plan, 'effect' | 'changes' | 'warnings'>;
  readonly questions: readonly string[];
}

function Change({ summary, state, isForAnother, facts, risk, reasons, change, questions }: ChangeProps) {
  const { effect, changes, warnings } = change;
  return (
    <article class="stack" aria-label={summary}>
      <h2 class="break">{summary}</h2>
      {state && <p>{state}</p>}
      {isForAnother && <p>{words.another}</p>}
      <div class="stack-small">
        <div>
          <Risk level={risk} />
        </div>
        <Lines lines={reasons} />
      </div>
      <Noticed title={texts.review.warnings} lines={warnings} />
      <EffectView effect={effect} />
      <Noticed title={words.asked} lines={questions} />
      <Facts facts={facts} />
      {changes.map((one) => (
        <ChangedResource key={`${one.resource} ${one.name}`} change={one} />
      ))}
    </article>
  );
}

function Noticed({ title, lines }: { title: string; lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <div class="notice warn">
      <strong>{title}</strong>
      <Lines lines={lines} />
    </div>
  );
}

function AppliedAnswer({ applied: { status, message } }: { applied: Applied }) {
  const isWaiting = status === 'pending_approval';
  return (
    <>
      <p>
        <span class={`tag ${isWaiting ? 'warn' : ''}`}>{isWaiting ? words.pending : status}</span>
      </p>
      <p class="break">{isWaiting ? words.waits : message}</p>
    </>
  );
}
