import type { CommitContext } from '../base/ports.ts';
import { lineOfText, TEXT_LIMITS } from '../base/text.ts';
import { type IssuedIdentity, type IssuerRules, verifiedAddress } from '../model/issuers.ts';
import type { NetworkServices, PeerServices } from '../state/services.ts';
import type { AccountRecord } from './accounts.ts';
import { entryOf, keepMemberships, linkAccount, withGroups } from './directory.ts';
import { issuedAccount, keepIssuedAccount, MAX_ADDRESSES, withAddress } from './issuer-accounts.ts';
import { grantedRoles, keepIssuedMemberships } from './issuer-grants.ts';

export type Admission = { readonly account: AccountRecord } | IssuerRefusal;

export interface IssuerRefusal {
  readonly reason: 'address not verified' | 'too many addresses' | 'not in the directory' | 'no grant' | 'disabled';
  readonly message: string;
  /** User name, where the person has an account. */
  readonly name?: string | undefined;
}

/**
 * Decides whether a person for whom an issuer vouches is let in, makes the account of whoever comes for the first time, and
 * gives and ends memberships as the claims say. What claims gave somebody who is not let in any more has ended then.
 */
export async function admitIdentity(
  services: PeerServices & Pick<NetworkServices, 'log'>,
  rules: IssuerRules,
  { subject, claims: told }: IssuedIdentity,
  why: CommitContext,
): Promise<Admission> {
  const { issuer, title } = rules;
  const known = await issuedAccount(services, { issuer, subject });
  const name = known?.name;
  const address = verifiedAddress(told);
  if (address === undefined) {
    const message = `${title} has not verified the address of your account: verify it there, then sign in again.`;
    return { reason: 'address not verified', message, name };
  }
  const entry = await entryOf(services, rules, { subject, claims: told }, known);
  if (rules.directory && !entry?.spec.active) {
    if (known) await keepIssuedMemberships(services, known, rules, {}, why);
    return leftDirectory(rules, name);
  }
  const isBack = known?.spec.disabledBy === 'directory' && !known.spec.leaving;
  if ((known?.spec.disabled && !isBack) || known?.spec.leaving) {
    return { reason: 'disabled', message: 'Your account is disabled: ask an administrator.', name };
  }
  const claims = entry ? await withGroups(services, entry, told) : told;
  if (rules.admits === 'granted' && grantedRoles(rules, claims).size === 0) {
    if (known) await keepIssuedMemberships(services, known, rules, claims, why);
    const message = `Your account at ${title} has no group or claim that is let in here: ask an administrator.`;
    return { reason: 'no grant', message, name };
  }
  if (known?.spec.issued && !withAddress(known.spec.issued, address)) {
    const message = `Your account had ${MAX_ADDRESSES} addresses already: go back to one of them at ${title}, or ask an administrator to delete it.`;
    return { reason: 'too many addresses', message, name };
  }
  const displayName = lineOfText(TEXT_LIMITS.title).safeParse(told['name']).data ?? '';
  const account = await keepIssuedAccount(services, { issuer, subject, address }, displayName, why);
  if (!entry) {
    await keepIssuedMemberships(services, account, rules, claims, why);
    return { account };
  }
  // The directory may say meanwhile that the person has left.
  const linked = await linkAccount(services, rules, entry, account, why);
  if (!linked) return leftDirectory(rules, account.name);
  await keepMemberships(services, rules, { account: linked, user: entry, told }, why);
  return { account: linked };
}

function leftDirectory({ title }: IssuerRules, name: string | undefined): IssuerRefusal {
  const message = `${title} does not tell this control plane of your account, or says that you have left: ask an administrator.`;
  return { reason: 'not in the directory', message, name };
}
