import type { Command } from 'commander';
import { renderUnicodeCompact } from 'uqr';
import { z } from 'zod';
import { type Answer, answering, notice } from './answer.ts';
import { callApi, requireSession } from './api.ts';
import { CliError, EXIT } from './exit.ts';
import { faultsIn } from './field-names.ts';
import { readSecrets, type SecretReader } from './read-secrets.ts';
import { type Target, targetOf } from './session.ts';

const PATH = '/api/v1/users/me/otp';
/** How often a person at a terminal may type a code before the command ends; a script says it once. */
const TRIES = 3;

const begun = z.object({ uri: z.string(), secret: z.string() });
const codes = z.object({ recoveryCodes: z.array(z.string()) });
const state = z.object({
  enrolled: z.boolean(),
  recoveryCodesLeft: z.number(),
  required: z.boolean(),
  passkeys: z.array(z.unknown()),
});

/** `mesh otp`: the second factor of the signed-in account. */
export function defineOtp(otp: Command): void {
  answering(
    otp.command('enroll').description('enrol an authenticator app: shows a QR code and asks for a code'),
    enrol,
  );
  answering(otp.command('status').description('show whether there is a second factor'), status);
  answering(
    otp.command('disable').description('take the second factor away; asks for the password and a code'),
    disable,
  );
  answering(
    otp.command('recovery-codes').description('make new recovery codes; asks for the password and a code'),
    renew,
  );
}

async function enrol(): Promise<Answer> {
  const target = signedIn();
  using secrets = readSecrets();
  const password = await ask(secrets, 'Password: ');
  const { enrolled, passkeys } = state.parse(await callApi(target, { method: 'get', path: PATH }));
  const asksForCode = !enrolled && passkeys.length > 0;
  const body = { password, ...(asksForCode && { otp: await ask(secrets, 'Recovery code: ') }) };
  const { uri, secret } = begun.parse(await callApi(target, { method: 'post', path: PATH, body }));
  notice([
    ...renderUnicodeCompact(uri).split('\n'),
    `Scan this with an authenticator app, or type the secret into it: ${secret}`,
  ]);
  const tries = secrets.isTerminal ? TRIES : 1;
  let said = '';
  for (let left = tries; left > 0; left -= 1) {
    if (said !== '') notice(`${said} ${left === 1 ? 'Once more.' : 'Try again.'}`);
    const code = await ask(secrets, 'Code that the app shows: ', secrets.isTerminal);
    if (code === '') {
      said = 'The code has six digits.';
      continue;
    }
    try {
      const answer = await callApi(target, { method: 'post', path: `${PATH}/confirm`, body: { code } });
      return shown('The second factor is enrolled.', answer);
    } catch (error) {
      if (!(error instanceof CliError) || error.code !== 'invalid_input') throw error;
      said =
        faultsIn(error)
          .map(({ detail }) => detail)
          .join(' ') || error.message;
    }
  }
  throw new CliError(`${said} Nothing was enrolled. To begin again, with another secret: mesh otp enroll`, EXIT.input);
}

async function status(): Promise<Answer> {
  const answer = await callApi(signedIn(), { method: 'get', path: PATH });
  const { enrolled, recoveryCodesLeft, required, passkeys } = state.parse(answer);
  if (enrolled || passkeys.length > 0) {
    const factors = [...(enrolled ? ['an authenticator app'] : []), ...(passkeys.length > 0 ? ['passkeys'] : [])];
    const text = `There is a second factor (${factors.join(' and ')}); ${recoveryCodesLeft} recovery codes are left.`;
    return { value: answer, text };
  }
  const text = required ? 'There is no second factor, and one is required.' : 'There is no second factor.';
  return { value: answer, text, hints: ['Enrol one: mesh otp enroll'] };
}

async function disable(): Promise<Answer> {
  const value = await callApi(signedIn(), { method: 'post', path: `${PATH}/disable`, body: await proof() });
  return { value, text: 'The authenticator app is taken away: without a passkey the password alone signs in.' };
}

async function renew(): Promise<Answer> {
  const answer = await callApi(signedIn(), { method: 'post', path: `${PATH}/recovery-codes`, body: await proof() });
  return shown('Those there were are good no more.', answer);
}

async function proof() {
  using secrets = readSecrets();
  const password = await ask(secrets, 'Password: ');
  return { password, otp: await ask(secrets, 'Code, or a recovery code: ') };
}

function signedIn(): Target {
  const target = targetOf({});
  requireSession(target);
  return target;
}

/** A line for each question, where no terminal is there. */
async function ask(secrets: SecretReader, question: string, mayBeEmpty = false): Promise<string> {
  const answer = await secrets.ask(question);
  if (answer === undefined || (answer === '' && !mayBeEmpty))
    throw new CliError('No password or no code: send both on standard input, one a line.', EXIT.input);
  return answer;
}

function shown(what: string, answer: unknown): Answer {
  const { recoveryCodes } = codes.parse(answer);
  if (recoveryCodes.length === 0)
    return { value: answer, text: `${what} The recovery codes that there are stay good.` };
  const head = `${what} Recovery codes, each good once and shown this once: keep them apart from the app.`;
  return { value: answer, text: [head, '', ...recoveryCodes] };
}
