import { hasEnded } from '../../base/time.ts';
import { isSpent, isWorkloadRule, type TokenRecord } from '../../model/token-record.ts';
import { counted, listed } from '../check-result.ts';
import { type FactReader, fails, holds, unknown } from './fact.ts';

const DAY_MS = 86_400_000;
/** Tokens are to be renewed within so long. */
const TOKEN_DAYS = 365;

/** Join and API tokens with which somebody can still sign in: each has an end, and none is too old. A rule for workloads is no secret. */
export const tokenAges: FactReader = async ({ services, workspace }) => {
  const { items } = await services.store.list(workspace, 'Token');
  const now = services.clock.now();
  const isSecret = (token: TokenRecord) => token.spec.kind === 'join' && !isWorkloadRule(token);
  const tokens = items.filter((token) => token.spec.kind === 'api' || isSecret(token));
  const live = tokens.filter(({ spec }) => !isSpent(spec) && !hasEnded(spec, now));
  if (live.length === 0) return unknown('There are no API or join tokens in use.', 'Nothing is to be done now.');
  const old = live.filter(
    ({ createdAt, spec }) => spec.expiresAt === undefined || now - createdAt > TOKEN_DAYS * DAY_MS,
  );
  if (old.length === 0) {
    return holds(`${counted(live.length, 'token')} in use, each with an end and none older than ${TOKEN_DAYS} days.`);
  }
  return fails(
    `${listed(old.map(({ uid, spec }) => `${spec.name} (${uid})`))} have no end or are older than ${TOKEN_DAYS} days.`,
    'Their owners revoke these tokens and make new ones (mesh compliance inventory lists all with their ages).',
  );
};
