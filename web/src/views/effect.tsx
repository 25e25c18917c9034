import type { components } from '../api/schema.d.ts';
import type { Plan, WorkflowDetail } from '../api/types.ts';
import { actorText } from '../design/actor-words.ts';
import { Chip } from '../design/chip.tsx';
import { ChangedResource } from '../effect/changed-resource.tsx';
import { Checked, quotedIntent, readByFact } from '../effect/checked.tsx';
import { EffectView } from '../effect/effect-view.tsx';
import { Risk } from '../effect/risk.tsx';
import { OrderList } from '../orders/order-list.tsx';
import { type Fact, Facts } from '../ui/facts.tsx';
import { Lines } from '../ui/lines.tsx';
import { Time } from '../ui/time.tsx';
import { showView } from './frame.tsx';

type Applied = components['schemas']['ApplyNetworkChangeResponse'];
type Answer = Plan | WorkflowDetail | Applied;

showView<Answer>({
  title: 'Effect of a change',
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
  const { summary, unmet, expires_at: until, dry_run: isPreview } = plan;
  const facts: readonly Fact[] = [
    readByFact(plan),
    ['Check', <Checked key="v" of={plan} objections={unmet} isQuoted={false} />],
    ['Expires', <Time key="t" at={until} />],
  ];
  return (
    <Change
      summary={summary}
      state={
        isPreview
          ? 'A preview: it cannot be applied.'
          : 'A plan: nothing has changed. Applying it asks for approval in Review.'
      }
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
  const { status, error, objections, reviewedBy, reviewedAt, call } = workflow;
  const quoted = quotedIntent(workflow);
  const facts: readonly Fact[] = [
    ['Status', status === 'pending' ? 'awaiting approval' : error ? `${status}: ${error}` : status],
    ['Asked by', actorText(workflow.requestedBy)],
    ['Asked for', quoted],
    readByFact(workflow),
    ['Check', !call && <Checked key="v" of={workflow} objections={objections} isQuoted={quoted !== undefined} />],
    ['Expires', status === 'pending' && <Time key="t" at={workflow.expiresAt} />],
    ['Reviewed by', reviewedBy && [`${actorText(reviewedBy)}, `, <Time key="at" at={reviewedAt} />]],
    ['Note', workflow.note],
    ['Repeats the call of an agent:', call && <code key="call">{call.operation}</code>],
  ];
  return (
    <Change
      summary={workflow.summary}
      state={status === 'pending' ? 'Awaiting approval. Nothing has changed yet.' : undefined}
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
  readonly change: Pick<Plan, 'effect' | 'changes' | 'warnings' | 'orders'>;
  readonly questions: readonly string[];
}

function Change({ summary, state, isForAnother, facts, risk, reasons, change, questions }: ChangeProps) {
  const { effect, changes, warnings, orders } = change;
  return (
    <article class="stack" aria-label={summary}>
      <h2 class="break">{summary}</h2>
      {orders && <OrderList orders={orders} label="Orders" />}
      {state && <p>{state}</p>}
      {isForAnother && <p>Another person must approve it.</p>}
      <div class="stack-small">
        <div>
          <Risk level={risk} />
        </div>
        <Lines lines={reasons} />
      </div>
      <Noticed title="Warnings" lines={warnings} />
      <EffectView effect={effect} />
      <Noticed title="Open questions" lines={questions} />
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
        <Chip tone={isWaiting ? 'warn' : ''}>{isWaiting ? 'awaiting approval' : status}</Chip>
      </p>
      <p class="break">{isWaiting ? 'Awaiting approval. Nothing has changed yet.' : message}</p>
    </>
  );
}
