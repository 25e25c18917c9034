import type { NodeReport } from '../model/received-heartbeats.ts';
import type { BaseServices } from '../model/services.ts';
import { commonWire } from '../model/wire.ts';

/**
 * Keeps what a node said to the control plane that takes note of it, wherever that is: so that all show the same, and whoever
 * leads next knows it.
 */
export function applyNodeReport(
  { liveness, paths, witnesses }: Pick<BaseServices, 'liveness' | 'paths' | 'witnesses'>,
  workspace: string,
  peerUid: string,
  { version, paths: reports = [], witnessed, wire }: NodeReport,
  at: number,
): void {
  liveness.heard(workspace, peerUid, at, commonWire(wire));
  if (version !== undefined) liveness.said(workspace, peerUid, version);
  paths.report(workspace, peerUid, reports);
  if (witnessed) witnesses.heard(workspace, peerUid, witnessed, at);
}
