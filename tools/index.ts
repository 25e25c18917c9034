import type { AnyOperation } from '../core/operation.ts';
import type { Services } from '../core/services.ts';
import { addWorkspace } from './add-workspace.ts';
import { changePassword } from './change-password.ts';
import { createAgent } from './create-agent.ts';
import { delegateAgent } from './delegate-agent.ts';
import { generateJoinToken } from './generate-join-token.ts';
import { getAgentTree } from './get-agent-tree.ts';
import { getDiscovery } from './get-discovery.ts';
import { getSnapshot } from './get-snapshot.ts';
import { listAgents } from './list-agents.ts';
import { listSnapshots } from './list-snapshots.ts';
import { logIn } from './log-in.ts';
import { logOut } from './log-out.ts';
import { revokeAgent } from './revoke-agent.ts';
import { takeSnapshot } from './take-snapshot.ts';

/** Every operation of the service, in the order listings show them. */
export const operations: readonly AnyOperation<Services>[] = [
  getDiscovery,
  logIn,
  logOut,
  changePassword,
  addWorkspace,
  generateJoinToken,
  createAgent,
  delegateAgent,
  listAgents,
  getAgentTree,
  revokeAgent,
  listSnapshots,
  getSnapshot,
  takeSnapshot,
];
