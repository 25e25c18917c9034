import { workspaceById } from '../model/workspaces.ts';
import { counted } from './check-result.ts';
import { type FactReader, fails, holds, unknown } from './facts/fact.ts';
import { INSTALLATION_FACTS } from './facts/installation.ts';
import { verifiedLog } from './facts/log.ts';
import { SIGN_IN_FACTS } from './facts/people.ts';
import { accessReview, activityReview, policyReview } from './facts/reviews.ts';
import { tokenAges } from './facts/token-ages.ts';
import { RETENTION_YEARS } from './retention.ts';

const DAY_MS = 86_400_000;
const LEAST_REPORT_YEARS = 6;
/** The share of `maxNodeCount` that counts as full. */
const FULL_SHARE = 0.9;

/**
 * The facts outside of the network that controls rest on, each with its one reader. A reader that returns `undefined` waits for
 * a part of the product that stores such records.
 */
export const FACTS = {
  ...INSTALLATION_FACTS,
  ...SIGN_IN_FACTS,
  'access-review': accessReview,
  'policy-review': policyReview,
  'activity-review': activityReview,
  'verified-log': verifiedLog,
  backups: async () =>
    unknown(
      'Of backups, and of tests of restoring one, Mesh keeps no record.',
      'The host administrator backs the store up daily, tries restoring it, and gives both records to the auditor beside this assessment: nothing that is done here changes this answer.',
    ),
  'token-ages': tokenAges,
  'log-kept': async ({ services, workspace }) => {
    const { createdAt } = await workspaceById(services, workspace);
    const oldest = await services.store.audit(workspace, { to: createdAt + DAY_MS, limit: 1 });
    const kept = await services.store.keptFrom(workspace);
    if (oldest.length === 0)
      return unknown(
        'The audit log has no entry of the first day of the workspace.',
        'An auditor asks the host administrator whether the database was restored or replaced, and verifies the log (mesh audit verify).',
      );
    const isShort = kept !== undefined && kept.revision > 1 && services.clock.now() - kept.at < 360 * DAY_MS;
    if (isShort)
      return fails(
        'The audit log goes back to the first day, but states of the network are kept for less than 12 months.',
        'An administrator moves the installation to the Pro edition, which keeps them for a year.',
      );
    return holds(
      'The audit log goes back to the first day of the workspace, states of the network to it or 12 months.',
    );
  },
  'report-retention': async () => {
    const evidence = `Assessments are kept ${RETENTION_YEARS} years; ${LEAST_REPORT_YEARS} are asked for.`;
    if (RETENTION_YEARS >= LEAST_REPORT_YEARS) return holds(evidence);
    return fails(evidence, `An auditor keeps a copy of each assessment for ${LEAST_REPORT_YEARS} years elsewhere.`);
  },
  capacity: async ({ services, workspace }) => {
    const { spec } = await workspaceById(services, workspace);
    const { items } = await services.store.list(workspace, 'MeshPeer');
    const evidence = `${counted(items.length, 'peer')} of at most ${spec.maxNodeCount}.`;
    if (items.length === 0) return unknown(evidence, 'Nothing is to be done now.');
    if (items.length <= FULL_SHARE * spec.maxNodeCount) return holds(evidence);
    return fails(evidence, 'A platform administrator raises maxNodeCount before it is reached (update_workspace).');
  },
} as const satisfies Readonly<Record<string, FactReader>>;

export type FactName = keyof typeof FACTS;
