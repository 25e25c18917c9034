import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import { FIRST_LOGIN_TOKEN_FILE, firstLoginToken, hasBuiltInPassword } from '../../core/identity/first-accounts.ts';
import type { Services } from '../../core/workflow/services.ts';

/**
 * Keeps the file with the token of the first login while an account has the built-in password, and no longer.
 *
 * @returns a function that ends this, and removes the file where it is spent
 */
export async function maintainFirstLoginToken(
  configDir: string,
  services: Pick<Services, 'store' | 'keys' | 'log'>,
): Promise<() => Promise<void>> {
  const file = path.join(configDir, FIRST_LOGIN_TOKEN_FILE);
  const removeOnceSpent = async () => {
    // While the store does not answer the file stays: the stop or the next start looks again.
    const isSpent = await hasBuiltInPassword(services).then(
      (isBuiltIn) => !isBuiltIn,
      () => false,
    );
    if (isSpent) rmSync(file, { force: true });
  };
  rmSync(file, { force: true });
  if (!(await hasBuiltInPassword(services))) return async () => {};
  writeFileSync(file, `${firstLoginToken(services.keys).reveal()}\n`, { flag: 'wx', mode: 0o600 });
  const unsubscribe = services.store.onCommit(({ workspace, changes }) => {
    if (workspace !== SYSTEM_WORKSPACE || !changes.some(({ record }) => record.kind === 'Account')) return;
    removeOnceSpent().catch((err) =>
      services.log.warn({ err, file }, 'the token of the first login is spent: remove it'),
    );
  });
  return async () => {
    unsubscribe();
    await removeOnceSpent();
  };
}
