import type { Command } from 'commander';
import { getPeer } from '../tools/peers/get-peer.ts';
import { updatePeer } from '../tools/peers/update-peer.ts';
import { type Answer, answering } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { noticePending, pendingWorkflowOf } from './pending-approval.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

/** `mesh rename PEER NAME`. */
export function defineRename(command: Command): void {
  answering(
    withTarget(command).argument('<peer>', 'its name or id').argument('<name>', 'its new name'),
    async (peer: string, name: string, options: TargetOptions): Promise<Answer> => {
      const target = targetOf(options);
      const before = await callOperation(target, getPeer, { id: peer });
      if (before.name === name) return { value: before, text: `${before.name} has that name already.` };
      const value = await callOperation(target, updatePeer, { id: peer, name });
      noticePending(value);
      if (pendingWorkflowOf(value) !== undefined) return { value };
      return { value, text: `${peer} is now ${value.name}.` };
    },
  );
}
