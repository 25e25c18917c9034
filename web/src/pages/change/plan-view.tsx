import { useSignal } from '@preact/signals';
import { answer, api } from '../../api/client.ts';
import type { Plan, TypedChange } from '../../api/types.ts';
import { may } from '../../api/workspace.ts';
import { ChangedResource } from '../../effect/changed-resource.tsx';
import { Checked, readByText } from '../../effect/checked.tsx';
import { EffectGraph } from '../../effect/effect-graph.tsx';
import { EffectView } from '../../effect/effect-view.tsx';
import { groupedRows } from '../../effect/grouped.ts';
import { Risk } from '../../effect/risk.tsx';
import { goTo, linkTo } from '../../route/route.ts';
import { change as words } from '../../texts/change.ts';
import { useAct } from '../../ui/act.ts';
import { Facts } from '../../ui/facts.tsx';
import { Lines } from '../../ui/lines.tsx';
import { say } from '../../ui/message.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';
import { ApproverField, useApprovers } from './approver-field.tsx';
import { EditChanges } from './edit-changes.tsx';
import type { Planned } from './planning.ts';
import { typedChanges } from './typed-changes.ts';

interface PlanViewProps {
  readonly planned: Planned;
  readonly again: () => void;
  /** It was put forward. */
  readonly applied: () => void;
  readonly planChanges: (changes: readonly TypedChange[]) => void;
}

/** What a plan would do, and the ways on: change it, or put it forward. */
export function PlanView({ planned: { plan }, again, applied, planChanges }: PlanViewProps) {
  const isEditing = useSignal(false);
  const { summary, warnings, questions, changes, effect } = plan;
  return (
    <article class="panel stack change" aria-label={summary}>
      <h2 class="break">{summary}</h2>
      <Facts
        facts={[
          [words.reading, readByText(plan.read_by, plan.reading)],
          [words.check, <Checked key="v" check={plan.check} hold={plan.expectations_hold} objections={plan.unmet} />],
          [words.risk, <RiskWhy key="r" plan={plan} />],
          [words.validUntil, <Time key="t" at={plan.expires_at} />],
        ]}
      />
      {warnings.length > 0 && (
        <section class="notice warn">
          <strong>{words.warnings}</strong>
          <Lines lines={warnings} />
        </section>
      )}
      <EffectView effect={effect} />
      <EffectGraph opens={groupedRows(effect.opened)} closes={groupedRows(effect.closed)} />
      {questions.length > 0 && (
        <section class="notice warn">
          <strong>{words.questions}</strong>
          <Lines lines={questions} />
        </section>
      )}
      <section class="stack-small">
        <h3>{words.changes}</h3>
        {changes.map((change) => (
          <ChangedResource key={`${change.resource} ${change.name}`} change={change} />
        ))}
      </section>
      {isEditing.value && <EditChanges changes={typedChanges(changes)} plan={planChanges} />}
      <Apply plan={plan} again={again} applied={applied}>
        {!isEditing.value && (
          <button type="button" onClick={() => (isEditing.value = true)}>
            {words.edit}
          </button>
        )}
      </Apply>
    </article>
  );
}

function RiskWhy({ plan: { risk_level: level, risk_reasons: reasons } }: { plan: Plan }) {
  return (
    <>
      <Risk level={level} />
      <Lines lines={reasons} />
    </>
  );
}

/** Refusals after which the plan cannot be applied as it is. */
const OVER: ReadonlySet<string> = new Set(['plan_stale', 'plan_expired', 'conflict', 'not_found']);

interface ApplyProps extends Pick<PlanViewProps, 'again' | 'applied'> {
  readonly plan: Plan;
  readonly children: preact.ComponentChildren;
}

/** Puts the plan forward. It leads to where the change is decided. */
function Apply({ plan, again, applied, children }: ApplyProps) {
  const { isActing, problem, act } = useAct();
  const approvers = useApprovers(plan.another_person === true);
  const isUnmet = plan.unmet.length > 0;
  const mayPutForward = may('intents:apply') && (!isUnmet || may('intents:override'));
  const apply = () =>
    act(async () => {
      const body = { plan_id: plan.plan_id, approved_by: approvers.chosen.value };
      const done = await answer(api.POST('/api/v1/ai/intent/apply', { body }));
      say(done.status === 'executed' ? words.executed : words.applied);
      applied();
      goTo(linkTo('review', [done.workflow_id]));
    });
  const isOver = OVER.has(problem.value?.code ?? '');
  return (
    <>
      {!may('intents:apply') && <p class="dim">{words.mayNotApply}</p>}
      {may('intents:apply') && isUnmet && (
        <p class="notice danger">{may('intents:override') ? words.mayOverride : words.mayNotOverride}</p>
      )}
      {mayPutForward && <ApproverField approvers={approvers} />}
      <ProblemNotice problem={problem.value} />
      {isOver && <p>{words.stale}</p>}
      <div class="row">
        {mayPutForward && !isOver && (
          <button type="button" class="primary" disabled={isActing.value} onClick={apply}>
            {words.apply}
          </button>
        )}
        {isOver && (
          <button type="button" class="primary" onClick={again}>
            {words.planAgain}
          </button>
        )}
        {children}
      </div>
    </>
  );
}
