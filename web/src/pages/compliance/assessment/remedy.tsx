import { useSignal } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { changed } from '../../../api/load.ts';
import { may } from '../../../api/workspace.ts';
import { WAITS } from '../../../api/write.ts';
import { ApproverField, useApprovers } from '../../../effect/approver-field.tsx';
import { editsOf } from '../../../effect/computed-edits.ts';
import { EffectView } from '../../../effect/effect-view.tsx';
import { Risk } from '../../../effect/risk.tsx';
import { linkTo } from '../../../route/route.ts';
import { useAct } from '../../../ui/act.ts';
import { say } from '../../../ui/message.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import type { Control, Plan } from '../types.ts';

/** What to do; where policies mend it, a plan of them that is looked at before it goes to Review. */
export function Remedy({ control }: { control: Control }) {
  const { id, title, remediation, changes, effect } = control;
  const plan = useSignal<Plan | undefined>(undefined);
  const { isActing, problem, act } = useAct();
  if (remediation === '' && changes.length === 0) return null;
  const make = () =>
    act(async () => {
      const body = { intent: `Fix control ${id}: ${title}`, ...editsOf(changes), dry_run: false };
      const planned = await answer(api.POST('/api/v1/ai/intent/plan', { body }));
      if ('plan_id' in planned) plan.value = planned;
      else say(WAITS);
    });
  return (
    <section class="stack">
      <h3>Remedy</h3>
      {remediation !== '' && <p class="break">{remediation}</p>}
      {effect && (
        <p class="break">
          {effect.summary}{' '}
          {effect.holds_after
            ? 'The control passes after these changes.'
            : 'These changes alone do not make the control pass.'}
        </p>
      )}
      <ProblemNotice problem={problem.value} />
      {changes.length > 0 && !plan.value && may('intents:plan') && may('intents:apply') && (
        <div class="row">
          <button type="button" disabled={isActing.value} onClick={make}>
            Plan this change
          </button>
          <span class="dim small">Shows what it opens and closes. Nothing is applied.</span>
        </div>
      )}
      {plan.value && <Planned plan={plan.value} cancel={() => (plan.value = undefined)} />}
    </section>
  );
}

function Planned({ plan, cancel }: { plan: Plan; cancel: () => void }) {
  const workflow = useSignal<string | undefined>(undefined);
  const { isActing, problem, act } = useAct();
  const approvers = useApprovers(plan.another_person === true);
  const ask = () =>
    act(async () => {
      const body = { plan_id: plan.plan_id, approved_by: approvers.chosen.peek() };
      const applied = await answer(api.POST('/api/v1/ai/intent/apply', { body }));
      if ('workflow_id' in applied && applied.workflow_id) workflow.value = applied.workflow_id;
      say(applied.status === 'pending_approval' ? 'Sent to Review.' : `The change is ${applied.status}.`);
      changed.value += 1;
    });
  return (
    <div class="panel stack">
      <p class="row">
        <strong class="break">{plan.summary}</strong> <Risk level={plan.risk_level} />
      </p>
      {plan.warnings.length > 0 && (
        <ul class="notice warn">
          {plan.warnings.map((warning) => (
            <li key={warning} class="break">
              {warning}
            </li>
          ))}
        </ul>
      )}
      <EffectView effect={plan.effect} isForReview />
      {!workflow.value && <ApproverField approvers={approvers} />}
      <ProblemNotice problem={problem.value} />
      <div class="row">
        {workflow.value ? (
          <a class="button" href={linkTo('review', [workflow.value])}>
            Open in Review
          </a>
        ) : (
          <>
            <button
              type="button"
              class="primary"
              disabled={isActing.value || approvers.chosen.value === ''}
              onClick={ask}
            >
              Send for approval
            </button>
            <button type="button" class="quiet" onClick={cancel}>
              Cancel
            </button>
          </>
        )}
      </div>
    </div>
  );
}
