import { useSignal } from '@preact/signals';
import { answer, api } from '../../api/client.ts';
import type { Order, Plan, TypedChange } from '../../api/types.ts';
import { may } from '../../api/workspace.ts';
import { useWorkspaceZone } from '../../api/workspace-zone.ts';
import { ApproverField, useApprovers } from '../../effect/approver-field.tsx';
import { ChangedResource } from '../../effect/changed-resource.tsx';
import { Checked, readByFact } from '../../effect/checked.tsx';
import { FirstRowsGraph } from '../../effect/effect-graph.tsx';
import { EffectView } from '../../effect/effect-view.tsx';
import { Risk } from '../../effect/risk.tsx';
import { OrderList } from '../../orders/order-list.tsx';
import { Quotation } from '../../orders/quotation.tsx';
import { goTo, linkTo } from '../../route/route.ts';
import { useAct } from '../../ui/act.ts';
import { Facts } from '../../ui/facts.tsx';
import { Lines } from '../../ui/lines.tsx';
import { say } from '../../ui/message.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { EditChanges } from './edit-changes.tsx';
import type { Planned } from './planning.ts';
import { typedChanges } from './typed-changes.ts';

interface PlanViewProps {
  readonly planned: Planned;
  /** True where Mesh wrote the changes itself, to open a connection that Reachability was asked about. */
  readonly isSuggested: boolean;
  readonly again: () => void;
  /** It was put forward. */
  readonly applied: () => void;
  readonly planChanges: (changes: readonly TypedChange[]) => void;
  /** Takes the orders of the plan into the form; absent where they are there. */
  readonly editOrders: ((orders: readonly Order[]) => void) | undefined;
}

/** A plan: its orders, its effect, and the ways on: change it, or put it forward. */
export function PlanView({ planned, isSuggested, again, applied, planChanges, editOrders }: PlanViewProps) {
  const { asked, plan } = planned;
  const isEditing = useSignal(false);
  const zone = useWorkspaceZone().value;
  const timeZone = zone.value;
  const { summary, orders, warnings, questions, changes, effect } = plan;
  const isAlready = plan.already === true;
  return (
    <article class="panel stack change" aria-label={summary}>
      <ReadResult of={zone} loading="" />
      <h2 class="break">{orders ? <OrderList orders={orders} label="Orders" timeZone={timeZone} /> : summary}</h2>
      {orders && <Quotation sentence={asked.intent} />}
      {isAlready && <Already madeBy={plan.made_so_by ?? []} />}
      <Facts
        facts={[
          isSuggested ? ['Written by', 'Mesh, as a suggestion of Reachability'] : readByFact(plan),
          [
            'Must hold after it',
            isSuggested && asked.hold && <OrderList key="h" orders={asked.hold} label="Demands" />,
          ],
          ['Check', <Checked key="v" of={plan} objections={plan.unmet} isQuoted={asked.intent !== undefined} />],
          ['Risk', !isAlready && <RiskWhy key="r" plan={plan} />],
          ['Valid until', !isAlready && <Time key="t" at={plan.expires_at} />],
        ]}
      />
      <NotChanged reasons={plan.not_changed ?? []} />
      {warnings.length > 0 && (
        <section class="notice warn">
          <strong>Warnings</strong>
          <Lines lines={warnings} />
        </section>
      )}
      {!isAlready && (
        <>
          <FirstRowsGraph effect={effect} />
          <EffectView effect={effect} isForReview />
        </>
      )}
      {questions.length > 0 && (
        <section class="notice warn">
          <strong>Questions for the approver</strong>
          <Lines lines={questions} />
        </section>
      )}
      {changes.length > 0 && (
        <section class="stack-small">
          <h3>Documents</h3>
          {changes.map((change) => (
            <ChangedResource key={`${change.resource} ${change.name}`} change={change} />
          ))}
        </section>
      )}
      {plan.undo && (
        <details>
          <summary>Orders that undo it</summary>
          <OrderList orders={plan.undo} label="Undo" timeZone={timeZone} />
        </details>
      )}
      {isEditing.value && <EditChanges changes={typedChanges(changes)} plan={planChanges} />}
      <Apply plan={plan} again={again} applied={applied}>
        {orders && editOrders && (
          <button type="button" onClick={() => editOrders(orders)}>
            Edit orders
          </button>
        )}
        {!orders && !isEditing.value && (
          <button type="button" onClick={() => (isEditing.value = true)}>
            Edit changes
          </button>
        )}
      </Apply>
    </article>
  );
}

/** All of it is so already: there is nothing to apply. */
function Already({ madeBy }: { madeBy: readonly string[] }) {
  return (
    <section class="notice ok">
      <strong>
        <span aria-hidden="true">✓</span> Already so
      </strong>
      {madeBy.length === 0 ? (
        <span>It is the default.</span>
      ) : (
        <span class="row">
          By
          {madeBy.map((name) => (
            <a key={name} class="break" href={linkTo('policies', [name])}>
              {name}
            </a>
          ))}
        </span>
      )}
    </section>
  );
}

function NotChanged({ reasons }: { reasons: readonly string[] }) {
  if (reasons.length === 0) return null;
  return (
    <section class="notice warn" aria-label="Not changed">
      <strong>Not changed</strong>
      <Lines lines={reasons} />
    </section>
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
  const isAlready = plan.already === true;
  const mayPutForward = !isAlready && may('intents:apply') && (!isUnmet || may('intents:override'));
  const apply = () =>
    act(async () => {
      const body = { plan_id: plan.plan_id, approved_by: approvers.chosen.value };
      const done = await answer(api.POST('/api/v1/ai/intent/apply', { body }));
      say(done.status === 'executed' ? 'The change is applied.' : 'The change awaits approval.');
      applied();
      goTo(linkTo('review', [done.workflow_id]));
    });
  const isOver = OVER.has(problem.value?.code ?? '');
  return (
    <>
      {!may('intents:apply') && (
        <p class="dim">You can preview changes. Sending them for approval needs the scope intents:apply.</p>
      )}
      {may('intents:apply') && isUnmet && (
        <p class="notice danger">
          {may('intents:override')
            ? 'The effect is not as asked. You may send it for approval all the same (intents:override).'
            : 'The effect is not as asked, so it cannot be sent for approval. Change the orders or the sentence.'}
        </p>
      )}
      {mayPutForward && <ApproverField approvers={approvers} />}
      <ProblemNotice problem={problem.value} />
      {isOver && <p>The network or the plan has changed since. Preview again to see the effect now.</p>}
      <div class="row">
        {mayPutForward && !isOver && (
          <button
            type="button"
            class="primary"
            disabled={isActing.value || approvers.chosen.value === ''}
            onClick={apply}
          >
            Send for approval
          </button>
        )}
        {isOver && (
          <button type="button" class="primary" onClick={again}>
            Preview again
          </button>
        )}
        {children}
      </div>
    </>
  );
}
