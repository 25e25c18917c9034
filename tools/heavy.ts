import { judgeControls, judgeShown, judgeWrites } from '../core/authority/judge.ts';
import type { AnyOperation } from '../core/base/operation.ts';
import { assessFor } from '../core/compliance/scheduled-assessments.ts';
import type { Computation } from '../core/compute/computation.ts';
import { assessProposal } from '../core/intent/plan/assessed.ts';
import { refreshPreview } from '../core/intent/plan/refreshed-preview.ts';
import type { ComputeServices } from '../core/intent/plan/services.ts';
import { assessWrites } from '../core/workflow/writes-effect.ts';
import { findCause } from './ai/find-cause.ts';
import { assessCompliance } from './compliance/assess-compliance.ts';
import { checkConnectivity } from './connectivity/check-connectivity.ts';
import { checkConnectivityAt } from './connectivity/check-connectivity-at.ts';
import { explainDenial } from './connectivity/explain-denial.ts';
import { getConnectivityHistory } from './connectivity/get-connectivity-history.ts';
import { getConnectivityMatrix } from './connectivity/get-connectivity-matrix.ts';
import { getConnectivitySummary } from './connectivity/get-connectivity-summary.ts';
import { simulateConnectivity } from './connectivity/simulate-connectivity.ts';
import { planNetworkChange } from './intents/plan-network-change.ts';
import { revertNetworkChange } from './intents/revert-network-change.ts';
import { listNetworks } from './networks/list-networks.ts';
import { getPeerAccess } from './peers/get-peer-access.ts';
import { listPeers } from './peers/list-peers.ts';
import { lintPolicies } from './policies/lint-policies.ts';
import { listPolicies } from './policies/list-policies.ts';
import { exportResources } from './resources/export-resources.ts';
import { decideReviewItems } from './reviews/decide-review-items.ts';
import { finishReview } from './reviews/finish-review.ts';
import { getReview } from './reviews/get-review.ts';
import { startReview } from './reviews/start-review.ts';
import { countChanges } from './snapshots/count-changes.ts';
import { diffSnapshots } from './snapshots/diff-snapshots.ts';
import { getSnapshot } from './snapshots/get-snapshot.ts';
import { listChanges } from './snapshots/list-changes.ts';

/** The operations of the registry that have a `cost`: what a computing thread loads. */
export const heavyOperations: readonly AnyOperation<ComputeServices>[] = [
  simulateConnectivity,
  getConnectivityMatrix,
  getConnectivitySummary,
  getConnectivityHistory,
  diffSnapshots,
  getSnapshot,
  listChanges,
  countChanges,
  exportResources,
  listPeers,
  getPeerAccess,
  listPolicies,
  lintPolicies,
  listNetworks,
  checkConnectivity,
  checkConnectivityAt,
  explainDenial,
  findCause,
  planNetworkChange,
  revertNetworkChange,
  assessCompliance,
  startReview,
  getReview,
  decideReviewItems,
  finishReview,
];

/** All computations that heavy operations start while they run: each one that is passed to `computed`. */
export const heavyComputations: readonly Computation<ComputeServices, never, unknown>[] = [
  judgeWrites,
  judgeShown,
  judgeControls,
  assessFor,
  assessWrites,
  assessProposal,
  refreshPreview,
];
