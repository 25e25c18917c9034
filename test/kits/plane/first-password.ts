import { SYSTEM_WORKSPACE } from '../../../core/base/ids.ts';
import { draftOf } from '../../../core/base/record.ts';
import { findAccount } from '../../../core/identity/accounts.ts';
import { hashPassword } from '../../../core/identity/passwords.ts';
import type { NetworkServices } from '../../../core/state/services.ts';

/** Hashes of the passwords that tests choose: each is made once in a process. */
const hashes = new Map<string, Promise<string>>();

/** Gives a person a password of their own, where they still have an initial one. */
export async function chooseFirstPassword(
  { store }: Pick<NetworkServices, 'store'>,
  password: string,
  username = 'admin',
): Promise<void> {
  const account = await findAccount({ store }, username);
  if (account?.spec.passwordState !== 'initial') return;
  const hash = hashes.get(password) ?? hashPassword(password);
  hashes.set(password, hash);
  const spec = { ...account.spec, passwordHash: await hash, passwordState: 'own' } as const;
  await store.commit(
    SYSTEM_WORKSPACE,
    [{ op: 'update', record: { ...draftOf(account), spec }, revision: account.revision }],
    { actor: 'system:test', reason: 'chose a password', requestId: 'r_test' },
  );
}
