import type { AnyOperation } from '../core/base/operation.ts';
import type { Services } from '../core/workflow/services.ts';
import { addWorkspace } from './add-workspace.ts';
import { adoptPeer } from './adopt-peer.ts';
import { applyNetworkChange } from './apply-network-change.ts';
import { applyResources } from './apply-resources.ts';
import { approvePeer } from './approve-peer.ts';
import { approveWorkflow } from './approve-workflow.ts';
import { changePassword } from './change-password.ts';
import { checkConnectivity } from './check-connectivity.ts';
import { checkConnectivityAt } from './check-connectivity-at.ts';
import { createAgent } from './create-agent.ts';
import { createApiToken } from './create-api-token.ts';
import { createAssertion } from './create-assertion.ts';
import { createNetwork } from './create-network.ts';
import { createPolicy } from './create-policy.ts';
import { createUser } from './create-user.ts';
import { delegateAgent } from './delegate-agent.ts';
import { deleteAssertion } from './delete-assertion.ts';
import { deleteNetwork } from './delete-network.ts';
import { deletePeer } from './delete-peer.ts';
import { deletePolicy } from './delete-policy.ts';
import { deleteUser } from './delete-user.ts';
import { deleteWorkspace } from './delete-workspace.ts';
import { diffSnapshots } from './diff-snapshots.ts';
import { explainDenial } from './explain-denial.ts';
import { generateJoinToken } from './generate-join-token.ts';
import { getAgent } from './get-agent.ts';
import { getAgentTree } from './get-agent-tree.ts';
import { getAssertion } from './get-assertion.ts';
import { getConnectivityMatrix } from './get-connectivity-matrix.ts';
import { getDiscovery } from './get-discovery.ts';
import { getMe } from './get-me.ts';
import { getNetwork } from './get-network.ts';
import { getOwnDevice } from './get-own-device.ts';
import { getOwnGraph } from './get-own-graph.ts';
import { getPeer } from './get-peer.ts';
import { getPeerPaths } from './get-peer-paths.ts';
import { getPolicy } from './get-policy.ts';
import { getSnapshot } from './get-snapshot.ts';
import { getWorkflow } from './get-workflow.ts';
import { getWorkspace } from './get-workspace.ts';
import { leaveNetwork } from './leave-network.ts';
import { listAgents } from './list-agents.ts';
import { listApiTokens } from './list-api-tokens.ts';
import { listAssertions } from './list-assertions.ts';
import { listAudit } from './list-audit.ts';
import { listJoinTokens } from './list-join-tokens.ts';
import { listMembers } from './list-members.ts';
import { listNetworks } from './list-networks.ts';
import { listPeers } from './list-peers.ts';
import { listPolicies } from './list-policies.ts';
import { listSnapshots } from './list-snapshots.ts';
import { listUsers } from './list-users.ts';
import { listWorkflows } from './list-workflows.ts';
import { listWorkspaces } from './list-workspaces.ts';
import { logIn } from './log-in.ts';
import { logOut } from './log-out.ts';
import { planNetworkChange } from './plan-network-change.ts';
import { registerDevice } from './register-device.ts';
import { rejectWorkflow } from './reject-workflow.ts';
import { removeMember } from './remove-member.ts';
import { renameOwnDevice } from './rename-own-device.ts';
import { renewAgent } from './renew-agent.ts';
import { revertNetworkChange } from './revert-network-change.ts';
import { revokeAgent } from './revoke-agent.ts';
import { revokeApiToken } from './revoke-api-token.ts';
import { revokeJoinToken } from './revoke-join-token.ts';
import { revokePeer } from './revoke-peer.ts';
import { rotateDeviceKey } from './rotate-device-key.ts';
import { sendHeartbeat } from './send-heartbeat.ts';
import { setMember } from './set-member.ts';
import { simulateConnectivity } from './simulate-connectivity.ts';
import { takeSnapshot } from './take-snapshot.ts';
import { updateAssertion } from './update-assertion.ts';
import { updateNetwork } from './update-network.ts';
import { updatePeer } from './update-peer.ts';
import { updatePolicy } from './update-policy.ts';
import { updateUser } from './update-user.ts';
import { updateWorkspace } from './update-workspace.ts';

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
  getAgent,
  getAgentTree,
  renewAgent,
  revokeAgent,
  listSnapshots,
  getSnapshot,
  takeSnapshot,
  getMe,
  listUsers,
  createUser,
  updateUser,
  deleteUser,
  createApiToken,
  listApiTokens,
  revokeApiToken,
  listWorkspaces,
  getWorkspace,
  updateWorkspace,
  deleteWorkspace,
  listMembers,
  setMember,
  removeMember,
  listJoinTokens,
  revokeJoinToken,
  checkConnectivity,
  checkConnectivityAt,
  explainDenial,
  getConnectivityMatrix,
  simulateConnectivity,
  listAudit,
  diffSnapshots,
  listPeers,
  getPeer,
  getPeerPaths,
  updatePeer,
  adoptPeer,
  approvePeer,
  revokePeer,
  deletePeer,
  listPolicies,
  getPolicy,
  createPolicy,
  updatePolicy,
  deletePolicy,
  listNetworks,
  getNetwork,
  createNetwork,
  updateNetwork,
  deleteNetwork,
  listAssertions,
  getAssertion,
  createAssertion,
  updateAssertion,
  deleteAssertion,
  applyResources,
  registerDevice,
  getOwnDevice,
  renameOwnDevice,
  leaveNetwork,
  getOwnGraph,
  sendHeartbeat,
  rotateDeviceKey,
  planNetworkChange,
  applyNetworkChange,
  revertNetworkChange,
  getWorkflow,
  listWorkflows,
  approveWorkflow,
  rejectWorkflow,
];
