import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { NetworkServices } from '../state/services.ts';
import type { AccountRecord } from './accounts.ts';

/** The part of an account that tells whose it is. */
export interface PersonalAccount extends Pick<AccountRecord, 'uid' | 'name'> {
  readonly spec: Pick<AccountRecord['spec'], 'issued'>;
}

/** The accounts of one person, and all addresses that these ever had. */
interface Person {
  readonly accounts: Set<string>;
  readonly addresses: Set<string>;
}

/**
 * Returns the ids of the accounts of each person, by the id of each account. Accounts that ever had the same verified address
 * are of one person, and so are those that a third one joins. A user name that is an address counts as one, which only ever
 * makes two accounts the same person.
 */
export function accountsByPerson(accounts: Iterable<PersonalAccount>): ReadonlyMap<string, ReadonlySet<string>> {
  const byAddress = new Map<string, Person>();
  const byAccount = new Map<string, Person>();
  for (const account of accounts) {
    const addresses = addressesOf(account);
    const person: Person = { accounts: new Set([account.uid]), addresses: new Set(addresses) };
    for (const known of new Set(addresses.map((address) => byAddress.get(address)))) {
      for (const uid of known?.accounts ?? []) person.accounts.add(uid);
      for (const address of known?.addresses ?? []) person.addresses.add(address);
    }
    for (const uid of person.accounts) byAccount.set(uid, person);
    for (const address of person.addresses) byAddress.set(address, person);
  }
  return new Map([...byAccount].map(([uid, person]) => [uid, person.accounts]));
}

/** Returns the ids of all accounts of the person who has one of them. */
export async function accountsOfPerson(
  { store }: Pick<NetworkServices, 'store'>,
  uid: string,
): Promise<ReadonlySet<string>> {
  const { items } = await store.list(SYSTEM_WORKSPACE, 'Account');
  return accountsByPerson(items).get(uid) ?? new Set([uid]);
}

function addressesOf({ name, spec: { issued } }: PersonalAccount): readonly string[] {
  if (issued) return [issued.address, ...(issued.formerAddresses ?? [])];
  return name.includes('@') ? [name] : [];
}
