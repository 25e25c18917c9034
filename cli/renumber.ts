import type { Command } from 'commander';
import { getNetwork } from '../tools/networks/get-network.ts';
import { updateNetwork } from '../tools/networks/update-network.ts';
import { getWorkflow } from '../tools/workflows/get-workflow.ts';
import { listWorkflows } from '../tools/workflows/list-workflows.ts';
import { type Answer, answering, notice } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { noticePending, pendingWorkflowOf } from './pending-approval.ts';
import { type Target, type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

/** `mesh renumber NETWORK CIDR`. */
export function defineRenumber(command: Command): void {
  answering(
    withTarget(command)
      .argument('<network>', 'its name or id')
      .argument('<cidr>', 'its new block, such as 10.97.0.0/24'),
    async (network: string, cidr: string, options: TargetOptions): Promise<Answer> => {
      const target = targetOf(options);
      const current = await callOperation(target, getNetwork, { id: network });
      const { id, name, revision, spec } = current;
      if (spec.cidr === cidr) return { value: current, text: `${name} has the block ${cidr} already.` };
      const waiting = await waitingFor(target, name, cidr);
      if (waiting) {
        notice(`${name} waits for the block ${cidr} already, as ${waiting.requestedBy} asked.`);
        const pending = { status: 'pending_approval', workflow_id: waiting.id };
        noticePending(pending);
        return { value: pending };
      }
      const value = await callOperation(target, updateNetwork, { id, spec: { ...spec, cidr }, revision });
      noticePending(value);
      if (pendingWorkflowOf(value) !== undefined) return { value };
      return { value, text: `${value.name} has the block ${value.spec.cidr}.` };
    },
  );
}

/** The most that one page holds. */
const PAGE = 200;

/** Returns the newest workflow, if any, that gives a network such a block once it is approved. */
async function waitingFor(target: Target, network: string, cidr: string) {
  const { items } = await callOperation(target, listWorkflows, { status: 'pending', limit: PAGE });
  for (const { id, summary } of items) {
    if (!summary.includes(network)) continue;
    const workflow = await callOperation(target, getWorkflow, { id });
    if (workflow.effect.routes?.some((route) => route.network === network && route.block === cidr)) return workflow;
  }
  return undefined;
}
