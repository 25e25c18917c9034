import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { answer, api } from '../api/client.ts';
import { changed } from '../api/load.ts';
import { Problem } from '../api/problem.ts';
import type { components } from '../api/schema.d.ts';
import { holds } from '../api/workspace.ts';
import { goTo, hrefOf, route } from '../route/route.ts';
import { useAct } from '../ui/act.ts';
import { Dialog } from '../ui/dialog.tsx';
import { say } from '../ui/message.tsx';
import { ProblemNotice } from '../ui/problem.tsx';
import { Time } from '../ui/time.tsx';
import { ApproverField, useApprovers } from './approver-field.tsx';
import { EffectView } from './effect-view.tsx';
import type { PutBackTarget } from './put-back.ts';
import { Risk } from './risk.tsx';

type Plan = components['schemas']['PlanNetworkChangeResponse'];

/** Makes the plan that takes a change back, shows what it does, and applies it or lets it be. */
export function PutBackDialog({ target, close }: { target: PutBackTarget; close: () => void }) {
  const plan = useSignal<Plan | undefined>(undefined);
  const planning = useAct();
  useLayoutEffect(() => {
    if ('plan' in target) return;
    void planning.act(async () => {
      const made = await answer(api.POST('/api/v1/ai/intent/revert', { body: { ...target, dry_run: false } }));
      if ('changes' in made) plan.value = made;
    });
  }, []);
  const shown = 'plan' in target ? target.plan : plan.value;
  const isNothing = shown?.changes.length === 0;
  const isUnmet = (plan.value?.unmet.length ?? 0) > 0;
  const mayApply = !isUnmet || holds('intents:override');
  return (
    <Dialog title="Revert" close={close}>
      <p class="dim">
        Plans the revert for the network as it is now. It waits in Review until it is approved, unless the workspace
        approves such changes by itself. The history stays.
      </p>
      {planning.isActing.value && <p role="status">Planning…</p>}
      <ProblemNotice problem={planning.problem.value} />
      {isNothing && <p>Nothing to revert: it is already as it was.</p>}
      {shown && !isNothing && (
        <>
          <p>
            <span class="break">{shown.summary}</span> <Risk level={shown.risk_level} />
          </p>
          {'plan' in target ? (
            <p class="break">{target.plan.effect}</p>
          ) : (
            plan.value && <EffectView effect={plan.value.effect} isForReview />
          )}
          <Lines lines={shown.warnings} tone="warn" />
          {plan.value && plan.value.unmet.length > 0 && (
            <Lines
              lines={[
                'Does not match the request',
                ...plan.value.unmet,
                ...(mayApply ? [] : ['Applying it requires the scope intents:override, which you do not have.']),
              ]}
              tone="danger"
            />
          )}
          {plan.value && plan.value.questions.length > 0 && (
            <Lines lines={['Is this intended?', ...plan.value.questions]} tone="warn" />
          )}
          <ul aria-label="Changes">
            {shown.changes.map(({ action, resource, name }) => (
              <li key={`${resource} ${name}`} class="break">
                {action} {resource} <strong>{name}</strong>
              </li>
            ))}
          </ul>
          <p class="small dim">
            The plan ends <Time at={shown.expires_at} />
          </p>
        </>
      )}
      {shown && !isNothing && mayApply ? (
        <Apply
          planId={shown.plan_id}
          needsAnotherPerson={plan.value && plan.value.another_person === true}
          close={close}
        />
      ) : (
        <div class="row">
          <button type="button" class="quiet" onClick={close}>
            Cancel
          </button>
        </div>
      )}
    </Dialog>
  );
}

interface ApplyProps {
  readonly planId: string;
  /** Undefined for a plan that an answer carried along. */
  readonly needsAnotherPerson: boolean | undefined;
  readonly close: () => void;
}

function Apply({ planId, needsAnotherPerson, close }: ApplyProps) {
  const { isActing, problem, act } = useAct();
  const approvers = useApprovers(needsAnotherPerson);
  const apply = () => act(() => applyPlan(planId, approvers.chosen.peek(), close));
  return (
    <>
      <ApproverField approvers={approvers} />
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button
          type="button"
          class="primary"
          disabled={isActing.value || approvers.chosen.value === ''}
          onClick={apply}
        >
          Send for approval
        </button>
        <button type="button" class="quiet" onClick={close}>
          Cancel
        </button>
      </div>
    </>
  );
}

/** Applies it, or puts it to whoever has to approve it: then its page is opened, of now. */
async function applyPlan(planId: string, approver: string, close: () => void): Promise<void> {
  const body = { plan_id: planId, approved_by: approver };
  const done = await answer(api.POST('/api/v1/ai/intent/apply', { body }));
  changed.value += 1;
  if (done.status === 'failed') throw new Problem({ title: 'The change failed', detail: done.message });
  const isWaiting = done.status === 'pending_approval';
  say(isWaiting ? 'It waits for approval.' : 'The change is reverted.');
  close();
  const { workspace } = route.value;
  if (isWaiting) goTo(hrefOf({ workspace, page: 'review', rest: [done.workflow_id] }));
}

function Lines({ lines, tone }: { lines: readonly string[]; tone: 'warn' | 'danger' }) {
  if (lines.length === 0) return null;
  return (
    <ul class={`notice ${tone} lines`}>
      {lines.map((line) => (
        <li key={line} class="break">
          {line}
        </li>
      ))}
    </ul>
  );
}
