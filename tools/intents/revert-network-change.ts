import { z } from 'zod';
import { invalidInput } from '../../core/base/errors.ts';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { planNetworkChange } from '../../core/intent/plan/plan.ts';
import type { RevertTarget } from '../../core/intent/plan/planner.ts';
import { defineHeavyOperation } from '../define.ts';
import { briefPlan, planSchema, planView } from './plan-view.ts';

export const revertNetworkChange = defineHeavyOperation({
  name: 'revert_network_change',
  title: 'Plan to undo a change',
  description:
    'Plans to bring policies, networks, and labels and networks of peers back: as they were at a revision or snapshot, or as before a workflow or the last change. Executes nothing: apply the plan like any other.',
  input: z.strictObject({
    revision: z.coerce.number().int().min(1).optional().describe('Go back to this revision'),
    snapshot_id: lineOfText(TEXT_LIMITS.id).optional().describe('Go back to this snapshot'),
    workflow_id: lineOfText(TEXT_LIMITS.id).optional().describe('Undo what this workflow changed, and nothing else'),
    undo_revision: z.coerce.number().int().min(1).optional().describe('Undo it alone'),
    dry_run: z.boolean().default(false).describe('Preview only: the plan cannot be applied'),
  }),
  output: planSchema,
  brief: briefPlan,
  access: 'intents:plan',
  workspace: 'scoped',
  edition: 'pro',
  effects: CREATE,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'conflict', 'expired'],
  http: { method: 'post', path: '/api/v1/ai/intent/revert' },
  async run(
    { revision, snapshot_id: snapshot, workflow_id: workflow, undo_revision: undone, dry_run: dryRun },
    context,
  ) {
    const targets: RevertTarget[] = [
      ...(revision === undefined ? [] : [{ to: 'revision', revision } as const]),
      ...(snapshot === undefined ? [] : [{ to: 'snapshot', id: snapshot } as const]),
      ...(workflow === undefined ? [] : [{ to: 'before-workflow', id: workflow } as const]),
      ...(undone === undefined ? [] : [{ to: 'before-revision', revision: undone } as const]),
    ];
    if (targets.length > 1) {
      const detail = 'Name one of revision, snapshot_id, workflow_id and undo_revision; none undoes the last change.';
      throw invalidInput([{ pointer: '/revision', detail }], detail);
    }
    const [revert = { to: 'before-last' } as const] = targets;
    const intent = textOf(revert);
    const asked = { changes: undefined, expectations: undefined, history: undefined };
    return planView(context, await planNetworkChange(context, { intent, dryRun, revert, ...asked }));
  },
});

function textOf(target: RevertTarget): string {
  switch (target.to) {
    case 'before-last':
      return 'undo the last change';
    case 'revision':
      return `go back to revision ${target.revision}`;
    case 'snapshot':
      return `go back to snapshot ${target.id}`;
    case 'before-revision':
      return `undo revision ${target.revision}`;
    case 'before-workflow':
      return `undo workflow ${target.id}`;
    default:
      return target satisfies never;
  }
}
