import type { FactName } from '../facts.ts';
import { runningAsApproved } from './approvals.ts';
import {
  changesAuthorised,
  completeRecords,
  namedPeople,
  noAutoApproval,
  policyChangesReviewed,
  separateApprover,
} from './changes.ts';
import type { Check, FactCheck } from './check.ts';
import { noOtherSources, notPublic } from './exposure.ts';
import {
  denyAllBase,
  environmentsApart,
  explicitAllowOnly,
  explicitInbound,
  explicitOutbound,
  grantedByLabel,
  leastReach,
} from './isolation.ts';
import { boundedAgents, endedAgentsGone, issuedPeers } from './people.ts';
import { justifiedPorts, noInsecureServices } from './services.ts';
import { encryptedPaths, keyAges } from './transport.ts';

const fact = (name: FactName): FactCheck => ({ on: 'fact', fact: name });

/** Every check by the name that catalogues have for it. */
export const CHECKS = {
  'deny-all-base': denyAllBase,
  'not-public': notPublic,
  'no-auto-approval': noAutoApproval,
  'policy-changes-reviewed': policyChangesReviewed,
  'explicit-allow-only': explicitAllowOnly,
  'explicit-inbound': explicitInbound,
  'explicit-outbound': explicitOutbound,
  'granted-by-label': grantedByLabel,
  'least-reach': leastReach,
  'environments-apart': environmentsApart,
  'no-other-sources': noOtherSources,
  'justified-ports': justifiedPorts,
  'no-insecure-services': noInsecureServices,
  'running-as-approved': runningAsApproved,
  'changes-authorised': changesAuthorised,
  'separate-approver': separateApprover,
  'complete-records': completeRecords,
  'named-people': namedPeople,
  'encrypted-paths': encryptedPaths,
  'key-ages': keyAges,
  'bounded-agents': boundedAgents,
  'issued-peers': issuedPeers,
  'ended-agents-gone': endedAgentsGone,
  'daily-snapshots': {
    on: 'snapshots',
    remedy:
      'The host administrator keeps the control plane up at 02:00 by the clocks of the workspace from now on, and writes down for the auditor why it was down on the days that are named: their snapshots cannot be taken any more. What changed on them is in the audit log (list_audit).',
  },
  'first-password': fact('first-password'),
  'bus-exposure': fact('bus-exposure'),
  'admin-tls': fact('admin-tls'),
  'two-person-approval': fact('two-person-approval'),
  'installation-keys': fact('installation-keys'),
  'access-ended': fact('access-ended'),
  'second-factor': fact('second-factor'),
  'access-review': fact('access-review'),
  'policy-review': fact('policy-review'),
  'activity-review': fact('activity-review'),
  'verified-log': fact('verified-log'),
  backups: fact('backups'),
  'idle-sessions': fact('idle-sessions'),
  'lock-out': fact('lock-out'),
  'password-length': fact('password-length'),
  'password-age': fact('password-age'),
  'token-ages': fact('token-ages'),
  'log-kept': fact('log-kept'),
  'report-retention': fact('report-retention'),
  capacity: fact('capacity'),
} as const satisfies Readonly<Record<string, Check>>;

export type CheckName = keyof typeof CHECKS;

export function checkOf(name: CheckName): Check {
  return CHECKS[name];
}
