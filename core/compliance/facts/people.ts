import { SYSTEM_WORKSPACE } from '../../base/ids.ts';
import { roleOf } from '../../identity/members.ts';
import { counted, listed } from '../check-result.ts';
import { type FactContext, fails, holds, unknown } from './fact.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** PCI DSS v4.0.1: 8.2.8, 8.3.4, 8.3.6, 8.3.9. */
const REQUIRED = { idleMinutes: 15, lockAfter: 10, lockMinutes: 30, characters: 12, passwordDays: 90 } as const;

/** The facts about how the people of a workspace sign in. */
export const SIGN_IN_FACTS = {
  async 'second-factor'(context: FactContext) {
    const { people, without } = await signInAccounts(context);
    if (people === 0) return unknown('Nobody can sign in.', 'A platform administrator creates accounts.');
    const whom = `${counted(people, 'account')} of members and platform administrators`;
    if (without.length === 0) return holds(`Each of ${whom} has a second factor.`);
    return fails(
      `Of ${whom}, ${without.length} ${without.length === 1 ? 'signs' : 'sign'} in with a password alone: ${listed(without)}.`,
      'These people enrol a second factor (mesh otp enroll); app.signIn.secondFactor: administrators makes it a must for who administers.',
    );
  },
  async 'idle-sessions'({ services }: FactContext) {
    const { idleMs } = services.settings.signIn;
    const remedy = `The host administrator sets app.signIn.idleTimeout to ${REQUIRED.idleMinutes}m or less.`;
    if (idleMs === undefined) return fails('A session ends after a fixed time, whether or not it is used.', remedy);
    const evidence = `A session that is not used for ${minutes(idleMs)} ends.`;
    return idleMs <= REQUIRED.idleMinutes * MINUTE_MS ? holds(evidence) : fails(evidence, remedy);
  },
  async 'lock-out'({ services }: FactContext) {
    const { lockAfter, lockMs } = services.settings.signIn;
    const evidence = `${lockAfter} failed logins in a row lock an account for at least ${minutes(lockMs)} for the address that they came from; all addresses that are new to it share one try each 30 seconds.`;
    if (lockAfter <= REQUIRED.lockAfter && lockMs >= REQUIRED.lockMinutes * MINUTE_MS) return holds(evidence);
    return fails(
      evidence,
      `The host administrator sets app.signIn.lockAfter to ${REQUIRED.lockAfter} or less and app.signIn.lockFor to ${REQUIRED.lockMinutes}m or more.`,
    );
  },
  async 'password-length'({ services }: FactContext) {
    const { passwordLength } = services.settings.signIn;
    const evidence = `A password that somebody chooses has at least ${passwordLength} characters; ${REQUIRED.characters} are asked for.`;
    if (passwordLength >= REQUIRED.characters) return holds(evidence);
    return fails(evidence, `The host administrator sets app.signIn.passwordLength to ${REQUIRED.characters}.`);
  },
  async 'password-age'(context: FactContext) {
    const { passwordMaxAgeMs } = context.services.settings.signIn;
    if (passwordMaxAgeMs !== undefined && passwordMaxAgeMs <= REQUIRED.passwordDays * DAY_MS) {
      return holds(`A password is changed after ${counted(Math.floor(passwordMaxAgeMs / DAY_MS), 'day')}.`);
    }
    const { people, without } = await signInAccounts(context);
    if (people > 0 && without.length === 0) {
      return holds('Each member and platform administrator signs in with a second factor beside the password.');
    }
    return fails(
      `Passwords may be older than ${REQUIRED.passwordDays} days, and ${counted(without.length, 'account')} of members and platform administrators ${without.length === 1 ? 'has' : 'have'} no second factor.`,
      `The host administrator sets app.signIn.passwordMaxAge to ${REQUIRED.passwordDays}d, or these people enrol a second factor (mesh otp enroll).`,
    );
  },
} as const;

/**
 * Returns the members and platform administrators who may sign in and reach this workspace, and by name and id those who need
 * only a password. It never includes people of other tenants.
 */
async function signInAccounts({ services, workspace }: FactContext) {
  const { items } = await services.store.list(SYSTEM_WORKSPACE, 'Account');
  let people = 0;
  const without: string[] = [];
  for (const account of items) {
    const { name, uid, spec } = account;
    if (spec.disabled) continue;
    if (spec.role !== 'platform_admin' && !(await roleOf(services, workspace, account))) continue;
    people += 1;
    if (!spec.secondFactor) without.push(`${name} (${uid})`);
  }
  return { people, without };
}

function minutes(ms: number): string {
  return counted(Math.round(ms / MINUTE_MS), 'minute');
}
