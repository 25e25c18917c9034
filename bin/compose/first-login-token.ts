import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FIRST_LOGIN_TOKEN_FILE, firstLoginToken, hasBuiltInPassword } from '../../core/identity/first-accounts.ts';
import type { Services } from '../../core/workflow/services.ts';

/** Keeps the file with the token of the first login while an account has the built-in password, and no longer. */
export async function keepFirstLoginToken(
  configDir: string,
  services: Pick<Services, 'store' | 'keys'>,
): Promise<() => Promise<void>> {
  const file = path.join(configDir, FIRST_LOGIN_TOKEN_FILE);
  const removeOnceSpent = async () => {
    // A store that does not answer ends no stop: the next start looks again.
    const isSpent = await hasBuiltInPassword(services).then(
      (isBuiltIn) => !isBuiltIn,
      () => false,
    );
    if (isSpent) rmSync(file, { force: true });
  };
  rmSync(file, { force: true });
  if (await hasBuiltInPassword(services)) {
    writeFileSync(file, `${firstLoginToken(services.keys).reveal()}\n`, { flag: 'wx', mode: 0o600 });
  }
  return removeOnceSpent;
}
