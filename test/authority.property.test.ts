import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AnyOperation } from '../core/base/operation.ts';
import { operations } from '../tools/index.ts';
import { buildScene, type Scene } from './authority-scene.ts';
import { runSequence } from './authority-sequence.ts';
import { makeRoot, makeStep, tryOperation } from './authority-steps.ts';

const STEPS = 100;
/** 1,000 steps each time, 100,000 in the long run. */
const SEQUENCES = process.env['MESH_LONG'] === '1' ? 1_000 : 10;
const MINUTE_MS = 60_000;

const step = fc.noShrink(fc.noBias(fc.nat(2 ** 31 - 1)));

/** Sequences of one length, of which shorter ones are tried when one fails. */
class Sequences extends fc.Arbitrary<number[]> {
  readonly #whole = fc.array(step, { minLength: STEPS, maxLength: STEPS });
  readonly #shorter = fc.array(step, { maxLength: STEPS, size: 'max' });

  override generate(random: fc.Random, bias: number | undefined): fc.Value<number[]> {
    return new fc.Value(this.#whole.generate(random, bias).value, undefined);
  }

  override canShrinkWithoutContext(value: unknown): value is number[] {
    return Array.isArray(value);
  }

  override shrink(value: number[], context: unknown): fc.Stream<fc.Value<number[]>> {
    return this.#shorter.shrink(value, context);
  }
}

test('no sequence of calls by a line of agents gets it further than people let it', {
  timeout: SEQUENCES * MINUTE_MS,
}, async () => {
  await fc.assert(
    fc.asyncProperty(step, new Sequences(), async (root, seeds) => {
      expect(await runSequence(root, seeds)).toBeUndefined();
    }),
    { numRuns: SEQUENCES },
  );
});

const CODE = 'takes a code of an authenticator, which no schema makes';
const REQUEST = 'needs a request of an OAuth client, which only /oauth/authorize makes: tools/oauth tests it';
const BROWSER = 'needs a key that the browser of a person keeps: core/identity/issuer-sign-in.test.ts tests it';
const COMMAND_LINE = 'needs a command line that waits: core/identity/command-line-sign-in.test.ts tests it';
const PASSKEY = 'takes an authenticator under a host name: core/identity/passkeys.test.ts tests it';
const DELIVERY = 'deliveries are made by a job, which a scene does not run';
/** Operations that do not take part, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  confirm_otp: CODE,
  disable_otp: CODE,
  renew_recovery_codes: CODE,
  reset_otp: 'needs somebody else who has enrolled, by a code',
  allow_client_request: REQUEST,
  allow_command_line: COMMAND_LINE,
  deny_client_request: REQUEST,
  get_client_request: REQUEST,
  end_client_grant: REQUEST,
  log_out_everywhere: 'ends the sessions of the scene: tools/users tests it',
  begin_issuer_sign_in: BROWSER,
  begin_command_line_sign_in: COMMAND_LINE,
  finish_command_line_sign_in: COMMAND_LINE,
  finish_issuer_sign_in: BROWSER,
  begin_passkey: PASSKEY,
  add_passkey: PASSKEY,
  remove_passkey: PASSKEY,
  create_passkey_challenge: PASSKEY,
  log_in_with_passkey: PASSKEY,
  get_webhook_delivery: DELIVERY,
  resend_webhook_delivery: DELIVERY,
  resend_dead_deliveries: DELIVERY,
  test_webhook: 'needs a webhook that no update has disabled: tools/webhooks tests it',
};
/** Scenes in which an operation is tried before it counts as one that never succeeds, and inputs in each. */
const SCENES = 24;
const ATTEMPTS = 60;

test('every operation takes part: what is made for it by its schema is accepted sooner or later', {
  timeout: SCENES * MINUTE_MS,
}, async () => {
  expect(Object.keys(LEFT_OUT).filter((left) => !operations.some(({ name }) => name === left))).toEqual([]);
  // What is deleted is not there for others.
  const ends = (name: string) => Number(name.startsWith('delete_') || name.startsWith('revoke_'));
  const inOrder = operations.toSorted((a, b) => ends(a.name) - ends(b.name));
  const taking = inOrder.filter(({ name }) => !Object.hasOwn(LEFT_OUT, name));
  const left = new Set(taking);
  for (let number = 1; left.size > 0 && number <= SCENES; number += 1) {
    await using scene = await buildScene();
    await makeRoot(scene, number);
    let seed = number * operations.length * ATTEMPTS * 2;
    // All of them in each scene: one makes what another one ends.
    for (const operation of taking) {
      if (await succeeds(scene, operation as AnyOperation<never>, seed)) left.delete(operation);
      seed += ATTEMPTS * 2;
    }
  }
  expect([...left].map(({ name }) => name)).toEqual([]);
});

async function succeeds(scene: Scene, operation: AnyOperation<never>, seed: number): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const done = await tryOperation(scene, operation, seed + 2 * attempt);
    if (done?.outcome === 'ok') return true;
    // Others go on meanwhile, so that there is something to approve, to apply and to end.
    await makeStep(scene, seed + 2 * attempt + 1, async () => {});
  }
  return false;
}
