import type { Caller } from '../../../core/base/caller.ts';
import { agent, type Kit, person } from './kit.ts';

const SCOPES = ['network:read', 'intents:plan', 'intents:apply'] as const;

/** Has a plan applied: asked for over MCP by who made it, and approved by the administrator. @returns the workflow */
export async function carryOut(
  kit: Pick<Kit, 'call'>,
  workspace: string,
  planId: string,
  caller: Caller = { ...agent(SCOPES, workspace), id: person('admin', workspace).id, kind: 'user', interactive: true },
): Promise<string> {
  const { workflow_id: id } = await kit.call(
    'apply_network_change',
    { plan_id: planId },
    { as: caller, workspace, face: 'mcp' },
  );
  await kit.call('approve_workflow', { id }, { as: person('platform_admin', workspace, 'root'), workspace });
  return id;
}
