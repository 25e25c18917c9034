import type { AnyOperation } from '../core/base/operation.ts';
import type { Services } from '../core/workflow/services.ts';
import { createAgent } from './agents/create-agent.ts';
import { delegateAgent } from './agents/delegate-agent.ts';
import { getAgent } from './agents/get-agent.ts';
import { getAgentTree } from './agents/get-agent-tree.ts';
import { listAgentCalls } from './agents/list-agent-calls.ts';
import { listAgents } from './agents/list-agents.ts';
import { renewAgent } from './agents/renew-agent.ts';
import { revokeAgent } from './agents/revoke-agent.ts';
import { findCause } from './ai/find-cause.ts';
import { createAssertion } from './assertions/create-assertion.ts';
import { deleteAssertion } from './assertions/delete-assertion.ts';
import { getAssertion } from './assertions/get-assertion.ts';
import { listAssertions } from './assertions/list-assertions.ts';
import { updateAssertion } from './assertions/update-assertion.ts';
import { getAuditCheckpoint } from './audit/get-audit-checkpoint.ts';
import { getAuditKeys } from './audit/get-audit-keys.ts';
import { getAuditProof } from './audit/get-audit-proof.ts';
import { listAudit } from './audit/list-audit.ts';
import { assessCompliance } from './compliance/assess-compliance.ts';
import { compareAssessments } from './compliance/compare-assessments.ts';
import { deleteAssessmentSchedule } from './compliance/delete-assessment-schedule.ts';
import { getAssessment } from './compliance/get-assessment.ts';
import { getComplianceTrend } from './compliance/get-compliance-trend.ts';
import { listAssessmentSchedules } from './compliance/list-assessment-schedules.ts';
import { listAssessments } from './compliance/list-assessments.ts';
import { listComplianceDrift } from './compliance/list-compliance-drift.ts';
import { setAssessmentSchedule } from './compliance/set-assessment-schedule.ts';
import { checkConnectivity } from './connectivity/check-connectivity.ts';
import { checkConnectivityAt } from './connectivity/check-connectivity-at.ts';
import { explainDenial } from './connectivity/explain-denial.ts';
import { getConnectivityHistory } from './connectivity/get-connectivity-history.ts';
import { getConnectivityMatrix } from './connectivity/get-connectivity-matrix.ts';
import { getConnectivitySummary } from './connectivity/get-connectivity-summary.ts';
import { simulateConnectivity } from './connectivity/simulate-connectivity.ts';
import { getBusAccess } from './devices/get-bus-access.ts';
import { getOwnDevice } from './devices/get-own-device.ts';
import { getOwnGraph } from './devices/get-own-graph.ts';
import { leaveNetwork } from './devices/leave-network.ts';
import { registerDevice } from './devices/register-device.ts';
import { renameOwnDevice } from './devices/rename-own-device.ts';
import { reportEgress } from './devices/report-egress.ts';
import { rotateDeviceKey } from './devices/rotate-device-key.ts';
import { sendHeartbeat } from './devices/send-heartbeat.ts';
import { getDiscovery } from './installation/get-discovery.ts';
import { applyNetworkChange } from './intents/apply-network-change.ts';
import { planNetworkChange } from './intents/plan-network-change.ts';
import { revertNetworkChange } from './intents/revert-network-change.ts';
import { createNetwork } from './networks/create-network.ts';
import { deleteNetwork } from './networks/delete-network.ts';
import { getNetwork } from './networks/get-network.ts';
import { listNetworks } from './networks/list-networks.ts';
import { updateNetwork } from './networks/update-network.ts';
import { allowClientRequest } from './oauth/allow-client-request.ts';
import { allowCommandLine } from './oauth/allow-command-line.ts';
import { denyClientRequest } from './oauth/deny-client-request.ts';
import { endClientGrant } from './oauth/end-client-grant.ts';
import { getClientRequest } from './oauth/get-client-request.ts';
import { listClientGrants } from './oauth/list-client-grants.ts';
import { adoptPeer } from './peers/adopt-peer.ts';
import { approvePeer } from './peers/approve-peer.ts';
import { deletePeer } from './peers/delete-peer.ts';
import { getPathSummary } from './peers/get-path-summary.ts';
import { getPeer } from './peers/get-peer.ts';
import { getPeerAccess } from './peers/get-peer-access.ts';
import { getPeerPaths } from './peers/get-peer-paths.ts';
import { listPathCounts } from './peers/list-path-counts.ts';
import { listPeers } from './peers/list-peers.ts';
import { revokePeer } from './peers/revoke-peer.ts';
import { updatePeer } from './peers/update-peer.ts';
import { createPolicy } from './policies/create-policy.ts';
import { deletePolicy } from './policies/delete-policy.ts';
import { getPolicy } from './policies/get-policy.ts';
import { lintPolicies } from './policies/lint-policies.ts';
import { listPolicies } from './policies/list-policies.ts';
import { updatePolicy } from './policies/update-policy.ts';
import { applyResources } from './resources/apply-resources.ts';
import { exportResources } from './resources/export-resources.ts';
import { previewResources } from './resources/preview-resources.ts';
import { decideReviewItems } from './reviews/decide-review-items.ts';
import { finishReview } from './reviews/finish-review.ts';
import { getReview } from './reviews/get-review.ts';
import { listCredentials } from './reviews/list-credentials.ts';
import { listReviews } from './reviews/list-reviews.ts';
import { startReview } from './reviews/start-review.ts';
import { countChanges } from './snapshots/count-changes.ts';
import { diffSnapshots } from './snapshots/diff-snapshots.ts';
import { getSnapshot } from './snapshots/get-snapshot.ts';
import { listChanges } from './snapshots/list-changes.ts';
import { listSnapshots } from './snapshots/list-snapshots.ts';
import { takeSnapshot } from './snapshots/take-snapshot.ts';
import { createApiToken } from './tokens/create-api-token.ts';
import { generateJoinToken } from './tokens/generate-join-token.ts';
import { listApiTokenCalls } from './tokens/list-api-token-calls.ts';
import { listApiTokens } from './tokens/list-api-tokens.ts';
import { listJoinTokens } from './tokens/list-join-tokens.ts';
import { revokeApiToken } from './tokens/revoke-api-token.ts';
import { revokeJoinToken } from './tokens/revoke-join-token.ts';
import { addPasskey } from './users/add-passkey.ts';
import { beginCommandLineSignIn } from './users/begin-command-line-sign-in.ts';
import { beginIssuerSignIn } from './users/begin-issuer-sign-in.ts';
import { beginOtp } from './users/begin-otp.ts';
import { beginPasskey } from './users/begin-passkey.ts';
import { changePassword } from './users/change-password.ts';
import { confirmOtp } from './users/confirm-otp.ts';
import { createPasskeyChallenge } from './users/create-passkey-challenge.ts';
import { createUser } from './users/create-user.ts';
import { deleteUser } from './users/delete-user.ts';
import { disableOtp } from './users/disable-otp.ts';
import { endSession } from './users/end-session.ts';
import { finishCommandLineSignIn } from './users/finish-command-line-sign-in.ts';
import { finishIssuerSignIn } from './users/finish-issuer-sign-in.ts';
import { getMe } from './users/get-me.ts';
import { getOtpState } from './users/get-otp-state.ts';
import { getSignIn } from './users/get-sign-in.ts';
import { listSessions } from './users/list-sessions.ts';
import { listUsers } from './users/list-users.ts';
import { logIn } from './users/log-in.ts';
import { logInWithPasskey } from './users/log-in-with-passkey.ts';
import { logOut } from './users/log-out.ts';
import { logOutEverywhere } from './users/log-out-everywhere.ts';
import { removePasskey } from './users/remove-passkey.ts';
import { renewRecoveryCodes } from './users/renew-recovery-codes.ts';
import { resetOtp } from './users/reset-otp.ts';
import { unlockUser } from './users/unlock-user.ts';
import { updateUser } from './users/update-user.ts';
import { createWebhook } from './webhooks/create-webhook.ts';
import { deleteWebhook } from './webhooks/delete-webhook.ts';
import { getWebhook } from './webhooks/get-webhook.ts';
import { getWebhookDelivery } from './webhooks/get-webhook-delivery.ts';
import { listWebhookDeliveries } from './webhooks/list-webhook-deliveries.ts';
import { listWebhooks } from './webhooks/list-webhooks.ts';
import { resendDeadDeliveries } from './webhooks/resend-dead-deliveries.ts';
import { resendWebhookDelivery } from './webhooks/resend-webhook-delivery.ts';
import { rotateWebhookSecret } from './webhooks/rotate-webhook-secret.ts';
import { testWebhook } from './webhooks/test-webhook.ts';
import { updateWebhook } from './webhooks/update-webhook.ts';
import { approveWorkflow } from './workflows/approve-workflow.ts';
import { getWorkflow } from './workflows/get-workflow.ts';
import { listWorkflows } from './workflows/list-workflows.ts';
import { redrawWorkflow } from './workflows/redraw-workflow.ts';
import { rejectWorkflow } from './workflows/reject-workflow.ts';
import { addWorkspace } from './workspaces/add-workspace.ts';
import { deleteWorkspace } from './workspaces/delete-workspace.ts';
import { getOverview } from './workspaces/get-overview.ts';
import { getWorkspace } from './workspaces/get-workspace.ts';
import { listMembers } from './workspaces/list-members.ts';
import { listWorkspaces } from './workspaces/list-workspaces.ts';
import { removeMember } from './workspaces/remove-member.ts';
import { setMember } from './workspaces/set-member.ts';
import { updateWorkspace } from './workspaces/update-workspace.ts';

