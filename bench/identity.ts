import { ADMIN_PASSWORD, buildIdentityKit, LOOPBACK } from '../test/kits/plane/identity-kit.ts';
import { createApiToken } from '../tools/tokens/create-api-token.ts';

/** What a bearer token costs to verify, and whether a login tells that a user exists. Run: node bench/identity.ts */

const ROUNDS = 9;
const CALLS = 20_000;
const LOGINS = 5;

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

await using kit = await buildIdentityKit();
const workspace = await kit.workspace('bench');
const session = await kit.admin();
const { token } = await kit.call(createApiToken, { name: 'bench' }, { bearer: session, workspace });

async function microsecondsEach(bearer: string): Promise<number> {
  const startedAt = performance.now();
  for (let i = 0; i < CALLS; i += 1) await kit.gate.authenticate(bearer, LOOPBACK);
  return ((performance.now() - startedAt) * 1_000) / CALLS;
}

async function coldMicroseconds(make: () => Promise<string>): Promise<number> {
  const bearer = await make();
  const startedAt = performance.now();
  await kit.gate.authenticate(bearer, LOOPBACK);
  return (performance.now() - startedAt) * 1_000;
}

async function loginMilliseconds(username: string): Promise<number> {
  const startedAt = performance.now();
  for (let i = 0; i < LOGINS; i += 1) await kit.login(username, 'not the password').catch(() => {});
  kit.clock.time += 60_000;
  return (performance.now() - startedAt) / LOGINS;
}

await kit.login('admin', ADMIN_PASSWORD);
const figures: Record<string, number[]> = {};
for (let round = 0; round < ROUNDS; round += 1) {
  const measured = {
    'warm session, us': await microsecondsEach(session),
    'warm API token, us': await microsecondsEach(String(token)),
    'cold session, us': await coldMicroseconds(kit.admin),
    'wrong password, ms': await loginMilliseconds('admin'),
    'unknown user, ms': await loginMilliseconds('nobody'),
  };
  for (const [name, value] of Object.entries(measured)) figures[name] = [...(figures[name] ?? []), value];
}
for (const [name, values] of Object.entries(figures)) console.log(name.padEnd(22), median(values).toFixed(2));
