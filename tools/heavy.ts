import type { AnyOperation } from '../core/base/operation.ts';
import type { ComputeServices } from '../core/workflow/services.ts';
import { checkConnectivity } from './check-connectivity.ts';
import { checkConnectivityAt } from './check-connectivity-at.ts';
import { diffSnapshots } from './diff-snapshots.ts';
import { explainDenial } from './explain-denial.ts';
import { getConnectivityMatrix } from './get-connectivity-matrix.ts';
import { getSnapshot } from './get-snapshot.ts';
import { listNetworks } from './list-networks.ts';
import { listPeers } from './list-peers.ts';
import { listPolicies } from './list-policies.ts';
import { planNetworkChange } from './plan-network-change.ts';
import { revertNetworkChange } from './revert-network-change.ts';
import { simulateConnectivity } from './simulate-connectivity.ts';

/** The operations of the registry that have a `cost`: what a computing thread loads. */
export const heavyOperations: readonly AnyOperation<ComputeServices>[] = [
  simulateConnectivity,
  getConnectivityMatrix,
  diffSnapshots,
  getSnapshot,
  listPeers,
  listPolicies,
  listNetworks,
  checkConnectivity,
  checkConnectivityAt,
  explainDenial,
  planNetworkChange,
  revertNetworkChange,
];