/** Every operation of the service, in the order listings show them. */
export const operations: readonly AnyOperation<Services>[] = [
  getDiscovery,
  logIn,
  getSignIn,
  beginIssuerSignIn,
  finishIssuerSignIn,
  beginCommandLineSignIn,
  finishCommandLineSignIn,
  createPasskeyChallenge,
  logInWithPasskey,
  logOut,
  logOutEverywhere,
  listSessions,
  endSession,
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
  getClientRequest,
  allowClientRequest,
  allowCommandLine,
  denyClientRequest,
  listClientGrants,
  endClientGrant,
  listChanges,
  countChanges,
  listAgentCalls,
  listSnapshots,
  getSnapshot,
  takeSnapshot,
  getMe,
  listUsers,
  createUser,
  beginOtp,
  confirmOtp,
  disableOtp,
  getOtpState,
  beginPasskey,
  addPasskey,
  removePasskey,
  renewRecoveryCodes,
  resetOtp,
  unlockUser,
  updateUser,
  deleteUser,
  createApiToken,
  listApiTokens,
  listApiTokenCalls,
  revokeApiToken,
  listWorkspaces,
  getWorkspace,
  getOverview,
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
  getConnectivitySummary,
  getConnectivityHistory,
  findCause,
  simulateConnectivity,
  listAudit,
  getAuditCheckpoint,
  getAuditProof,
  getAuditKeys,
  diffSnapshots,
  listPeers,
  getPeer,
  getPeerAccess,
  getPeerPaths,
  getPathSummary,
  listPathCounts,
  updatePeer,
  adoptPeer,
  approvePeer,
  revokePeer,
  deletePeer,
  listPolicies,
  lintPolicies,
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
  previewResources,
  exportResources,
  registerDevice,
  getOwnDevice,
  renameOwnDevice,
  reportEgress,
  leaveNetwork,
  getOwnGraph,
  getBusAccess,
  sendHeartbeat,
  rotateDeviceKey,
  planNetworkChange,
  applyNetworkChange,
  revertNetworkChange,
  assessCompliance,
  listAssessments,
  compareAssessments,
  getComplianceTrend,
  listComplianceDrift,
  listAssessmentSchedules,
  setAssessmentSchedule,
  deleteAssessmentSchedule,
  getAssessment,
  startReview,
  listReviews,
  getReview,
  decideReviewItems,
  finishReview,
  listCredentials,
  getWorkflow,
  listWorkflows,
  approveWorkflow,
  rejectWorkflow,
  redrawWorkflow,
  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  listWebhookDeliveries,
  resendDeadDeliveries,
  getWebhookDelivery,
  resendWebhookDelivery,
];
