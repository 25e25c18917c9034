import type { Settings } from '../model/services.ts';
import { workspaceById } from '../model/workspaces.ts';
import type { NetworkServices } from '../state/services.ts';
import { INSTALLATION_FACTS } from './facts/installation.ts';
import { verifiedLog } from './facts/log.ts';
import { SIGN_IN_FACTS } from './facts/people.ts';
import { KEPT_YEARS } from './kept.ts';
import { counted, listed } from './reading.ts';

/** Something that holds or does not, now, and of which no history is kept. */
export interface Fact {
  /** Undefined where nothing that could show it is on record. */
  readonly holds: boolean | undefined;
  readonly evidence: string;
  /** Who has to do what; empty where it holds. */
  readonly remedy: string;
}

export interface FactContext {
  readonly services: Pick<NetworkServices, 'store' | 'clock' | 'logs'> & { readonly settings: Settings };
  readonly workspace: string;
  /** That is assessed, ms. */
  readonly period?: { readonly from: number; readonly to: number };
}

type FactReader = (context: FactContext) => Promise<Fact>;

const DAY_MS = 86_400_000;
/** Tokens are to be renewed within so long. */
const TOKEN_DAYS = 365;
const LEAST_REPORT_YEARS = 6;
/** Of maxNodeCount. */
const FULL_SHARE = 0.9;

/**
 * What controls rest on that is no part of the network: each is read in one place. A reader that says `undefined` waits for
 * a part of the product that keeps such records.
 */
export const FACTS = {
  ...INSTALLATION_FACTS,
  ...SIGN_IN_FACTS,
  'access-review': async () =>
    unknown(
      'No review of accounts, agents and tokens is on record.',
      'An administrator reviews members, agents and tokens each six months and keeps the record (list_members, list_agents, list_api_tokens).',
    ),
  'policy-review': async () =>
    unknown(
      'No review of the policies is on record.',
      'A network operator reviews the policies each six months and keeps the record (lint_policies, list_policies).',
    ),
  'activity-review': async () =>
    unknown(
      'No review of logins, refusals and denied approvals is on record.',
      'An auditor reads the audit log at a set cadence and keeps the record (list_audit).',
    ),
  'verified-log': verifiedLog,
  backups: async () =>
    unknown(
      'No backup and no test of restoring one is on record.',
      'The host administrator backs the store up daily, tries restoring it, and keeps both records.',
    ),
  'token-ages': async ({ services, workspace }) => {
    const { items } = await services.store.list(workspace, 'Token');
    const tokens = items.filter(({ spec }) => spec.kind === 'api' || spec.kind === 'join');
    if (tokens.length === 0) return unknown('There are no API or join tokens.', 'Nothing is to be done now.');
    const now = services.clock.now();
    const old = tokens.filter(
      ({ createdAt, spec }) => spec.expiresAt === undefined || now - createdAt > TOKEN_DAYS * DAY_MS,
    );
    if (old.length === 0)
      return holds(`${counted(tokens.length, 'token')}, each with an end and none older than ${TOKEN_DAYS} days.`);
    return fails(
      `${listed(old.map(({ uid }) => uid))} have no end or are older than ${TOKEN_DAYS} days.`,
      'An operator revokes these tokens and makes new ones (revoke_api_token, revoke_join_token).',
    );
  },
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

function holds(evidence: string): Fact {
  return { holds: true, evidence, remedy: '' };
}

function fails(evidence: string, remedy: string): Fact {
  return { holds: false, evidence, remedy };
}

function unknown(evidence: string, remedy: string): Fact {
  return { holds: undefined, evidence, remedy };
}
