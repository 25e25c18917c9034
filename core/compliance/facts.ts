import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { PASSWORD_LENGTH } from '../identity/passwords.ts';
import { workspaceById } from '../model/workspaces.ts';
import { type FactReader, fails, holds, unknown } from './facts/fact.ts';
import { accessReview, activityReview, policyReview } from './facts/reviews.ts';
import { tokenAges } from './facts/token-ages.ts';
import { KEPT_YEARS } from './kept.ts';
import { counted } from './reading.ts';

const DAY_MS = 86_400_000;
const LEAST_CHARACTERS = 12;
const LEAST_REPORT_YEARS = 6;
/** Of maxNodeCount. */
const FULL_SHARE = 0.9;

/**
 * What controls rest on that is no part of the network: each is read in one place. A reader that says `undefined` waits for
 * a part of the product that keeps such records.
 */
export const FACTS = {
  'first-password': async ({ services }) => {
    const { items } = await services.store.list(SYSTEM_WORKSPACE, 'Account');
    const used = items.filter(({ spec }) => !spec.disabled);
    // Other workspaces' people have accounts too: how many there are is not told.
    if (used.length === 0) return unknown('There are no accounts.', 'A platform administrator signs in.');
    if (used.every(({ spec }) => spec.passwordState === 'own')) {
      return holds('Every account of the installation has a password that its person chose.');
    }
    return fails(
      'An account of the installation has a password that somebody else set.',
      'A platform administrator finds out whose it is (list_users), and that person changes it (mesh passwd) or the account is disabled.',
    );
  },
  'bus-exposure': async ({ services }) => {
    const host = hostOf(services.settings.signalingUrl);
    if (isLoopback(host)) return holds('Nodes are given a bus on the loopback: it is reached from this host alone.');
    return unknown(
      'Whether a firewall restricts port 4222 by source address cannot be seen from here.',
      'The host administrator restricts port 4222 by source address and keeps that rule as evidence.',
    );
  },
  'admin-tls': async ({ services }) => {
    const { apiUrl } = services.settings;
    if (apiUrl.startsWith('https:')) return holds('The address of the API that is given out is an https address.');
    return fails(
      'The address of the API that is given out is an http address.',
      'The host administrator sets MESH_TLS_CERT and MESH_TLS_KEY, or puts a TLS proxy in front and names it in app.publicUrls.',
    );
  },
  'second-factor': async () =>
    fails(
      'Accounts sign in with a password alone: no second factor is enrolled.',
      'A platform administrator lets people sign in through a gateway that asks for a second factor.',
    ),
  'access-review': accessReview,
  'policy-review': policyReview,
  'activity-review': activityReview,
  'verified-log': async () =>
    unknown(
      'No verification of the audit log over the period is on record.',
      'An auditor verifies the audit log over the period and keeps the result.',
    ),
  backups: async () =>
    unknown(
      'No backup and no test of restoring one is on record.',
      'The host administrator backs the store up daily, tries restoring it, and keeps both records.',
    ),
  'idle-sessions': async () =>
    fails(
      'A session ends after a fixed time, whether or not it is used.',
      'People sign out when they leave (mesh logout), or sign in through a gateway that ends idle sessions within 15 minutes.',
    ),
  'lock-out': async () =>
    fails(
      'Failed logins are slowed down for each address and account; an account is not locked.',
      'The host administrator locks accounts out in a gateway before the control plane, after at most ten attempts.',
    ),
  'password-length': async () => {
    const { min } = PASSWORD_LENGTH;
    const evidence = `A password has at least ${min} characters; ${LEAST_CHARACTERS} are asked for.`;
    const remedy = `People choose passwords of at least ${LEAST_CHARACTERS} characters; the control plane does not enforce it.`;
    return min >= LEAST_CHARACTERS ? holds(evidence) : fails(evidence, remedy);
  },
  'password-age': async () =>
    fails(
      'Passwords do not age, and no second factor is asked for.',
      'People change their passwords each 90 days (mesh passwd), or sign in with a second factor.',
    ),
  'token-ages': tokenAges,
  'log-kept': async ({ services, workspace }) => {
    const { createdAt } = await workspaceById(services, workspace);
    const oldest = await services.store.audit(workspace, { to: createdAt + DAY_MS, limit: 1 });
    const kept = await services.store.keptFrom(workspace);
    if (oldest.length === 0)
      return unknown(
        'The audit log has no entry of the first day of the workspace.',
        'An auditor asks where they went.',
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
    const evidence = `Assessments are kept ${KEPT_YEARS} years; ${LEAST_REPORT_YEARS} are asked for.`;
    if (KEPT_YEARS >= LEAST_REPORT_YEARS) return holds(evidence);
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

function hostOf(url: string): string {
  return /^[a-z]+:\/\/(\[[^\]]*\]|[^:/]*)/i.exec(url)?.[1] ?? '';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.');
}
