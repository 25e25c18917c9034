import { randomBytes } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { newPassword, resetPassword } from '../../core/identity/reset-password.ts';
import { storeAt } from '../../storage/open.ts';
import { loadConfig } from './config.ts';
import { runsIn } from './doctor/running.ts';
import { askForReset } from './reset-requests.ts';
import { inStoppedInstallation } from './stopped-installation.ts';
import { storeUrl } from './store-url.ts';

const GENERATED_BYTES = 15;
const ANSWER_MS = 15_000;
const POLL_MS = 100;

/**
 * `meshd reset-password`: whoever has the files of the host, or the address of its database, gives an account a new initial
 * password. A meshd that runs in the directory does it itself; beside those elsewhere the store is opened here.
 *
 * @param password generated and shown once where it is undefined
 * @returns what it did, for people
 * @throws Error that says what to change
 */
export async function resetPasswordOnHost({
  configDir,
  username,
  password,
}: {
  readonly configDir: string;
  readonly username: string;
  readonly password: string | undefined;
}): Promise<string> {
  const config = loadConfig(process.env, configDir);
  const rules = config.app.signIn;
  const chosen = password ?? randomBytes(GENERATED_BYTES).toString('base64url');
  const reset = await newPassword(username, chosen, rules);
  if (runsIn(configDir, storeAt(storeUrl(config)).file?.path)) {
    const request = askForReset(configDir, reset);
    const deadline = performance.now() + ANSWER_MS;
    for (let answer = request.answer(); ; answer = request.answer()) {
      if (answer?.problem !== undefined) throw new Error(answer.problem);
      if (answer) break;
      if (performance.now() >= deadline) {
        request.withdraw();
        throw new Error(`The meshd that runs in ${configDir} does not answer: stop it, and run this again.`);
      }
      await after(POLL_MS);
    }
  } else {
    await inStoppedInstallation(configDir, config, (services) => resetPassword(services, reset, rules));
  }
  return [
    `The password of ${username} is reset. It is good for one thing: signing in to choose another (mesh login).`,
    'The sessions and API tokens of the account ended; its second factor stays. The audit log of the installation says so.',
    ...(password === undefined ? [`Initial password, shown this once: ${chosen}`] : []),
  ].join('\n');
}
